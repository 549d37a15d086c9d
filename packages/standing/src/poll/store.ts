import type { Executor } from "@svc/db/connect";
import {
  forgetStandingSeen,
  refreshStandingSeen,
  rememberStandingSeen,
  removeStaleStandingSeen,
  writeStandingPoll,
} from "@svc/db/standing/polls";
import type { Polled } from "./polled.ts";

/** Ids that one poll forgets, or that are removed of an earlier generation, at most. */
const goneMax = 10_000;
/** Of a list that is not walked whole: as many ids are left, and from so many more on some are forgotten. */
const trimmedTo = 50_000;
const dayMs = 86_400_000;
/** Longer than a poll looks back for late rows. */
const trimmedAfterMs = 8 * dayMs;

/** Writes what a poll came to, beside the runs that it makes. */
export async function storePoll(tx: Executor, polled: Polled): Promise<void> {
  const { record, remembered, refreshed, atMs, programId } = polled;
  const of = { programId, generation: record.generation, seenAt: atMs };
  const added = await rememberStandingSeen(tx, of, remembered);
  await refreshStandingSeen(tx, of, refreshed);
  const seen = record.seen + added;
  const gone = await forget(tx, polled, seen);
  const stale = record.hasStale ? await removeStaleStandingSeen(tx, of, goneMax) : 0;
  await writeStandingPoll(tx, { ...record, seen: seen - gone, hasStale: record.hasStale && stale === goneMax });
}

function forget(tx: Executor, polled: Polled, seen: number): Promise<number> {
  const { record, forgetBefore, isTrimmed, atMs, programId } = polled;
  const of = { programId, generation: record.generation, limit: goneMax };
  if (forgetBefore !== undefined) return forgetStandingSeen(tx, { ...of, beforeMs: forgetBefore });
  if (!isTrimmed || seen < trimmedTo + goneMax) return Promise.resolve(0);
  return forgetStandingSeen(tx, { ...of, beforeMs: atMs - trimmedAfterMs });
}
