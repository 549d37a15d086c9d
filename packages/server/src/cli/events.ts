import { DeliverySchema, EventSchema } from "@svc/gen/triggers";
import type { Delivery } from "@svc/sdk";
import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "./command-context.ts";
import { addProjectOptions, connectProject, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { jsonListText, tableLines, timeText } from "./output.ts";
import { collectPages } from "./pages.ts";

type EventsOptions = ProjectOptions & { limit: number; toolkit?: string; trigger?: string; json?: true };
type DeliveriesOptions = ProjectOptions & { event?: string; subscription?: string; limit: number; json?: true };

/** Adds `svc events`, `svc deliveries` and `svc replay`. */
export function addEventCommands(program: Command, context: CommandContext): void {
  addEvents(program, context);
  addDeliveries(program, context);
  addReplay(program, context);
}

function addEvents(program: Command, context: CommandContext): void {
  const events = program
    .command("events")
    .description("list the project's latest events, newest first")
    .option("--limit <count>", "most events to list", parseCount, 20)
    .option("--toolkit <slug>", "only events of this toolkit")
    .option("--trigger <slug>", "only events of this trigger, such as calendar.events_changed")
    .option("--json", "print the events with their payloads as a JSON list")
    .action(async (options: EventsOptions) => {
      const { triggers } = await connectProject(options, context);
      const { limit, toolkit: toolkitSlug = "", trigger: triggerSlug = "" } = options;
      const found = await collectPages(async (pageToken) => {
        const request = { toolkitSlug, triggerSlug, pageSize: Math.min(limit, 500), pageToken };
        const { events: items, nextPageToken } = await triggers.listEvents(request);
        return { items, nextPageToken };
      }, limit);
      if (options.json) return context.print(jsonListText(EventSchema, found));
      const rows = found.map((event) => [
        timeText(event.receivedAt),
        event.id,
        event.triggerSlug,
        event.entityId || "-",
      ]);
      for (const line of tableLines(["RECEIVED", "ID", "TRIGGER", "ENTITY"], rows)) context.print(line);
    });
  addExamples(addProjectOptions(events), ["svc events", "svc events --trigger calendar.events_changed --limit 100"]);
}

function addDeliveries(program: Command, context: CommandContext): void {
  const deliveries = program
    .command("deliveries")
    .description("list the deliveries of an event, of a subscription, or of one to the other, newest first")
    .option("--event <id>", "event that was delivered, evt_…")
    .option("--subscription <id>", "subscription it was delivered to, sub_…")
    .option("--limit <count>", "most deliveries to list", parseCount, 100)
    .option("--json", "print the deliveries as a JSON list")
    .action(async (options: DeliveriesOptions) => {
      const { triggers } = await connectProject(options, context);
      const { limit, event: eventId = "", subscription: subscriptionId = "" } = options;
      const found = await collectPages(async (pageToken) => {
        const request = { eventId, subscriptionId, pageSize: Math.min(limit, 500), pageToken };
        const { deliveries: items, nextPageToken } = await triggers.listDeliveries(request);
        return { items, nextPageToken };
      }, limit);
      if (options.json) context.print(jsonListText(DeliverySchema, found));
      else printDeliveries(found, context);
    });
  addExamples(addProjectOptions(deliveries), [
    "svc deliveries --event evt_01h455vb4pex5vsknk084sn02q",
    "svc deliveries --subscription sub_01h455vb4pex5vsknk084sn02q --limit 20",
  ]);
}

function addReplay(program: Command, context: CommandContext): void {
  const replay = program
    .command("replay")
    .description("deliver an event again, to the active subscriptions that match it now")
    .argument("<event>", "id of the event, evt_…")
    .action(async (eventId: string, options: ProjectOptions) => {
      const { triggers } = await connectProject(options, context);
      const { deliveries } = await triggers.replayEvent({ eventId });
      printDeliveries(deliveries, context);
      if (deliveries.length === 0) context.note("No active subscription matches the event: nothing is queued.");
    });
  addExamples(addProjectOptions(replay), ["svc replay evt_01h455vb4pex5vsknk084sn02q"]);
}

function printDeliveries(deliveries: readonly Delivery[], context: CommandContext): void {
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.subscriptionId,
    delivery.state,
    String(delivery.attempts),
    timeText(delivery.lastAttemptAt),
    delivery.lastError || "-",
  ]);
  const header = ["ID", "SUBSCRIPTION", "STATE", "ATTEMPTS", "LAST ATTEMPT", "LAST ERROR"];
  for (const line of tableLines(header, rows)) context.print(line);
}

function parseCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1) return count;
  throw new InvalidArgumentError("expected a whole number from 1 to 999999");
}
