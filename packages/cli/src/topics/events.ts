import { type EventDeliveries, TriggersService } from "@svc/gen/triggers";
import { Code, ConnectError } from "@svc/sdk";
import { ownProjectId } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { addEventPoll } from "../custom/poll-events.ts";
import { addEventReplay } from "../custom/replays/replay.ts";
import { indentJson } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { factLines, timeText } from "../text/table.ts";

const { listEvents, getEvent } = TriggersService.method;
const exampleId = "evt_01h455vb4pex5vsknk084sn02q";

/** The commands `svc events list|show|poll|replay`, for the project's events and for delivering past events again. */
export const addEventsCommand = topic({
  says: "list, show and poll the project's events, and deliver past events again",
  examples: ["svc events", "svc events --trigger calendar.events_changed --limit 100"],
  commands: {
    list: list(listEvents, {
      says: "list the project's latest events, newest first",
      isDefault: true,
      shown: "svc events",
      options: [
        ["--limit <count>", "largest number of events to list", { parse: parseCount, default: 20 }],
        ["--toolkit <slug>", "only events of this toolkit", { fills: "toolkitSlug" }],
        ["--trigger <slug>", "only events of this trigger, such as calendar.events_changed", { fills: "triggerSlug" }],
        ["--entity <id>", "only events of this entity", { fills: "entityId" }],
        ["--text <text>", "only events whose payload contains this text", { fills: "payloadContains" }],
        ["--since <when>", "only events received at or after this time: 2h for two hours ago, or 2026-03-14T09:00:00Z"],
        ["--until <when>", "only events received before this time"],
      ],
      request: () => ({ withDeliveries: true }),
      rows: "events",
      table: {
        RECEIVED: "receivedAt",
        ID: "id",
        TRIGGER: ({ triggerSlug }) => triggerSlug,
        ENTITY: ({ entityId }) => entityId || "-",
        DELIVERIES: ({ deliveries }) => deliveriesText(deliveries),
      },
      remark: noteUnknownToolkit,
      json: "the events with their payloads as a JSON list",
      examples: ["svc events list", "svc events list --trigger calendar.events_changed --since 2h"],
    }),
    show: call(getEvent, {
      says: "show one event with its normalized payload",
      takes: { "<id>": "id of the event, evt_…" },
      result: "event",
      json: "the event as JSON",
      shows: ({ event }) =>
        event === undefined
          ? []
          : [
              ...factLines([
                ["event", event.id],
                ["trigger", event.triggerSlug || "none: a test event"],
                ["entity", plainText(event.entityId)],
                ["received", timeText(event.receivedAt)],
                ["occurred", timeText(event.occurredAt)],
              ]),
              "\nPayload:",
              indentJson(event.payloadJson),
            ],
      examples: [`svc events show ${exampleId}`, `svc events show ${exampleId} --json | jq -r .payloadJson`],
    }),
    poll: addEventPoll,
    replay: addEventReplay,
  },
});

/**
 * Returns how many deliveries of an event are in each state. States that need attention come first. A number ends with `+` if more
 * deliveries were not counted. Returns `-` if the event has no deliveries.
 */
function deliveriesText(of: EventDeliveries | undefined): string {
  const counts = { dead_letter: of?.deadLetter, pending: of?.pending, delivered: of?.delivered };
  const words = Object.entries(counts).flatMap(([state, count]) =>
    count ? [`${count}${of?.more ? "+" : ""} ${state}`] : [],
  );
  return words.join(", ") || "-";
}

/**
 * Prints a note if the toolkit (one app's tools and webhooks) does not exist. Without the note, a misspelled toolkit would look like a
 * toolkit without events.
 */
async function noteUnknownToolkit(
  found: readonly unknown[],
  { values: { toolkit }, context, project }: Run<Readonly<Record<string, unknown>>>,
): Promise<void> {
  if (found.length > 0 || typeof toolkit !== "string" || toolkit === "") return;
  const client = await project();
  try {
    await client.catalog.getToolkit({ slug: toolkit, projectId: await ownProjectId(client) });
  } catch (err) {
    if (!(err instanceof ConnectError) || err.code !== Code.NotFound) throw err;
    context.note(`The project has no toolkit ${toolkit}; \`svc toolkits list\` lists its toolkits.`);
  }
}
