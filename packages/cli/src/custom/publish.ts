import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { isObject, parseExactJson } from "@svc/core";
import {
  type EventToPublish,
  PublishEventResponseSchema,
  PublishOutcome,
  PublishResultSchema,
  TriggersService,
} from "@svc/gen/triggers";
import type { PublishResult } from "@svc/sdk";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { readJsonOption, readText } from "../command/input.ts";
import { parseMoment } from "../command/options.ts";
import { messageLine, messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";

type PublishValues = {
  readonly type?: string;
  readonly data?: string;
  readonly lines?: true;
  readonly entity?: string;
  readonly key?: string;
  readonly occurred?: number;
};

/** One event of the standard input, and the number of its input line, counted from 1. */
type LineEvent = { readonly line: number; readonly event: Pick<EventToPublish, "type" | "payloadJson"> };

/**
 * Maximum number of events in one API call, and maximum size of all their payloads together, in characters. The service refuses larger
 * calls.
 */
const [eventsMax, charactersMax] = [1_000, 500_000];

/** The command `svc publish`, which publishes one event of the project's own event types, or many events from standard input. */
export const addPublishCommand = command(
  TriggersService.method.publishEvent,
  {
    says: "publish an event of one of the project's event types, or many from standard input",
    takes: { "[type]": ["name of the event type, such as invoice.paid", { fills: "type" }] },
    options: [
      [
        "--data <json>",
        "payload as JSON; @file reads it from a file, @- from standard input",
        { fills: "payloadJson" },
      ],
      ["--entity <id>", "entity (customer) that the event concerns", { fills: "entityId" }],
      ["--key <key>", "your id of the event: a second event with the same key is a duplicate"],
      [
        "--occurred <when>",
        "time of the event: 2h for two hours ago, or 2026-03-14T09:00:00Z (default: now)",
        { fills: "occurredAt", parse: parseMoment },
      ],
      [
        "--lines",
        "publish one event for each line of standard input: an object with payload, and optionally type, entityId, key and occurredAt",
        { conflicts: "data" },
      ],
    ],
    json: "the event's id and outcome as JSON; with --lines one line for each event",
    also: [[TriggersService.method.publishEvents, "--lines"]],
    examples: [
      `svc publish invoice.paid --data '{"amount": 12.5}' --entity ada --key in_1`,
      "svc publish invoice.paid --data @invoice.json",
      "svc publish invoice.paid --lines < invoices.jsonl",
    ],
  },
  async (run: Run<PublishValues>, filled) => {
    const { values, context, project, asJson } = run;
    if (values.lines === true) return publishLines(run);
    if (values.type === undefined || values.data === undefined)
      throw new CommandError("give the type and --data, or --lines", 2);
    const payloadJson = await readJsonOption("--data", values.data, context);
    const { triggers } = await project();
    const answer = await triggers.publishEvent({ ...filled, payloadJson });
    if (asJson) return context.print(messageText(PublishEventResponseSchema, answer));
    context.print(answer.outcome === PublishOutcome.DUPLICATE ? `${answer.eventId} (duplicate)` : answer.eventId);
  },
);

/**
 * Publishes the events of standard input in as few calls as possible. Rejects with CommandError after the last call if the service refused
 * any of the events.
 */
async function publishLines({ values, context, project, asJson }: Run<PublishValues>): Promise<void> {
  const lines = (await readText("-", "standard input", context)).split("\n");
  const events = lines.flatMap((text, index) => {
    return text.trim() === "" ? [] : [{ line: index + 1, event: readLine(text, index + 1, values) }];
  });
  const { triggers } = await project();
  const counts = { stored: 0, duplicate: 0, refused: 0 };
  for (const part of partsOf(events)) {
    const { results } = await triggers.publishEvents({ events: part.map(({ event }) => event) });
    for (const [index, result] of results.entries()) {
      if (asJson) context.print(messageLine(PublishResultSchema, result));
      countResult(counts, result, part[index]?.line ?? 0, context);
    }
  }
  const { stored, duplicate, refused } = counts;
  const summary = `${stored} stored, ${duplicate} duplicate, ${refused} refused`;
  if (asJson) context.note(summary);
  else context.print(summary);
  if (refused > 0) throw new CommandError(`${refused} of ${events.length} events were refused`);
}

function countResult(
  counts: { stored: number; duplicate: number; refused: number },
  { outcome, error }: PublishResult,
  line: number,
  context: CommandContext,
): void {
  if (outcome === PublishOutcome.STORED) counts.stored++;
  else if (outcome === PublishOutcome.DUPLICATE) counts.duplicate++;
  else counts.refused++;
  if (error === undefined) return;
  const faults = error.faults.map(({ pointer, message }) => `${pointer || "the payload"} ${message}`).join("; ");
  context.note(plainText(`line ${line}: ${error.reason}: ${faults || error.message}`));
}

/** Yields the events in groups. Each group is within the limits of one API call, for the number of events and for their size. */
function* partsOf(events: readonly LineEvent[]): Generator<readonly LineEvent[]> {
  let part: LineEvent[] = [];
  let characters = 0;
  for (const one of events) {
    characters += one.event.payloadJson.length;
    if (part.length === eventsMax || (part.length > 0 && characters > charactersMax)) {
      yield part;
      part = [];
      characters = one.event.payloadJson.length;
    }
    part.push(one);
  }
  if (part.length > 0) yield part;
}

const names = ["type", "payload", "entityId", "key", "occurredAt"];

function readLine(text: string, line: number, { type: typeOfAll, entity }: PublishValues) {
  const wrong = (what: string) => new CommandError(`line ${line} ${what}; nothing was published`);
  const given = parse(text);
  if (!isObject(given)) throw wrong("is not a JSON object");
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw wrong(`has ${JSON.stringify(unknown)}; a line has ${names.join(", ")}`);
  const { type = typeOfAll, payload, entityId = entity ?? "", key = "", occurredAt } = given;
  if (typeof type !== "string") throw wrong("has no type, and the command names none");
  if (typeof entityId !== "string" || typeof key !== "string")
    throw wrong("has an entityId or a key that is not a text");
  if (payload === undefined) throw wrong("has no payload");
  return {
    ...{ type, entityId, key, payloadJson: JSON.stringify(payload) },
    ...(occurredAt !== undefined && { occurredAt: timestampFromMs(momentOf(occurredAt, wrong)) }),
  };
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

function momentOf(value: unknown, wrong: (what: string) => CommandError): number {
  try {
    if (typeof value === "string") return parseMoment(value);
  } catch {
    // The error of the URL parser is dropped here, because the code below throws its own error for every wrong value.
  }
  throw wrong("has an occurredAt that is not a time such as 2026-03-14T09:00:00Z");
}
