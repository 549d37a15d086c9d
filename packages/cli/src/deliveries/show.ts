import { DeliverySchema } from "@svc/gen/triggers";
import type { Delivery } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { factLines, timeText } from "../text/table.ts";

/** Adds `svc deliveries show`. */
export function addDeliveryShow(deliveries: Command, context: CommandContext): void {
  const show = deliveries
    .command("show")
    .description("show one delivery: what it delivers to whom, how it stands, when it is tried next")
    .argument("<id>", "id of the delivery, dlv_…; of an ask endpoint's too")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { triggers } = await openProjectClient(options, context);
      const { delivery } = await triggers.getDelivery({ id });
      if (delivery === undefined) return;
      if (options.json) return context.print(messageText(DeliverySchema, delivery));
      for (const line of factLines(factsOf(delivery))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(show, "the delivery as JSON")), [
    "svc deliveries show dlv_01h455vb4pex5vsknk084sn02q",
  ]);
}

/** What a pending delivery waits for, in words; empty for none. */
export function waitText(reason: string): string {
  return waits[reason] ?? reason;
}

const waits: Readonly<Record<string, string>> = {
  retry: "its next attempt",
  endpoint_failing: "its endpoint, which fails",
  turn: "its turn",
  restored: "the store to be resumed (svc resume): it was restored from a backup",
  inactive: "nothing: its subscription is inactive",
};

function factsOf(delivery: Delivery): readonly (readonly [string, string])[] {
  const { nextAttemptAt } = delivery;
  return [
    ["id", delivery.id],
    ["event", delivery.eventId],
    ["subscription", delivery.subscriptionId],
    ["state", delivery.state],
    ["attempts", String(delivery.attempts)],
    ["last attempt", timeText(delivery.lastAttemptAt)],
    ["last error", delivery.lastError],
    ["next attempt", nextAttemptAt === undefined ? "" : timeText(nextAttemptAt)],
    ["waits for", waitText(delivery.waitingReason)],
    ["queued", `${timeText(delivery.createdAt)}${delivery.replayed ? " by a replay" : ""}`],
  ];
}
