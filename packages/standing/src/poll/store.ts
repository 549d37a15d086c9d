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

/**
 * The result of one poll of a list for new rows. One transaction decides which runs start from it, and stores these runs together with the
 * poll's new state.
 */
export type FinishedPoll = {
  readonly task: ClaimedDueTask;
  readonly programId: StandingProgramId;
  /** The version for which the poll ran. If the program has a newer version now, the result of this poll is ignored. */
  readonly loaded: LoadedVersion;
  readonly per: "poll" | "row";
  /** When the poll began, epoch milliseconds. */
  readonly atMs: number;
  readonly nextAt: number;
  readonly found: readonly FoundRow[];
  readonly remembered: readonly RememberedRow[];
  /** Number of ids in `remembered` that are new. The other ids in `remembered` belong to known rows that have changed. */
  readonly unknown: number;
  readonly refreshed: readonly string[];
  readonly forgetBefore: number | undefined;
  /**
   * True if svc forgets ids of known rows when too many are stored. It forgets the ids that the poll has not found for the longest time
   * first. False if svc keeps all ids.
   */
  readonly isTrimmed: boolean;
  /** The row about the program's polls that is to be stored. Its count of known row ids does not include this poll yet. */
  readonly record: StandingPollRecord;
  /** Number of failed polls in a row: `before` this poll, and `now` (with this poll). */
  readonly failures: { readonly before: number; readonly now: number };
  /**
   * The reason why the schedule must pause: its key was revoked (`key_revoked`), or its tools changed (`drift`). The poll of its list was
   * then not made, so no row is lost. Undefined if the schedule need not pause.
   */
  readonly hold: { readonly reason: "key_revoked" | "drift"; readonly detail: string } | undefined;
};

/** Maximum number of remembered row ids that svc deletes at once after a poll. */
const goneMax = 10_000;
/**
 * Number of row ids that remain stored after a cleanup, for a program whose polls never read the list to the end. If `goneMax` more ids
 * than this are stored, svc deletes the oldest ones.
 */
const trimmedTo = 50_000;
/** Time in milliseconds. If too many row ids are stored, svc deletes only ids that no poll has found for this time. */
const trimmedAfterMs = 8 * dayMs;

/** Stores the state of a program's polls and the ids of the found rows. Runs in the transaction that stores the runs for these rows. */
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
  // This age is longer than the time that each poll reads again to find late rows. So svc still knows the ids of those rows.
  return forgetKnownIds(tx, { ...of, beforeMs: atMs - trimmedAfterMs });
}

type PollName = Pick<StandingPollRecord, "projectId" | "programId">;

function contextOf({ projectId, programId }: PollName): string {
  return `${projectId}/standing_polls/${programId}`;
}

/** Encrypts the state of a program's polls, such as the position in the polled list and the known row ids. Returns it as it is stored. */
export function sealPollState(sealer: Sealer, name: PollName, state: PollState): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(state), "utf8"), contextOf(name));
}

/** Returns the decrypted state of a schedule's polls, such as the position up to which the list was read. */
export function openPollState(sealer: Sealer, poll: StandingPollRecord): PollState {
  return parsePollState(sealer.open(poll.state, contextOf(poll)).toString("utf8"));
}
