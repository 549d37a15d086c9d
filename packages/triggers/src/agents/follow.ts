import { firstUuidAt, uuidOfId } from "@svc/core";
import { followEvents } from "@svc/db/events/follow";
import type { Event } from "@svc/db/events/repo";
import type { AgentEventsContext } from "./context.ts";
import {
  type CursorScope,
  type EventPosition,
  positionAt,
  seenMax,
  settledMs,
  timeOfUuid,
  uuidAfter,
} from "./position.ts";

/** A page of events, oldest first, and the position after them. */
export type EventPage = {
  readonly events: readonly Event[];
  readonly position: EventPosition;
  /** True if further events can be read at once. False if the client should wait before it reads again. */
  readonly hasMore: boolean;
};

/** The greatest UUID. No event has a greater id. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** Maximum size of the payloads on a page, in characters. A single larger event is a page of its own. */
const pageCharactersMax = 1_048_576;
/** Largest difference between the clocks of nodes, in milliseconds. */
const clocksApartMs = 2_000;

type Following = Pick<AgentEventsContext, "db" | "clock" | "eventRetentionMs">;

/** Returns at most `max` events after a position. No event is skipped or returned twice. */
export async function followPage(
  { db, clock }: Following,
  { projectId, trigger, entityId }: CursorScope,
  { fromUuid, seen }: EventPosition,
  max: number,
): Promise<EventPage> {
  const wanted = { triggerSlug: trigger.slug, entityId, fromUuid, beforeUuid: lastUuid, exceptUuids: seen };
  const { rows, walkedTo } = await followEvents(db, projectId, { ...wanted, limit: max + 1 });
  const settledUuid = laterUuid(fromUuid, firstUuidAt(clock.now() - settledMs));
  const { given, isHeldBack } = takeFitting(rows, { seen, settledUuid, max });
  const next = rows[given.length];
  const nextUuid = next === undefined ? walkedTo && uuidAfter(uuidOfId(walkedTo)) : uuidOfId(next.id);
  const from = nextUuid === undefined || nextUuid > settledUuid ? settledUuid : nextUuid;
  const known = [...seen, ...given.map(({ id }) => uuidOfId(id))];
  return {
    events: given,
    position: { fromUuid: from, seen: known.filter((uuid) => uuid >= from) },
    hasMore: nextUuid !== undefined && !isHeldBack,
  };
}

/** Returns the first events that fit on a page, and the position after them. */
function takeFitting(
  rows: readonly Event[],
  { seen, settledUuid, max }: { seen: readonly string[]; settledUuid: string; max: number },
): { given: readonly Event[]; isHeldBack: boolean } {
  let named = seen.filter((uuid) => uuid >= settledUuid).length;
  let characters = 0;
  const given: Event[] = [];
  for (const row of rows.slice(0, max)) {
    const isRecent = uuidOfId(row.id) >= settledUuid;
    if (isRecent && named >= seenMax) return { given, isHeldBack: true };
    characters += row.payload.length;
    if (given.length > 0 && characters > pageCharactersMax) break;
    if (isRecent) named++;
    given.push(row);
  }
  return { given, isHeldBack: false };
}

/** Returns the current position. Events received later come after it; no earlier event does. */
export async function positionOfNow(
  { db, clock }: Following,
  { projectId, trigger, entityId }: CursorScope,
): Promise<EventPosition> {
  const nowMs = clock.now();
  const position = positionAt(nowMs - clocksApartMs);
  const before = {
    ...{ triggerSlug: trigger.slug, entityId },
    ...{ fromUuid: position.fromUuid, beforeUuid: lastUuid, exceptUuids: [] },
  };
  const { rows } = await followEvents(db, projectId, { ...before, limit: seenMax + 1 });
  return rows.length > seenMax ? positionAt(nowMs) : { ...position, seen: rows.map(({ id }) => uuidOfId(id)) };
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
export async function servedPosition(
  following: Following,
  scope: CursorScope,
  position: EventPosition,
  maxAgeMs: number | undefined,
): Promise<ServedPosition> {
  const { clock, eventRetentionMs } = following;
  const oldestMs = clock.now() - eventRetentionMs;
  const isLost = timeOfUuid(position.fromUuid) < oldestMs;
  const kept = isLost ? positionAt(oldestMs) : position;
  if (maxAgeMs === undefined) return { position: kept, truncated: isLost };
  const floor = firstUuidAt(clock.now() - maxAgeMs);
  if (floor <= kept.fromUuid) return { position: kept, truncated: isLost };
  const left = {
    ...{ triggerSlug: scope.trigger.slug, entityId: scope.entityId },
    ...{ fromUuid: kept.fromUuid, beforeUuid: floor, exceptUuids: kept.seen },
  };
  // The oldest allowed time is after the client's position. This alone does not mean that the client has missed an event. So svc reads one
  // event between the two. Only if such an event exists were events left out.
  const { rows, walkedTo } = await followEvents(following.db, scope.projectId, { ...left, limit: 1 });
  const truncated = isLost || rows.length > 0 || walkedTo !== undefined;
  return { position: { fromUuid: floor, seen: kept.seen.filter((uuid) => uuid >= floor) }, truncated };
}

/** Returns the greater of two UUIDs. UUID texts are in the order of the UUIDs. */
function laterUuid(a: string, b: string): string {
  return a > b ? a : b;
}
