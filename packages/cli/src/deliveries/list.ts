import { DeliverySchema } from "@svc/gen/triggers";
import type { Delivery } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";

type ListOptions = ProjectOptions & JsonOption & { event?: string; subscription?: string; limit: number };

/** Adds `svc deliveries list`. */
export function addDeliveryList(deliveries: Command, context: CommandContext): void {
  const list = deliveries
    .command("list", { isDefault: true })
    .description("list the deliveries of an event, of a subscription, or of one to the other, newest first")
    .option("--event <id>", "event that was delivered, evt_…")
    .option("--subscription <id>", "subscription it was delivered to, sub_…")
    .option("--limit <count>", "most deliveries to list", parseCount, 100)
    .action((options: ListOptions) => listDeliveries(options, context));
  addExamples(addProjectOptions(addJson(list, "the deliveries as a JSON list")), [
    "svc deliveries list --event evt_01h455vb4pex5vsknk084sn02q",
    "svc deliveries list --subscription sub_01h455vb4pex5vsknk084sn02q --limit 20",
  ]);
}

async function listDeliveries(options: ListOptions, context: CommandContext): Promise<void> {
  const { limit, event: eventId = "", subscription: subscriptionId = "" } = options;
  if (eventId === "" && subscriptionId === "") {
    throw new CommandError("nothing says which deliveries: give --event, --subscription or both", 2);
  }
  const { triggers } = await openProjectClient(options, context);
  const found = await collectPages(async (pageToken) => {
    const request = { eventId, subscriptionId, pageSize: Math.min(limit, 500), pageToken };
    const { deliveries: items, nextPageToken } = await triggers.listDeliveries(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(DeliverySchema, found));
  for (const line of deliveryTable(found)) context.print(line);
}

/** Deliveries as a table. */
export function deliveryTable(deliveries: readonly Delivery[]): string[] {
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.subscriptionId,
    delivery.state,
    String(delivery.attempts),
    timeText(delivery.lastAttemptAt),
    delivery.lastError || "-",
  ]);
  return tableLines(["ID", "SUBSCRIPTION", "STATE", "ATTEMPTS", "LAST ATTEMPT", "LAST ERROR"], rows);
}
