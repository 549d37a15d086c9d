import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type EventDeliveries, EventSchema } from "@svc/gen/triggers";
import { Code, ConnectError, type SvcClient } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { ownProjectId } from "../client/own-project.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount, parseMoment } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";

type ListOptions = ProjectOptions &
  JsonOption & {
    limit: number;
    toolkit?: string;
    trigger?: string;
    since?: number;
    until?: number;
    entity?: string;
    text?: string;
  };

/** Adds `svc events list`. */
export function addEventList(events: Command, context: CommandContext): void {
  const list = events
    .command("list", { isDefault: true })
    .description("list the project's latest events, newest first")
    .option("--limit <count>", "most events to list", parseCount, 20)
    .option("--toolkit <slug>", "only events of this toolkit")
    .option("--trigger <slug>", "only events of this trigger, such as calendar.events_changed")
    .option("--entity <id>", "only events of this entity's account")
    .option("--text <text>", "only events whose payload has this text")
    .option("--since <when>", "only events received then or later: 2h ago, or 2026-03-14T09:00:00Z", parseMoment)
    .option("--until <when>", "only events received before", parseMoment)
    .action((options: ListOptions) => listEvents(options, context));
  addExamples(addProjectOptions(addJson(list, "the events with their payloads as a JSON list")), [
    "svc events list",
    "svc events list --trigger calendar.events_changed --since 2h",
  ]);
}

async function listEvents(options: ListOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const { triggers } = client;
  const { limit, toolkit: toolkitSlug = "", trigger: triggerSlug = "", since, until } = options;
  const { entity: entityId = "", text: payloadContains = "" } = options;
  const range = {
    ...(since !== undefined && { since: timestampFromMs(since) }),
    ...(until !== undefined && { until: timestampFromMs(until) }),
  };
  const found = await collectPages(async (pageToken) => {
    const request = {
      toolkitSlug,
      triggerSlug,
      entityId,
      payloadContains,
      withDeliveries: true,
      ...range,
      pageSize: Math.min(limit, 500),
      pageToken,
    };
    const { events: items, nextPageToken } = await triggers.listEvents(request);
    return { items, nextPageToken };
  }, limit);
  if (found.length === 0 && toolkitSlug !== "") await noteUnknown(client, toolkitSlug, context);
  if (options.json) return context.print(messageListText(EventSchema, found));
  const rows = found.map((event) => [
    timeText(event.receivedAt),
    event.id,
    event.triggerSlug,
    event.entityId || "-",
    deliveriesText(event.deliveries),
  ]);
  for (const line of tableLines(["RECEIVED", "ID", "TRIGGER", "ENTITY", "DELIVERIES"], rows)) context.print(line);
}

/**
 * How many deliveries of an event are in which state, those that need somebody first, `+` where it has more than were counted; `-` for an
 * event that goes to nobody.
 */
function deliveriesText(of: EventDeliveries | undefined): string {
  const counts = { dead_letter: of?.deadLetter, pending: of?.pending, delivered: of?.delivered };
  const words = Object.entries(counts).flatMap(([state, count]) =>
    count ? [`${count}${of?.more ? "+" : ""} ${state}`] : [],
  );
  return words.join(", ") || "-";
}

/** A misspelt toolkit looks like one that sends nothing. */
async function noteUnknown(client: SvcClient, slug: string, context: CommandContext): Promise<void> {
  try {
    await client.catalog.getToolkit({ slug, projectId: await ownProjectId(client) });
  } catch (err) {
    if (!(err instanceof ConnectError) || err.code !== Code.NotFound) throw err;
    context.note(`The project sees no toolkit ${slug}; \`svc catalog list\` shows those there are.`);
  }
}
