import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addDeliveryAttempts } from "./deliveries/attempts.ts";
import { addDeliveryList } from "./deliveries/list.ts";
import { addDeliveryShow } from "./deliveries/show.ts";
import { addDeliveryTry } from "./deliveries/try.ts";

/** Adds `svc deliveries list|show|attempts|try`. */
export function addDeliveriesCommand(program: Command, context: CommandContext): void {
  const deliveries = program
    .command("deliveries")
    .description("list the deliveries of an event, of a subscription, or of one to the other, and their attempts");
  addExamples(deliveries, [
    "svc deliveries --event evt_01h455vb4pex5vsknk084sn02q",
    "svc deliveries attempts dlv_01h455vb4pex5vsknk084sn02q",
  ]);
  addDeliveryList(deliveries, context);
  addDeliveryShow(deliveries, context);
  addDeliveryAttempts(deliveries, context);
  addDeliveryTry(deliveries, context);
}
