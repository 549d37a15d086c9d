import type { Sealer, StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { ClaimedDueTask } from "@svc/db/standing/claim";
import {
  forgetKnownIds,
  refreshKnownIds,
  rememberIds,
  removeStaleIds,
  type StandingPollRecord,
  writeStandingPoll,
} from "@svc/db/standing/polls";
import type { LoadedVersion } from "../versions.ts";
import type { FoundRow, SeenRow } from "./scanned-rows.ts";
import { type PollState, parsePollState } from "./state.ts";

/** What one poll came to, to be decided about and written in one transaction. */
export type Polled = {
  readonly task: ClaimedDueTask;
  readonly programId: StandingProgramId;
  /** The version that was polled for: with another one by then, nothing of it counts. */
  readonly loaded: LoadedVersion;
  readonly per: "poll" | "row";
  /** When it was polled. */
  readonly atMs: number;
  readonly nextAt: number;
  readonly found: readonly FoundRow[];
  readonly remembered: readonly SeenRow[];
  /** How many of these were unknown. */
  readonly unknown: number;
  readonly refreshed: readonly string[];
  readonly forgetBefore: number | undefined;
  /** Whether the ids that were not met for the longest time may be forgotten when there are many. */
  readonly isTrimmed: boolean;
  /** What is written, but for how many ids are remembered then. */
  readonly record: StandingPollRecord;
  /** Failed polls in a row before it, and with it. */
  readonly failures: { readonly before: number; readonly now: number };
  /** Why the program pauses: its key is gone, or its tools have changed. Nothing was read then, so that nothing is lost to it. */
  readonly hold: { readonly reason: "key_revoked" | "drift"; readonly detail: string } | undefined;
};

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
  const added = await rememberIds(tx, of, remembered);
  await refreshKnownIds(tx, of, refreshed);
  const seen = record.seen + added;
  const gone = await forget(tx, polled, seen);
  const stale = record.hasStale ? await removeStaleIds(tx, of, goneMax) : 0;
  await writeStandingPoll(tx, { ...record, seen: seen - gone, hasStale: record.hasStale && stale === goneMax });
}

function forget(tx: Executor, polled: Polled, seen: number): Promise<number> {
  const { record, forgetBefore, isTrimmed, atMs, programId } = polled;
  const of = { programId, generation: record.generation, limit: goneMax };
  if (forgetBefore !== undefined) return forgetKnownIds(tx, { ...of, beforeMs: forgetBefore });
  if (!isTrimmed || seen < trimmedTo + goneMax) return Promise.resolve(0);
  return forgetKnownIds(tx, { ...of, beforeMs: atMs - trimmedAfterMs });
}

type Place = Pick<StandingPollRecord, "projectId" | "programId">;

function placeOf({ projectId, programId }: Place): string {
  return `${projectId}/standing_polls/${programId}`;
}

/** Seals where polls stand, for their row. */
export function sealPollState(sealer: Sealer, place: Place, state: PollState): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(state), "utf8"), placeOf(place));
}

/** Opens where polls stand. */
export function openPollState(sealer: Sealer, poll: StandingPollRecord): PollState {
  return parsePollState(sealer.open(poll.state, placeOf(poll)).toString("utf8"));
}
