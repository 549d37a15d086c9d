import { firstUuidAt, openPageToken, type ProjectId, type Sealer, sealPageToken } from "@svc/core";
import { emptySnapshot, type FollowedEvents } from "@svc/db/events/follow";

/**
 * Position of a reader in the events. It says which transactions the reader has already read, so it is exact in any order of commits. svc
 * searches the events from `fromUuid` on, and returns those whose transaction was not visible in the snapshot `seen`.
 */
export type EventPosition = {
  /**
   * Name of the database that made the reader's last snapshot. Empty if the reader has no snapshot yet: every event that the search finds
   * then counts as new.
   */
  readonly store: string;
  /** PostgreSQL snapshot of the reader's previous search. Events of transactions that this snapshot did not see are new to the reader. */
  readonly seen: string;
  /** Lower limit of the search: the reader has all events with lower ids, and no later transaction can add such an event. */
  readonly fromUuid: string;
  /**
   * A time `atMs` at which some transactions still ran. Their ids are lower than `nextXid`. When all of them have ended, searches need not
   * begin earlier than shortly before `atMs`.
   */
  readonly earlier?: { readonly atMs: number; readonly nextXid: string } | undefined;
  /**
   * A search for new events that the reader has not read to its end. All pages of the search use the same `snapshot`. `atMs`: time of the
   * search. `scanned`: number of events scanned so far.
   */
  readonly look?:
    | { readonly snapshot: string; readonly nextUuid: string; readonly atMs: number; readonly scanned: number }
    | undefined;
  /** UUIDs of events that the agent already has. They come from a cursor that an earlier version of svc made. */
  readonly known: readonly string[];
};

/** Maximum time in milliseconds from the receipt of an event to its commit. It is twice the longest duration of a database statement. */
export const settledMs = 60_000;

/** The events for which a cursor is valid. A cursor is a client's position in the events. */
export type CursorScope = {
  readonly projectId: ProjectId;
  readonly events: FollowedEvents;
  /** A condition over the events, see `SubscriptionMatch.filter`. Undefined for all events. */
  readonly filter?: string | undefined;
};

/** Returns the position in the event stream before all events that were received at `ms` (epoch milliseconds) or later. */
export function positionAt(ms: number): EventPosition {
  return { store: "", seen: emptySnapshot, fromUuid: firstUuidAt(ms), known: [] };
}

/**
 * Returns the cursor (text that a client sends back) for a position in the events. The cursor is sealed (encrypted), so that a client
 * cannot invent one.
 */
export function sealCursor(sealer: Sealer, scope: CursorScope, position: EventPosition): string {
  const { store, seen, fromUuid, earlier, look, known } = position;
  return sealPageToken(sealer, pageScope(scope), JSON.stringify([store, seen, fromUuid, earlier, look, known]));
}

/**
 * Returns the position of a cursor. Returns undefined if the cursor was not made by svc, is for other events, or was sealed with a vault
 * key that no longer exists.
 */
export function openCursor(sealer: Sealer, scope: CursorScope, cursor: string): EventPosition | undefined {
  try {
    const [store, seen, fromUuid, earlier, look, known] = JSON.parse(openPageToken(sealer, pageScope(scope), cursor));
    return { store, seen, fromUuid, earlier: earlier ?? undefined, look: look ?? undefined, known };
  } catch {
    // svc cannot use this cursor: it may be damaged, or from another caller or another event.
    return openFormerCursor(sealer, scope, cursor);
  }
}

/**
 * Returns the position of a cursor that an earlier version of svc gave to an agent. `known`: ids of later events that the agent already
 * has.
 */
function openFormerCursor(sealer: Sealer, scope: CursorScope, cursor: string): EventPosition | undefined {
  const { projectId, events } = scope;
  const filters = { triggerSlug: events.triggerSlugs[0], entityId: events.entityId };
  try {
    const bytes = Buffer.from(openPageToken(sealer, { call: "events", projectId, filters }, cursor), "base64");
    const [fromUuid, ...known] = (bytes.toString("hex").match(/.{32}/g) ?? []).map(uuidOfHex);
    return fromUuid === undefined ? undefined : { store: "", seen: emptySnapshot, fromUuid, known };
  } catch {
    return undefined;
  }
}

function pageScope({ projectId, events: { toolkitSlug, triggerSlugs, entityId }, filter }: CursorScope) {
  const filters = { toolkitSlug, triggerSlugs: triggerSlugs.toSorted(), entityId, ...(filter && { filter }) };
  return { call: "PollEvents", projectId, filters };
}

/** Returns the usual text of a UUID, with hyphens, from its 32 hexadecimal digits. */
export function uuidOfHex(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
