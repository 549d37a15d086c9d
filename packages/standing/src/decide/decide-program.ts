import { type JsonObject, type KeyId, readJsonObject, type Sealer } from "@svc/core";
import type { StandingPauseReason } from "@svc/db/schema/words";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import { decideBackfill, type SteppedBackfill } from "../backfill/decide.ts";
import type { Book } from "./decision-context.ts";
import type { Polled } from "../poll/store.ts";
import type { LoadedVersion } from "../versions.ts";
import type { StandingContext } from "../context.ts";
import {
  candidatesOf,
  type DueCandidate,
  isWanted,
  type PreparedFire,
  type PreparedPoll,
  type ProgramDue,
} from "../prepare/due.ts";
import type { Permits } from "./read-facts.ts";
import { inputPlace, StartsError } from "./errors.ts";

/** Ids that a program remembers at most. */
const seenMax = 100_000;

/** Why nothing of a program may start. */
type Held = Extract<StandingPauseReason, "key_revoked" | "approval" | "drift">;

/** What a pause is about, for people. */
const detailOf = {
  key_revoked: (keyId: KeyId) => `${keyId}, whose jobs its runs are, was revoked or has expired`,
  approval: () => "the project's policy has its plan wait for approval since it was made to stand",
} as const;

/** What came of calls, and of a backfill; undefined where that was not moved. */
export type DecidedCalls = {
  readonly called: readonly NewStandingRun[];
  readonly backfill: SteppedBackfill | undefined;
  /** Whether waiting runs were left that might start. */
  readonly isCut: boolean;
};

/** What may start at all, and how many of the runs that wait. */
type Rules = Permits & { readonly startsMax: number };

/** First what ended, then what waits, then what is new, and what is made up for at last. */
export function decideProgram(
  context: Pick<StandingContext, "sealer">,
  book: Book,
  due: ProgramDue,
  permits: Rules,
): DecidedCalls {
  book.skipped += due.late;
  countEnds(book, due);
  const held = holdOf(due, permits);
  if (held !== undefined && book.state !== "paused" && isAnythingDue(due))
    book.pause(held, held === "drift" ? (due.drifted ?? "") : detailOf[held](due.version.record.keyId));
  let isCut = false;
  if (book.state !== "paused") {
    for (const window of due.closing) trying(window.run, () => book.close(window));
    isCut = decideWaiting(context, book, due, permits);
  }
  if (due.fire !== undefined) decideFire(book, due.fire, held);
  decideEvents(book, due, held);
  if (due.poll !== undefined) decidePoll(book, due.poll, held);
  const mayCall = held === undefined && book.state === "active";
  const called = mayCall ? due.calls.map(({ occurrence }) => book.add(occurrence)) : [];
  book.pauseAfterFailures();
  const backfill = held === undefined && book.state !== "paused" ? stepBackfill(book, due) : undefined;
  return { called, backfill, isCut };
}

/** Tells of what fails which run it was: that waits, and keeps nobody from the others. */
function trying(run: StandingRunRecord, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw new StartsError([run], error);
  }
}

function stepBackfill(book: Book, { backfill }: ProgramDue): SteppedBackfill | undefined {
  if (backfill === undefined) return undefined;
  const waits = book.runs.queued.length;
  return decideBackfill(book, backfill, backfill.waiting + waits);
}

function countEnds(book: Book, { counted }: ProgramDue): void {
  for (const { jobStatus, pauseText } of counted) {
    if (pauseText !== "" && book.state === "active") book.pause("fail_step", pauseText);
    if (jobStatus === "succeeded") book.failuresInRow = 0;
    else if (jobStatus === "failed" || jobStatus === "expired") book.failuresInRow++;
  }
  book.pauseAfterFailures();
}

function holdOf({ program, version, drifted }: ProgramDue, permits: Permits): Held | undefined {
  if (!permits.isKeyUsable(version.record.keyId)) return "key_revoked";
  if (mayNotRun(version, { program }, permits)) return "approval";
  return drifted === undefined ? undefined : "drift";
}

/** Whether a version was not approved, and would have to be by the project's policy of today. */
function mayNotRun(version: LoadedVersion, { program }: Pick<ProgramDue, "program">, permits: Permits): boolean {
  return !version.record.needsApproval && permits.isHeldByPolicy(program, version);
}

