import { firstUuidAt, idOfUuid, openPageToken, type ProjectId, type Sealer, sealPageToken, timeOfId } from "@svc/core";
import type { EventTarget } from "./target.ts";

/**
 * Where somebody who follows events is. All that comes before `fromUuid` is known or committed by now; of what comes from there on, `seen` is
 * known. An event is committed some time after the moment that its id carries, so a position stands a while back, and names what it passed.
 */
export type EventPosition = { readonly fromUuid: string; readonly seen: readonly string[] };

/** So long after its receipt an event is committed, if it ever is: twice as long as the store lets a statement run. */
export const settledMs = 60_000;

/** What a position can name. Where more comes within `settledMs`, it is handed out once it is older. */
export const seenMax = 128;

/** What a cursor is good for: the project's events of one trigger and entity. */
export type CursorScope = Pick<EventTarget, "trigger" | "entityId"> & { readonly projectId: ProjectId };

/** The cursor of a position: sealed, so that nobody makes one. */
export function sealCursor(sealer: Sealer, scope: CursorScope, { fromUuid, seen }: EventPosition): string {
  const bytes = Buffer.from([fromUuid, ...seen].join("").replaceAll("-", ""), "hex");
  return sealPageToken(sealer, pageScope(scope), bytes.toString("base64"));
}

/** The position of a cursor; undefined for one that was not made here for these events, or by a vault key that is gone. */
export function openCursor(sealer: Sealer, scope: CursorScope, cursor: string): EventPosition | undefined {
  let hex: string;
  try {
    hex = Buffer.from(openPageToken(sealer, pageScope(scope), cursor), "base64").toString("hex");
  } catch {
    // Whatever hinders: the client goes on from now, and is told so.
    return undefined;
  }
  const [fromUuid, ...seen] = (hex.match(/.{32}/g) ?? []).map(uuidOfHex);
  return fromUuid === undefined ? undefined : { fromUuid, seen };
}

/** The moment of a UUID, epoch milliseconds. */
export function timeOfUuid(uuid: string): number {
  return timeOfId(idOfUuid("evt", uuid));
}

/** The position of all that is received from a moment on. */
export function positionAt(ms: number): EventPosition {
  return { fromUuid: firstUuidAt(ms), seen: [] };
}

/** The UUID after this one. */
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
