import { type Clock, firstUuidAt, uuidOfId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { emptySnapshot, type Look, lookForEvents, readFollowedEvents } from "@svc/db/events/follow";
import type { Event } from "@svc/db/events/repo";
import type { Filters } from "../filters/filters.ts";
import { type CursorScope, type EventPosition, positionAt, settledMs, uuidOfHex } from "./position.ts";

/** Data about one answered request of a client for new events. */
export type EventPollObservation = {
  /**
   * Outcome of a poll for events. `events`: it returned events. `empty`: there were none. `truncated`: events after the requested position
   * may be missing. `unheld`: the poll asked to wait for events, but this node already held the maximum number of waiting polls.
   */
  readonly outcome: "events" | "empty" | "truncated" | "unheld";
  /** Number of events that svc read to answer the poll for events. */
  readonly scanned: number;
};

/** A request for the events that follow a reader's position in the project's events. */
type EventPoll = {
  readonly position: EventPosition;
  /** Maximum number of events that the poll returns. */
  readonly max: number;
  /** Longest time for which the poll waits for an event, in milliseconds. */
  readonly waitMs: number;
  /** Maximum age of the events to return, in milliseconds before now. Undefined: events of any age are returned. */
  readonly maxAgeMs?: number | undefined;
  /** Signal that ends the poll's wait for events when the signal aborts. */
  readonly signal: AbortSignal;
  /**
   * Called when the poll for events begins to wait, because there are no events. If this function throws, the poll rejects with its error.
   */
  readonly onHeld?: (() => void) | undefined;
};

/** Events, oldest first, and the position after them in the event stream. */
type PolledEvents = {
  readonly events: readonly Event[];
  readonly position: EventPosition;
  /** True if the next poll can return more events at once. */
  readonly hasMore: boolean;
  /** True if svc may have left out events after the position that the client sent, for example because they are no longer stored. */
  readonly truncated: boolean;
  /** True if the client's request for events could wait until there were some. False if svc answered it at once. */
  readonly isHeld: boolean;
};

/** Answers polls, which are requests of clients for new events. A poll can wait until there are events. */
export type EventPolls = {
  /** Returns the current position in the project's event stream. */
  now(scope: CursorScope): Promise<EventPosition>;
  /**
   * Returns the position from which svc returns events to a reader. It is later than `position` if events after `position` are too old or
   * deleted.
   */
  served(scope: CursorScope, position: EventPosition, maxAgeMs: number | undefined): Promise<ServedPosition>;
  /** Returns the newest events after a position in the event stream, at most `max`. */
  newest(scope: CursorScope, position: EventPosition, max: number): ReturnType<typeof newestAfter>;
  poll(scope: CursorScope, poll: EventPoll): Promise<PolledEvents>;
};

/**
 * Maximum time in milliseconds for which a client's request for events waits. It is shorter than the maximum duration of an HTTP request.
 */
export const heldMsMax = 25_000;
/** Pause in milliseconds between two searches for new events while a poll waits. */
const lookMs = 1_000;
/** Maximum number of client requests that wait for events on one node. Other requests are answered at once, even without events. */
const heldMax = 200;

/** Creates the object that answers polls: requests of clients for new events. All polls that wait share one limit. */
export function createEventPolls(
  following: Following & { readonly onPolled?: ((poll: EventPollObservation) => void) | undefined },
): EventPolls {
  const { clock, onPolled } = following;
  let held = 0;
  /** Returns the first page that has events. If no event arrives in time, returns the last, empty page. */
  const firstPage = async (
    scope: CursorScope,
    { position, max, waitMs, signal, onHeld }: EventPoll,
    isFinal: boolean,
  ) => {
    const untilMs = clock.now() + waitMs;
    let scanned = 0;
    let isHeld = false;
    try {
      for (let at = position; ; ) {
        const page = await readEventPage(following, scope, at, max);
        scanned += page.scanned;
        const leftMs = untilMs - clock.now();
        const isUnheld = !isHeld && held >= heldMax;
        const isDone = page.events.length > 0 || isFinal || leftMs <= 0 || signal.aborted;
        if (isDone || isUnheld) return { ...page, scanned, isHeld: waitMs > 0 && (isDone || !isUnheld) };
        if (!isHeld) {
          onHeld?.();
          isHeld = true;
          held++;
        }
        at = page.position;
        if (!page.hasMore) await clock.wait(Math.min(lookMs, leftMs), signal);
      }
    } finally {
      if (isHeld) held--;
    }
  };
  return {
    now: (scope) => positionOfNow(following, scope),
    served: (scope, position, maxAgeMs) => servedPosition(following, scope, position, maxAgeMs),
    newest: (scope, position, max) => newestAfter(following, scope, position, max),
    async poll(scope, poll) {
      const { position, truncated } = await servedPosition(following, scope, poll.position, poll.maxAgeMs);
      const { scanned, ...page } = await firstPage(scope, { ...poll, position }, truncated);
      const outcome = truncated ? "truncated" : page.events.length > 0 ? "events" : "empty";
      onPolled?.({ outcome: outcome === "empty" && poll.waitMs > 0 && !page.isHeld ? "unheld" : outcome, scanned });
      return { ...page, truncated };
    },
  };
}

/** A page of events, oldest first, and the position after them. */
type EventPage = {
  readonly events: readonly Event[];
  readonly position: EventPosition;
  /** True if further events can be read at once. False if the client should wait before it reads again. */
  readonly hasMore: boolean;
  /**
   * Number of events that svc scanned to fill this page. It can be greater than the number of events on the page, because a filter leaves
   * events out.
   */
  readonly scanned: number;
};

/** Dependencies of the functions that read the events after a position in a project's event stream. */
type Following = {
  readonly db: Executor;
  readonly clock: Clock;
  readonly filters: Pick<Filters, "begin">;
  /** How long events are kept, in milliseconds. A reader with an older position has missed events. */
  readonly eventRetentionMs: number;
};

/** The greatest UUID. No event has a greater id. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** Maximum size in bytes of the payloads on a page. A single larger event gets a page of its own. */
const pageBytesMax = 1_048_576;

/**
 * A poll for new events also searches this many milliseconds before the previous poll, because svc may store an event late. `few`: used if
 * the previous poll scanned at most `fewMax` events. `many`: used if it scanned more.
 */
const idAgeMs = { few: settledMs, fewMax: 2_000, many: 10_000 };
// `many` includes 1 s in svc (`storePosts`), 2 s between the clocks of nodes, and the time that a statement waits for a connection.

/** Returns at most `max` events after a position. No event is left out or returned twice. */
async function readEventPage(
  following: Following,
  scope: CursorScope,
  from: EventPosition,
  max: number,
): Promise<EventPage> {
  const atMs = from.look?.atMs ?? following.clock.now();
  const { look, position } = await lookFrom(following, scope, from, { beforeUuid: lastUuid, limit: max + 1 });
  const wanted = look.uuids.slice(0, max);
  const rows = await readFollowedEvents(following.db, scope.projectId, wanted, pageBytesMax);
  const known = new Set(position.known);
  const unknown = known.size === 0 ? rows : rows.filter(({ id }) => !known.has(uuidOfId(id)));
  const events = await filterEvents(following, scope, unknown);
  const nextUuid = nextAfter(look, wanted, rows);
  const scanned = look.scanned + (position.look?.scanned ?? 0);
  const begun = { snapshot: look.snapshot, atMs, scanned };
  const { store } = look;
  return nextUuid === undefined
    ? { events, position: afterLook({ ...position, store }, begun), hasMore: false, scanned: look.scanned }
    : {
        events,
        position: { ...position, store, look: { ...begun, nextUuid } },
        hasMore: true,
        scanned: look.scanned,
      };
}

/** Returns those events that pass the filter of the agent's request for events. */
async function filterEvents(
  { filters }: Following,
  { projectId, filter }: CursorScope,
  events: readonly Event[],
): Promise<readonly Event[]> {
  if (filter === undefined) return events;
  const test = filters.begin(`project:${projectId}`);
  const accepted: Event[] = [];
  for (const event of events) {
    const times = { occurredAtMs: event.occurredAt, receivedAtMs: event.receivedAt };
    const outcome = (await test({ ...event, ...times }, [filter])).get(filter)?.outcome;
    if (outcome === "match" || outcome === "unevaluated") accepted.push(event);
  }
  return accepted;
}

/** Searches the events after a position. If the position comes from another database, returns a position of this database. */
async function lookFrom(
  { db }: Following,
  { projectId, events }: CursorScope,
  position: EventPosition,
  { beforeUuid, limit }: { readonly beforeUuid: string; readonly limit: number },
): Promise<{ readonly look: Look; readonly position: EventPosition }> {
  const lookAs = (at: EventPosition) => {
    const range = { fromUuid: startOf(at), beforeUuid, seen: at.seen, snapshot: at.look?.snapshot, limit };
    return lookForEvents(db, projectId, events, range);
  };
  const look = await lookAs(position);
  if (position.store === "" || position.store === look.store) return { look, position };
  const restarted = withoutSnapshots(position);
  return { look: await lookAs(restarted), position: restarted };
}

/**
 * Returns the UUID from which the next page of a search for new events begins. Returns undefined if this page is the last one. `wanted`:
 * UUIDs of the events that this page should contain.
 */
function nextAfter(look: Look, wanted: readonly string[], rows: readonly Event[]): string | undefined {
  const last = rows.at(-1);
  // The page ends early if its payloads are large, or if its last events were deleted. In the second case, the next page may be empty.
  if (last !== undefined && uuidOfId(last.id) !== wanted.at(-1)) return uuidAfter(uuidOfId(last.id));
  const further = look.uuids[wanted.length];
  if (further !== undefined) return further;
  return look.walkedTo && uuidAfter(look.walkedTo);
}

/**
 * Returns the position from which the next poll of events continues, after all events up to now were read. The next search begins somewhat
 * earlier (`fromUuid`). Transactions that are still running may store events with lower ids.
 */
function afterLook(
  { store, seen, fromUuid, earlier }: EventPosition,
  { snapshot, atMs, scanned }: { readonly snapshot: string; readonly atMs: number; readonly scanned: number },
): EventPosition {
  const [oldest = 0n, next = 0n] = snapshot.split(":", 2).map(BigInt);
  const ageMs = seen === emptySnapshot || scanned <= idAgeMs.fewMax ? idAgeMs.few : idAgeMs.many;
  const after = { store, seen: snapshot, known: [] };
  const since = (ms: number) => laterUuid(fromUuid, firstUuidAt(ms - ageMs));
  if (oldest === next) return { ...after, fromUuid: since(atMs) };
  if (earlier !== undefined && oldest < BigInt(earlier.nextXid)) return { ...after, fromUuid, earlier };
  return {
    ...after,
    fromUuid: earlier === undefined ? fromUuid : since(earlier.atMs),
    earlier: { atMs, nextXid: String(next) },
  };
}

/** Returns the current position in the event stream of a project. All events that are committed later come after this position. */
async function positionOfNow(following: Following, scope: CursorScope): Promise<EventPosition> {
  const start = positionAt(following.clock.now() - idAgeMs.few);
  const { look } = await lookFrom(following, scope, start, { beforeUuid: start.fromUuid, limit: 0 });
  return { ...start, store: look.store, seen: look.snapshot };
}

/**
 * A position from which svc can serve events: the position of the client's cursor, or a later one. `truncated`: true if events between the
 * two were left out.
 */
export type ServedPosition = { readonly position: EventPosition; readonly truncated: boolean };

/**
 * Returns the position in the events from which svc can serve a client. This is the client's own position, or a later one. It is not before
 * the oldest event still stored, and not older than `maxAgeMs`, the maximum age that the client accepts.
 */
async function servedPosition(
  following: Following,
  scope: CursorScope,
  position: EventPosition,
  maxAgeMs: number | undefined,
): Promise<ServedPosition> {
  const { clock, eventRetentionMs } = following;
  const oldestUuid = firstUuidAt(clock.now() - eventRetentionMs);
  const isLost = startOf(position) < oldestUuid;
  const kept = isLost ? raisedTo(position, oldestUuid) : position;
  if (maxAgeMs === undefined) return { position: kept, truncated: isLost };
  const floor = firstUuidAt(clock.now() - maxAgeMs);
  if (floor <= startOf(kept)) return { position: kept, truncated: isLost };
  // The oldest allowed time is after the client's position. This does not mean that the client has missed an event. So svc searches for one
  // event between the two. Only if there is one, events were left out.
  const left = await lookFrom(following, scope, kept, { beforeUuid: floor, limit: kept.known.length + 1 });
  const isNew = left.look.uuids.some((uuid) => !kept.known.includes(uuid));
  const truncated = isLost || isNew || left.look.walkedTo !== undefined;
  return { position: raisedTo(left.position, floor), truncated };
}

/** Maximum number of reads of events. Each read continues where the last one stopped. If more were needed, newer events are left out. */
const looksMax = 50;

/**
 * Returns the UUIDs of the newest events after a position, at most `max`, oldest first. `isCut`: true if other events after the position
 * were left out.
 */
async function newestAfter(
  following: Following,
  scope: CursorScope,
  from: EventPosition,
  max: number,
): Promise<{ readonly uuids: readonly string[]; readonly isCut: boolean }> {
  const known = new Set(from.known);
  let [at, uuids, isCut] = [from, [] as string[], false];
  for (let looks = 0; looks < looksMax; looks++) {
    const { look, position } = await lookFrom(following, scope, at, { beforeUuid: lastUuid, limit: 20_000 });
    const found = [...uuids, ...look.uuids.filter((uuid) => !known.has(uuid))];
    isCut ||= found.length > max;
    uuids = max === 0 ? [] : found.slice(-max);
    if (look.walkedTo === undefined) return { uuids, isCut };
    const { store, snapshot } = look;
    const begun = { snapshot, nextUuid: uuidAfter(look.walkedTo), atMs: 0, scanned: 0 };
    at = { ...position, store, look: begun };
  }
  return { uuids, isCut: true };
}

/**
 * Returns a reader's position in the events without its PostgreSQL snapshots, because these are valid only in the database that made them.
 * Some events may then be returned a second time, but none is left out.
 */
function withoutSnapshots({ fromUuid, known }: EventPosition): EventPosition {
  return { store: "", seen: emptySnapshot, fromUuid, known };
}

/** Returns the UUID of the event at which the next page of events begins. */
function startOf({ look, fromUuid }: EventPosition): string {
  return look?.nextUuid ?? fromUuid;
}

/** Returns a reader's position in the events, moved forward so that it is not before `uuid`. */
function raisedTo(position: EventPosition, uuid: string): EventPosition {
  const { look, fromUuid } = position;
  return {
    ...position,
    fromUuid: laterUuid(fromUuid, uuid),
    look: look && { ...look, nextUuid: laterUuid(look.nextUuid, uuid) },
  };
}

/** Returns the next greater UUID. */
function uuidAfter(uuid: string): string {
  const next = BigInt(`0x${uuid.replaceAll("-", "")}`) + 1n;
  return uuidOfHex(next.toString(16).padStart(32, "0"));
}

/** Returns the greater of two UUIDs. UUID texts are in the order of the UUIDs. */
function laterUuid(a: string, b: string): string {
  return a > b ? a : b;
}
