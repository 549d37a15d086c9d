import { isJsonNumber, type JsonValue, nearestDouble, parseExactJson } from "@svc/core";
import type { Event } from "@svc/db/events/repo";
import { occurrenceText } from "@svc/delivery";
import { complete, invalidParams, type McpContext, type McpOutcome, type Params, refused } from "@svc/tools";
import type { AgentEventsContext } from "./context.ts";
import { followPage, positionOfNow, type ServedPosition, servedPosition } from "./follow.ts";
import { type CursorScope, openCursor, sealCursor, seenMax } from "./position.ts";
import { readTarget } from "./target.ts";

/** Options of a poll. */
type PollOptions = {
  readonly cursor: string | null;
  readonly maxAgeMs: number | undefined;
  readonly maxEvents: number;
  readonly timeoutMs: number;
};

const maxEventsDefault = 50;
/**
 * Longest time for which a request is held (answered only when events arrive), in milliseconds. It is well below the limit for an HTTP
 * exchange.
 */
const holdMaxMs = 25_000;
/** Pause between two reads while a request is held, in milliseconds. */
const lookMs = 1_000;
/**
 * Maximum number of poll requests that this node keeps open while it waits for events. If more requests arrive, svc answers them at once,
 * even without events.
 */
const heldMax = 256;
const nextPollMs = { held: 1_000, unheld: 5_000 };

/** Returns the method events/poll. It returns the events after a cursor, and waits for events if the client requests that. */
export function createPoll(events: AgentEventsContext): (params: Params, context: McpContext) => Promise<McpOutcome> {
  let held = 0;
  return async (params, context) => {
    const target = readTarget(events.catalog, params, context);
    if ("error" in target) return refused(target.error);
    const options = readOptions(params);
    if (typeof options === "string") return refused(invalidParams(`InvalidParams: ${options}`));
    const scope = { ...target, projectId: context.principal.projectId };
    const begun = await beginAt(events, scope, options);
    if (begun.isNew) return answer(events, scope, { ...begun, events: [], hasMore: false, isHeld: false });
    const isHeld = options.timeoutMs > 0 && held < heldMax;
    if (isHeld) held++;
    try {
      const wait = { untilMs: events.clock.now() + (isHeld ? options.timeoutMs : 0), signal: context.signal };
      return answer(events, scope, { ...begun, ...(await firstPage(events, scope, begun, options, wait)), isHeld });
    } finally {
      if (isHeld) held--;
    }
  };
}

type Begun = ServedPosition & { /** True if nothing from before is wanted, or can be read. */ readonly isNew: boolean };

async function beginAt(events: AgentEventsContext, scope: CursorScope, options: PollOptions): Promise<Begun> {
  const { cursor, maxAgeMs } = options;
  const known = cursor === null ? undefined : openCursor(events.sealer, scope, cursor);
  if (known !== undefined) return { ...(await servedPosition(events, scope, known, maxAgeMs)), isNew: false };
  // An unusable cursor is not an error: the client is informed that it may have missed events, and continues.
  return { position: await positionOfNow(events, scope), truncated: cursor !== null, isNew: true };
}

/** Returns the first page with events. If no event arrives in time, returns the last, empty page. */
async function firstPage(
  events: AgentEventsContext,
  scope: CursorScope,
  { position, truncated }: ServedPosition,
  { maxEvents }: PollOptions,
  { untilMs, signal }: { readonly untilMs: number; readonly signal: AbortSignal },
) {
  let at = position;
  for (;;) {
    const page = await followPage(events, scope, at, maxEvents);
    const leftMs = untilMs - events.clock.now();
    if (page.events.length > 0 || page.hasMore || truncated || leftMs <= 0 || signal.aborted) return page;
    at = page.position;
    await events.clock.wait(Math.min(lookMs, leftMs), signal);
  }
}

type Answered = ServedPosition & {
  readonly events: readonly Event[];
  readonly hasMore: boolean;
  readonly isHeld: boolean;
};

function answer({ sealer }: AgentEventsContext, scope: CursorScope, page: Answered): McpOutcome {
  return complete({
    events: page.events.map(occurrenceOf),
    cursor: sealCursor(sealer, scope, page.position),
    truncated: page.truncated,
    hasMore: page.hasMore,
    nextPollMs: page.isHeld ? nextPollMs.held : nextPollMs.unheld,
  });
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
    maxEvents: Math.min(maxEvents ?? maxEventsDefault, seenMax),
    timeoutMs: Math.min(timeoutMs ?? 0, holdMaxMs),
  };
}

/** Returns the value if it is a whole number of 0 or more. Returns undefined if it is absent or null, and "wrong" for any other value. */
export function readCount(value: unknown): number | undefined | "wrong" {
  if (value === undefined || value === null) return undefined;
  const count = isJsonNumber(value) ? nearestDouble(value) : Number.NaN;
  return Number.isSafeInteger(count) && count >= 0 ? count : "wrong";
}
