import { firstUuidAt, idOfUuid, openPageToken, type ProjectId, type Sealer, sealPageToken, timeOfId } from "@svc/core";
import type { EventTarget } from "./target.ts";

/**
 * Position of a reader of events. The reader needs no event before `fromUuid` any more. `seen`: events from `fromUuid` on that the reader
 * already knows. They are listed because an event is committed some time after the time in its id, so `fromUuid` must lie some time in the
 * past.
 */
export type EventPosition = { readonly fromUuid: string; readonly seen: readonly string[] };

/**
 * Time after the receipt of an event within which it is committed, in milliseconds. An event that is not committed by then never will be.
 * It is twice the longest duration of a statement.
 */
export const settledMs = 60_000;

/**
 * Maximum number of events that a position can list. If more events arrive within `settledMs`, the further ones are returned after that
 * time.
 */
export const seenMax = 128;

/** The events that a cursor is valid for: those of one project, trigger and entity. */
export type CursorScope = Pick<EventTarget, "trigger" | "entityId"> & { readonly projectId: ProjectId };

/**
 * Returns the cursor (text that a client sends back) for a position in the events. The cursor is sealed (encrypted), so that a client
 * cannot invent one.
 */
export function sealCursor(sealer: Sealer, scope: CursorScope, { fromUuid, seen }: EventPosition): string {
  const bytes = Buffer.from([fromUuid, ...seen].join("").replaceAll("-", ""), "hex");
  return sealPageToken(sealer, pageScope(scope), bytes.toString("base64"));
}

/**
 * Returns the position of a cursor. Returns undefined if the cursor was not made by svc, is for other events, or was sealed with a vault
 * key that no longer exists.
 */
export function openCursor(sealer: Sealer, scope: CursorScope, cursor: string): EventPosition | undefined {
  let hex: string;
  try {
    hex = Buffer.from(openPageToken(sealer, pageScope(scope), cursor), "base64").toString("hex");
  } catch {
    // svc cannot use this cursor: it may be damaged, or from another caller or another event. The client then continues with the events
    // from now on, and is informed that earlier events are left out.
    return undefined;
  }
  const [fromUuid, ...seen] = (hex.match(/.{32}/g) ?? []).map(uuidOfHex);
  return fromUuid === undefined ? undefined : { fromUuid, seen };
}

/** Returns the time of a UUID, in epoch milliseconds. */
export function timeOfUuid(uuid: string): number {
  return timeOfId(idOfUuid("evt", uuid));
}

/** Returns the position before all events received at or after a time. */
export function positionAt(ms: number): EventPosition {
  return { fromUuid: firstUuidAt(ms), seen: [] };
}

/** Returns the next greater UUID. */
export function uuidAfter(uuid: string): string {
  const next = BigInt(`0x${uuid.replaceAll("-", "")}`) + 1n;
  return uuidOfHex(next.toString(16).padStart(32, "0"));
}

function pageScope({ projectId, trigger, entityId }: CursorScope) {
  return { call: "events", projectId, filters: { triggerSlug: trigger.slug, entityId } };
}

function uuidOfHex(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