function isAnythingDue(due: ProgramDue): boolean {
  const heard = due.events.map(({ candidate }) => candidate);
  return (
    due.waiting.length + due.closing.length + due.calls.length > 0 ||
    due.backfill !== undefined ||
    candidatesOf(due).some(isWanted) ||
    heard.some(isWanted)
  );
}

/** A run that waits keeps its version, which may be one that another took over from. Answers whether some were left. */
function decideWaiting(
  { sealer }: Pick<StandingContext, "sealer">,
  book: Book,
  due: ProgramDue,
  permits: Rules,
): boolean {
  for (const { run, version } of due.waiting) {
    const { keyId } = version.record;
    if (book.isHeldBack(run)) continue;
    if (book.starts.length >= permits.startsMax) return true;
    if (!permits.isKeyUsable(keyId)) book.decline(run, "key_revoked", detailOf.key_revoked(keyId));
    else if (mayNotRun(version, due, permits)) book.decline(run, "approval", detailOf.approval());
    else trying(run, () => book.admit(run, version, openInput(sealer, run)));
  }
  // Whoever stood behind one that is refused was not read, and no end of a job has it looked at.
  return book.declined.length > 0;
}

function decideFire(book: Book, { fired, candidates }: PreparedFire, held: Held | undefined): void {
  book.nextAt = fired.nextAt;
  if (fired.missed !== undefined) book.miss(fired.missed);
  for (const candidate of candidates) {
    book.missed += candidate.occurrence.missed;
    decideCandidate(book, candidate, held);
    book.previousAt = candidate.occurrence.fireAt;
  }
  if (book.nextAt === null && book.state === "active") book.state = "ended";
}

function decideEvents(book: Book, { events }: ProgramDue, held: Held | undefined): void {
  for (const { candidate, skipped } of events) {
    const { occurrence, version } = candidate;
    if (skipped !== undefined) book.skip(occurrence, skipped, version);
    else if (book.state === "paused" && held === undefined) book.skip(occurrence, "paused", version);
    else decideCandidate(book, candidate, held);
    book.pauseAfterFailures();
  }
}

/** Decides about what a poll found, and about what it means that it failed. */
function decidePoll(book: Book, { polled, candidates, seen, filtered }: PreparedPoll, held: Held | undefined): void {
  const { failures, nextAt, hold } = polled;
  book.nextAt = nextAt;
  if (hold !== undefined) {
    if (book.state === "active") book.pause(hold.reason, hold.detail);
    return;
  }
  book.seen += seen - candidates.length;
  book.filtered += filtered;
  // Polls that fail in a row count beside jobs, until one goes well.
  book.failuresInRow = Math.max(0, book.failuresInRow + failures.now - failures.before);
  for (const candidate of candidates) decideCandidate(book, candidate, held);
  book.pauseAfterFailures();
  const ids = seenAfter(polled);
  if (ids < seenMax || book.state !== "active") return;
  book.pause("source_gone", `the ids of ${ids} rows are remembered, and no more than ${seenMax} can be`);
}

/** Decides about something that is due: `when` first, then what keeps the program from starting anything, then its policies. */
function decideCandidate(book: Book, { occurrence, version, filtered }: DueCandidate, held: Held | undefined): void {
  book.seen++;
  if ("error" in filtered) book.refuse(occurrence, filtered.reason, filtered.error, version);
  else if (!filtered.isDue) book.filtered++;
  else if (held !== undefined) book.refuse(occurrence, held, "", version);
  else book.add(occurrence, version);
}

/** How many ids are remembered once a poll is written, those apart that are forgotten with it. */
function seenAfter({ record, unknown }: Pick<Polled, "record" | "unknown">): number {
  return record.seen + unknown;
}

/** What a caller gave; undefined where the definition makes the input. */
function openInput(
  sealer: Sealer,
  { id, projectId, input }: Pick<StandingRunRecord, "id" | "projectId" | "input">,
): JsonObject | undefined {
  if (input === null) return undefined;
  return readJsonObject(sealer.open(input, inputPlace(projectId, id)).toString("utf8"), "the input of a run");
}
