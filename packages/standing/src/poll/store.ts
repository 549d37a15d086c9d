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
  /** The version for which the poll ran. If the program has another version now, the poll is ignored. */
  readonly loaded: LoadedVersion;
  readonly per: "poll" | "row";
  /** When the poll began, epoch milliseconds. */
  readonly atMs: number;
  readonly nextAt: number;
  readonly found: readonly FoundRow[];
  readonly remembered: readonly RememberedRow[];
  /** Number of unknown ids among the remembered rows. */
  readonly unknown: number;
  readonly refreshed: readonly string[];
  readonly forgetBefore: number | undefined;
  /** True if ids may be forgotten when there are too many. The ids with the oldest scan go first. */
  readonly isTrimmed: boolean;
  /** The row to write. Its count of remembered ids is still the old one. */
  readonly record: StandingPollRecord;
  /** Failed polls in a row before this poll and after it. */
  readonly failures: { readonly before: number; readonly now: number };
  /** Why the program pauses: its key was revoked, or its tools changed. Such a poll reads nothing, so no row is lost. */
  readonly hold: { readonly reason: "key_revoked" | "drift"; readonly detail: string } | undefined;
};

/** Maximum ids that one poll deletes: ids that it forgets, and ids that an earlier state left. */
const goneMax = 10_000;
/** Number of ids that are kept for a list that is not read as a whole. Ids are forgotten when there are `goneMax` more. */
const trimmedTo = 50_000;
/** Minimum age of an id that is forgotten, in milliseconds. Longer than the overlap in which polls find late rows. */
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

/** Encrypts the state of polls for its row. */
export function sealPollState(sealer: Sealer, name: PollName, state: PollState): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(state), "utf8"), contextOf(name));
}

/** Decrypts the state of polls. */
export function openPollState(sealer: Sealer, poll: StandingPollRecord): PollState {
  return parsePollState(sealer.open(poll.state, contextOf(poll)).toString("utf8"));
}
