import type { BackfillRecord } from "@svc/db/standing/backfills";
import { givenOf, keyOf } from "../decide/given.ts";
import type { DueCandidate } from "../prepare/due.ts";
import type { LoadedVersion } from "../versions.ts";

/** By which names a key of `dedupe` is remembered: among what a backfill comes to, and among what is due by itself. */
export type DedupeKey = { readonly own: string; readonly live: string; readonly windowMs: number };

/** The key of an occurrence; undefined where the definition names none, a fault where it cannot be filled in. */
export function dedupeKeyOf(
  { id }: Pick<BackfillRecord, "id">,
  { occurrence }: Pick<DueCandidate, "occurrence">,
  { definition: { dedupe, timeZone } }: Pick<LoadedVersion, "definition">,
): DedupeKey | { readonly fault: string } | undefined {
  if (dedupe === undefined) return undefined;
  const key = keyOf(dedupe.key, givenOf({ ...occurrence, previousAt: occurrence.previousAt ?? null }, timeZone));
  if ("fault" in key) return { fault: `dedupe: ${key.fault}` };
  return { own: `${id} ${key.text}`, live: key.text, windowMs: dedupe.windowMs };
}
