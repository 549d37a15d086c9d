import type { BackfillRecord } from "@svc/db/standing/backfills";
import { givenOf, keyOf } from "../decide/given.ts";
import type { Candidate } from "../engine/due.ts";
import type { LoadedVersion } from "../versions.ts";

/** By which names a key of `dedupe` is remembered: among what a backfill comes to, and among what is due by itself. */
export type DedupeKey = { readonly own: string; readonly live: string; readonly windowMs: number };

/** The key of an occurrence; undefined where the definition names none, a fault where it cannot be filled in. */
export function dedupeKeyOf(
  { id }: Pick<BackfillRecord, "id">,
  { occurrence }: Pick<Candidate, "occurrence">,
  { definition: { dedupe, timeZone } }: Pick<LoadedVersion, "definition">,
): DedupeKey | { readonly fault: string } | undefined {
  if (dedupe === undefined) return undefined;
  const key = keyOf(dedupe.key, givenOf({ ...occurrence, previousAt: occurrence.previousAt ?? null }, timeZone));
  if ("fault" in key) return { fault: `dedupe: ${key.fault}` };
  return { own: `${id} ${key.text}`, live: key.text, windowMs: dedupe.windowMs };
}

/** Rows of keys go some time after they are remembered for: those of a backfill are written so much later. */
const keptMs = 30 * 86_400_000;

/** What a backfill adds to the times of what it comes to, so that its keys stay until it has ended. */
export function dedupeShiftOf({ createdAt, since }: Pick<BackfillRecord, "createdAt" | "since">): number {
  return createdAt - since + keptMs;
}

/**
 * Whether an occurrence is the same as one that its backfill came to before, or as one that was due by itself, less than the window before
 * or after. One that is made due again has its own key among these.
 */
export function isSeen(
  { again, ...times }: Pick<BackfillRecord, "again" | "createdAt" | "since">,
  { own, live, windowMs }: DedupeKey,
  fireAt: number,
  until: (key: string) => number | undefined,
): boolean {
  if (fireAt + dedupeShiftOf(times) < (until(own) ?? 0)) return true;
  const liveUntil = until(live);
  if (again || liveUntil === undefined) return false;
  const seenAt = liveUntil - windowMs;
  return seenAt !== fireAt && Math.abs(seenAt - fireAt) < windowMs;
}
