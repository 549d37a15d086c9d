import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { DeliverySchema } from "@svc/gen/triggers";
import type { Delivery } from "@svc/sdk";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount, parseMoment } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";
import { waitText } from "./show.ts";

type ListOptions = ProjectOptions &
  JsonOption & {
    event?: string;
    subscription?: string;
    state?: string;
    failed?: boolean;
    since?: number;
    until?: number;
    limit: number;
  };

/** Adds `svc deliveries list`. */
export function addDeliveryList(deliveries: Command, context: CommandContext): void {
  const list = deliveries
    .command("list", { isDefault: true })
    .description("list the deliveries of an event, of a subscription, or those in a state, newest first")
    .option("--event <id>", "event that was delivered, evt_…")
    .option("--subscription <id>", "subscription it was delivered to, sub_…")
    .addOption(
      new Option("--state <state>", "only deliveries in this state").choices(["pending", "delivered", "dead_letter"]),
    )
    .option("--failed", "only deliveries that were tried and have not arrived")
    .option("--since <when>", "only deliveries queued then or later: 2h ago, or 2026-03-14T09:00:00Z", parseMoment)
    .option("--until <when>", "only deliveries queued before", parseMoment)
    .option("--limit <count>", "most deliveries to list", parseCount, 100)
    .action((options: ListOptions) => listDeliveries(options, context));
  addExamples(addProjectOptions(addJson(list, "the deliveries as a JSON list")), [
    "svc deliveries list --event evt_01h455vb4pex5vsknk084sn02q",
    "svc deliveries list --state dead_letter --since 24h",
    "svc deliveries list --failed --since 24h",
    "svc deliveries list --subscription sub_01h455vb4pex5vsknk084sn02q --limit 20",
  ]);
}

async function listDeliveries(options: ListOptions, context: CommandContext): Promise<void> {
  const { limit, event: eventId = "", subscription: subscriptionId = "", since, until } = options;
  const { state = "", failed: onlyFailed = false } = options;
  if (eventId === "" && subscriptionId === "" && ((state === "" && !onlyFailed) || since === undefined)) {
    throw new CommandError(
      "nothing says which deliveries: give --event, --subscription or both, or --since with --state or --failed",
      2,
    );
  }
  const range = {
    ...(since !== undefined && { since: timestampFromMs(since) }),
    ...(until !== undefined && { until: timestampFromMs(until) }),
  };
  const { triggers } = await openProjectClient(options, context);
  const found = await collectPages(async (pageToken) => {
    const request = { eventId, subscriptionId, state, onlyFailed, ...range, pageSize: Math.min(limit, 500), pageToken };
    const { deliveries: items, nextPageToken } = await triggers.listDeliveries(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(DeliverySchema, found));
  for (const line of deliveryTable(found)) context.print(line);
}

/** Deliveries as a table; if some wait, with what they wait for and until when. */
export function deliveryTable(deliveries: readonly Delivery[]): string[] {
  const hasWaiting = deliveries.some(({ waitingReason }) => waitingReason !== "");
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.subscriptionId,
    delivery.state,
    String(delivery.attempts),
    timeText(delivery.lastAttemptAt),
    delivery.lastError || "-",
    ...(hasWaiting ? [timeText(delivery.nextAttemptAt), waitText(delivery.waitingReason) || "-"] : []),
  ]);
  const columns = ["ID", "SUBSCRIPTION", "STATE", "ATTEMPTS", "LAST ATTEMPT", "LAST ERROR"];
  return tableLines([...columns, ...(hasWaiting ? ["NEXT ATTEMPT", "WAITS FOR"] : [])], rows);
}
