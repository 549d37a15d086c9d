import type { Command } from "commander";
import { addProjectOptions, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { tryNow } from "../subscriptions/try.ts";

/** Adds `svc deliveries try`. */
export function addDeliveryTry(deliveries: Command, context: CommandContext): void {
  const command = deliveries
    .command("try")
    .description("send one pending delivery now, in place of waiting for its next attempt")
    .argument("<id>", "id of the delivery, dlv_…; of an ask endpoint's too")
    .action((deliveryId: string, options: ProjectOptions & JsonOption) => tryNow({ deliveryId }, options, context));
  addExamples(addProjectOptions(addJson(command, "the answer as JSON")), [
    "svc deliveries try dlv_01h455vb4pex5vsknk084sn02q",
    "svc subscriptions try sub_01h455vb4pex5vsknk084sn02q   # all that waits for an endpoint",
  ]);
}
