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
import type { FoundRow, RememberedRow } from "./scanned-rows.ts";
import { dayMs, type PollState, parsePollState } from "./state.ts";

/** The result of a poll, which one transaction decides and writes. */
export type FinishedPoll = {
  readonly task: ClaimedDueTask;
  readonly programId: StandingProgramId;
  /** The version that was polled for. The poll is ignored if the program has another version by now. */
  readonly loaded: LoadedVersion;
  readonly per: "poll" | "row";
  /** When the poll began, epoch milliseconds. */
  readonly atMs: number;
  readonly nextAt: number;
  readonly found: readonly FoundRow[];
  readonly remembered: readonly RememberedRow[];
  /** Number of unknown ids among them. */
  readonly unknown: number;
  readonly refreshed: readonly string[];
  readonly forgetBefore: number | undefined;
  /** True if the least recently scanned ids may be forgotten when there are many. */
  readonly isTrimmed: boolean;
  /** The row to write, without the new count of remembered ids. */
  readonly record: StandingPollRecord;
  /** Failed polls in a row before this poll and after it. */
  readonly failures: { readonly before: number; readonly now: number };
  /** Why the program pauses: its key was revoked, or its tools have changed. Such a poll reads nothing, so no row is lost. */
  readonly hold: { readonly reason: "key_revoked" | "drift"; readonly detail: string } | undefined;
};

/** Maximum ids that one poll forgets, and that it removes of an earlier generation. */
const goneMax = 10_000;
/** Remembered ids of a list that is not walked as a whole. Ids are forgotten when there are `goneMax` more. */
const trimmedTo = 50_000;
/** Minimum age of forgotten ids, in milliseconds: longer than the overlap in which polls find late rows. */
const trimmedAfterMs = 8 * dayMs;

/** Writes the state and the ids of a poll, in the transaction that writes its runs. */
export async function storePoll(tx: Executor, polled: FinishedPoll): Promise<void> {
  const { record, remembered, refreshed, atMs, programId } = polled;
  const of = { programId, generation: record.generation, seenAt: atMs };
  const added = await rememberIds(tx, of, remembered);
  await refreshKnownIds(tx, of, refreshed);
  const seen = record.seen + added;
  const gone = await forget(tx, polled, seen);
  const stale = record.hasStale ? await removeStaleIds(tx, of, goneMax) : 0;
  await writeStandingPoll(tx, { ...record, seen: seen - gone, hasStale: record.hasStale && stale === goneMax });
}

function forget(tx: Executor, polled: FinishedPoll, seen: number): Promise<number> {
  const { record, forgetBefore, isTrimmed, atMs, programId } = polled;
  const of = { programId, generation: record.generation, limit: goneMax };
  if (forgetBefore !== undefined) return forgetKnownIds(tx, { ...of, beforeMs: forgetBefore });
  if (!isTrimmed || seen < trimmedTo + goneMax) return Promise.resolve(0);
  return forgetKnownIds(tx, { ...of, beforeMs: atMs - trimmedAfterMs });
}

type PollName = Pick<StandingPollRecord, "projectId" | "programId">;

function contextOf({ projectId, programId }: PollName): string {
  return `${projectId}/standing_polls/${programId}`;
}

/** Seals the state of polls for its row. */
export function sealPollState(sealer: Sealer, name: PollName, state: PollState): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(state), "utf8"), contextOf(name));
}

/** Opens the state of polls. */
export function openPollState(sealer: Sealer, poll: StandingPollRecord): PollState {
  return parsePollState(sealer.open(poll.state, contextOf(poll)).toString("utf8"));
}
