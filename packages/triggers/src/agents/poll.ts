import { isJsonNumber, type JsonValue, nearestDouble, parseExactJson } from "@svc/core";
import type { Event } from "@svc/db/events/repo";
import { occurrenceText } from "@svc/delivery";
import { complete, invalidParams, type McpContext, type McpOutcome, type Params, refused } from "@svc/tools";
import { heldMsMax } from "../polls/polls.ts";
import { openCursor, sealCursor } from "../polls/position.ts";
import type { AgentEventsContext } from "./context.ts";
import { readTarget, scopeOf } from "./target.ts";

/** Options of an agent's poll for events (a request for the events after a cursor). */
type PollOptions = {
  readonly cursor: string | null;
  readonly maxAgeMs: number | undefined;
  readonly max: number;
  readonly waitMs: number;
};

const eventsDefault = 50;
const eventsMax = 1_000;
const nextPollMs = { held: 1_000, unheld: 5_000 };

/** Returns the method events/poll. It returns the events after a cursor, and waits for events if the client requests that. */
export function createPoll(events: AgentEventsContext): (params: Params, context: McpContext) => Promise<McpOutcome> {
  const { polls, sealer, views } = events;
  return async (params, context) => {
    const target = readTarget(await views.forProject(context.principal.projectId), params, context);
    if ("error" in target) return refused(target.error);
    const options = readOptions(params);
    if (typeof options === "string") return refused(invalidParams(`InvalidParams: ${options}`));
    const scope = scopeOf(target, context.principal.projectId);
    const { cursor, ...asked } = options;
    const position = cursor === null ? undefined : openCursor(sealer, scope, cursor);
    // A cursor that cannot be used is not an error: the client is informed that it may have missed events, and continues.
    const page =
      position === undefined
        ? {
            ...{ events: [], hasMore: false, isHeld: false },
            position: await polls.now(scope),
            truncated: cursor !== null,
          }
        : await polls.poll(scope, { ...asked, position, signal: context.signal });
    return complete({
      events: page.events.map(occurrenceOf),
      cursor: sealCursor(sealer, scope, page.position),
      truncated: page.truncated,
      hasMore: page.hasMore,
      nextPollMs: page.isHeld ? nextPollMs.held : nextPollMs.unheld,
    });
  };
}

/** Returns an event in the form of MCP. Numbers keep all their digits. */
function occurrenceOf({ occurredAt: occurredAtMs, receivedAt: receivedAtMs, ...event }: Event): JsonValue {
  const text = occurrenceText({ ...event, kind: "event", occurredAtMs, receivedAtMs });
  return parseExactJson(text, { depthMax: Number.POSITIVE_INFINITY }) as JsonValue;
}

/** Returns the options of a poll, or a text that says what is wrong with them. */
function readOptions(params: Params): PollOptions | string {
  const { cursor = null } = params;
  if (cursor !== null && typeof cursor !== "string") return "params.cursor must be a text or null";
  const [maxAgeMs, maxEvents, timeoutMs] = [
    readCount(params["maxAgeMs"]),
    readCount(params["maxEvents"]),
    readCount(params["timeoutMs"]),
  ];
  if (maxAgeMs === "wrong") return "params.maxAgeMs must be a whole number of milliseconds";
  if (maxEvents === "wrong" || maxEvents === 0) return "params.maxEvents must be a whole number from 1 on";
  if (timeoutMs === "wrong") return "params.timeoutMs must be a whole number of milliseconds";
  return {
    ...{ cursor, maxAgeMs },
    max: Math.min(maxEvents ?? eventsDefault, eventsMax),
    waitMs: Math.min(timeoutMs ?? 0, heldMsMax),
  };
}

/** Returns the value if it is a whole number of 0 or more. Returns undefined if it is absent or null, and "wrong" for any other value. */
export function readCount(value: unknown): number | undefined | "wrong" {
  if (value === undefined || value === null) return undefined;
  const count = isJsonNumber(value) ? nearestDouble(value) : Number.NaN;
  return Number.isSafeInteger(count) && count >= 0 ? count : "wrong";
}
