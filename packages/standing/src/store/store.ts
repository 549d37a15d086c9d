import { createHash } from "node:crypto";
import type { StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { insertJobsWithinQuota } from "@svc/db/jobs/insert-batch";
import type { NewJob } from "@svc/db/jobs/new-job";
import type { Restore } from "@svc/db/restores/repo";
import { moveBackfill, renameSourceRuns } from "@svc/db/standing/backfills";
import { addStandingUsage, writeStandingRates } from "@svc/db/standing/bounds";
import { readStandingWakes } from "@svc/db/standing/concurrency-keys";
import { deleteFromInbox } from "@svc/db/standing/inbox";
import { changeStandingPrograms } from "@svc/db/standing/programs";
import {
  changeStandingRuns,
  insertStandingRuns,
  mergeSkippedStandingRuns,
  type NewStandingRun,
} from "@svc/db/standing/runs";
import {
  type DueTaskLease,
  type DueTaskMove,
  deleteDueTasks,
  moveDueTasks,
  type NewDueTask,
  putDueTasks,
} from "@svc/db/standing/task";
import {
  changeStandingWindows,
  insertStandingRunEvents,
  type NextClose,
  nextStandingCloses,
  writeKnownKeys,
} from "@svc/db/standing/windows";
import type { StartedRun } from "../decide/occurrence.ts";
import { windowChangeOf } from "../decide/windows.ts";
import { storePoll } from "../poll/store.ts";
import { stopListening } from "../programs/activate.ts";
import { dayOf } from "../schedule/catch-up.ts";
import type { Decided, DecidedBatch } from "../decide/decide-batch.ts";
import type { StandingContext } from "../context.ts";
import type { DecisionBatch } from "../prepare/due.ts";
import { storeNotices } from "./notices.ts";
import { StartsError } from "../decide/errors.ts";

/** When a run whose job found no room in the project's quota is tried again. */
const quotaRetryMs = 10_000;
/** Between two looks at runs that could have started by their time, and that others keep from it. */
const lookAgainMs = 5_000;
/** Between two looks at a window whose time is over while its events are not decided about. */
const heldAgainMs = 500;

/** Writes what was decided in a batch: runs, their jobs, what programs count, when what is due again, and what people are told of. */
export async function storeBatch(
  context: StandingContext,
  tx: Executor,
  { decided, held, heard, behindMs }: DecidedBatch & Pick<DecisionBatch, "behindMs">,
): Promise<{ readonly hasNotices: boolean }> {
  const nowMs = context.clock.now();
  await storeStarts(context, tx, decided, behindMs);
  const newRuns = await withoutMerged(tx, decided);
  await storeWindows(tx, decided);
  const stepped = decided.flatMap(({ backfill }) => backfill ?? []);
  await renameSourceRuns(
    tx,
    stepped.flatMap(({ renamed }) => renamed),
  );
  await insertStandingRuns(tx, newRuns);
  await changeStandingRuns(
    tx,
    decided.flatMap(({ book }) => book.runs.changes),
  );
  await writeStandingRates(
    tx,
    decided.flatMap(({ program: { id: programId }, book }) =>
      [...book.rates].map(([key, at]) => ({ programId, key, at })),
    ),
  );
  await addStandingUsage(
    tx,
    decided.flatMap((one) => usageOf(one, nowMs)),
  );
  await changeStandingPrograms(
    tx,
    decided.map(({ program, book }) => ({
      id: program.id,
      state: book.state,
      pauseReason: book.pauseReason,
      pauseDetail: book.pauseDetail,
      nextAt: book.nextAt,
      previousAt: book.previousAt,
      started: program.started + book.started,
      skipped: program.skipped + book.skipped,
      missed: program.missed + book.missed,
      seen: program.seen + book.seen,
      filtered: program.filtered + book.filtered,
      failuresInRow: book.failuresInRow,
      updatedAt: nowMs,
    })),
  );
  for (const { program, book } of decided) {
    const isPausedNow = book.state === "paused" && program.state !== "paused";
    if (isPausedNow) await stopListening(tx, program, { reason: "paused", nowMs });
  }
  await deleteFromInbox(tx, heard);
  for (const { move } of stepped) await moveBackfill(tx, move);
  for (const { polled } of decided) if (polled !== undefined) await storePoll(tx, polled);
  await settleTasks(tx, { decided, held }, nowMs);
  return { hasNotices: await storeNotices(context, tx, decided) };
}

/** Windows that end make place for those that begin with the same key. */
async function storeWindows(tx: Executor, decided: readonly Decided[]): Promise<void> {
  await changeStandingWindows(
    tx,
    decided.flatMap(({ book }) => [...book.windows.changes(), ...[...book.runs.closed.values()].map(windowChangeOf)]),
  );
  await insertStandingRuns(
    tx,
    decided.flatMap(({ book }) => book.windows.begun()),
  );
  await insertStandingRunEvents(
    tx,
    decided.flatMap(({ book }) => book.windows.events),
  );
  await writeKnownKeys(
    tx,
    decided.flatMap(({ program: { id: programId }, book }) =>
      [...book.seenKeys].map(([key, until]) => ({ programId, key, until })),
    ),
  );
}

/** Stores the jobs of what starts. Throws StartsError where that fails. */
async function storeStarts(
  context: StandingContext,
  tx: Executor,
  decided: readonly Decided[],
  behindMs: DecisionBatch["behindMs"],
): Promise<void> {
  try {
    await storeJobs(context, tx, decided, behindMs);
  } catch (error) {
    const runs = decided.flatMap(({ book }) => book.starts.map(({ run }) => run));
    throw isUnavailable(error) || runs.length === 0 ? error : new StartsError(runs, error);
  }
}

/** Makes the jobs of what starts, and stores them as far as their projects' quotas go. */
async function storeJobs(
  context: StandingContext,
  tx: Executor,
  decided: readonly Decided[],
  behindMs: DecisionBatch["behindMs"],
): Promise<void> {
  const nowMs = context.clock.now();
  const made: { readonly job: NewJob; readonly start: StartedRun; readonly of: Decided }[] = [];
  for (const of of decided) {
    for (const start of of.book.starts) {
      const waitMs = behindMs?.get(of.program.projectId) ?? 0;
      made.push({ job: await makeJob(context, tx, of, { ...start, waitMs }), start, of });
    }
  }
  const without = await insertJobsWithinQuota(
    tx,
    made.map(({ job }) => job),
    nowMs,
  );
  for (const { job, start, of } of made) {
    if (without.has(job.job.id)) of.book.putBack(start, nowMs + quotaRetryMs);
    else await job.also?.(tx);
  }
}

function makeJob(
  { clock, starter, restored }: StandingContext,
  tx: Executor,
  { program: { id: programId, projectId, binding } }: Decided,
  { run, jobId, version, input, waitMs }: StartedRun & { readonly waitMs: number },
): Promise<NewJob> {
  const { keyId, programHash, programDigest, estimate, approvalId } = version.record;
  const nowMs = clock.now();
  const callers = run.callerKeyId === null || run.callerKeyId === undefined ? [] : [`key:${run.callerKeyId}`];
  return starter.make(tx, {
    id: jobId,
    projectId,
    keyId,
    binding,
    principalChain: [...new Set([...callers, `key:${keyId}`]), `standing:${programId}`],
    program: version.program,
    programHash,
    digest: programDigest,
    estimate,
    grantedId: approvalId,
    input,
    standing: {
      ...{ programId, runId: run.id, callSeed: callSeedOf(programId, run) },
      restoredFrom: doubtedFrom(restored?.(), run),
    },
    nowMs,
    beginAtMs: nowMs + waitMs,
  });
}

/** The store that a backup was taken of may have started what was due before this one was resumed. */
function doubtedFrom(restore: Restore | undefined, { fireAt }: StartedRun["run"]): number | null {
  if (restore === undefined || restore.isNothingSince || restore.resumedAt === null) return null;
  return fireAt < restore.resumedAt ? restore.backupEndsAt : null;
}

/** The same for every job of one occurrence, also where a restored backup has forgotten that it was started. */
function callSeedOf(programId: StandingProgramId, { version, sourceKey }: StartedRun["run"]): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([programId, version, sourceKey]))
    .digest();
}

/** The new runs of a batch, but for one that is left out like the program's newest: that one stands for it too. */
async function withoutMerged(tx: Executor, decided: readonly Decided[]): Promise<NewStandingRun[]> {
  const firsts = decided.flatMap(({ book }) => book.runs.added.slice(0, 1)).filter(({ state }) => state === "skipped");
  const merged = await mergeSkippedStandingRuns(
    tx,
    firsts.map(({ programId, reason, lane, fireAt, lastAt, count }) => {
      return { programId, reason, lane, at: lastAt ?? fireAt, more: count };
    }),
  );
  const gone = new Set(firsts.filter((_, place) => merged.has(place)).map(({ id }) => id));
  return decided.flatMap(({ book }) => book.runs.added.filter(({ id }) => !gone.has(id)));
}

function usageOf({ program: { id: programId }, version, book, counted }: Decided, nowMs: number) {
  const { timeZone } = version.definition;
  const days = new Map<string, { runs: number; toolCalls: number; writes: number }>();
  const at = (day: string) => {
    const known = days.get(day) ?? { runs: 0, toolCalls: 0, writes: 0 };
    days.set(day, known);
    return known;
  };
  if (book.started > 0) at(dayOf(nowMs, timeZone)).runs += book.started;
  for (const { endedAt, toolCalls, writes } of counted) {
    const day = at(dayOf(endedAt, timeZone));
    day.toolCalls += toolCalls;
    day.writes += writes;
  }
  return [...days].map(([day, used]) => ({ programId, day, ...used }));
}

/** Tasks of programs that are gone or stand still end; the others are moved to when they are due again. */
async function settleTasks(
  tx: Executor,
  { decided, held }: Pick<DecidedBatch, "decided" | "held">,
  nowMs: number,
): Promise<void> {
  const byId = new Map(decided.map((one) => [one.program.id, one]));
  const wakes = await wakeTimesOf(tx, decided, nowMs);
  const closes = await nextStandingCloses(
    tx,
    held.flatMap(({ kind, ownerId }) => (kind === "close" ? [ownerId] : [])),
  );
  const ended: DueTaskLease[] = [];
  const moved: DueTaskMove[] = [];
  for (const task of held) {
    if (task.kind === "cancel" || task.kind === "replay") continue;
    const of = byId.get(task.ownerId);
    const isStill = of === undefined || of.book.state === "paused";
    const times = {
      fire: of?.fired?.dueAt,
      poll: of?.polled?.nextAt,
      close: closeTimeOf(closes.get(task.ownerId), nowMs),
      admit: wakes.get(task.ownerId),
      backfill: of?.backfill?.dueAt,
    };
    const dueAt = times[task.kind];
    if (isStill || dueAt === null || dueAt === undefined) ended.push(task);
    else moved.push({ ...task, dueAt });
  }
  await deleteDueTasks(tx, ended);
  await moveDueTasks(tx, moved);
  const isHeld = new Set(held.filter(({ kind }) => kind === "admit").map(({ ownerId }) => ownerId));
  await putDueTasks(
    tx,
    decided.flatMap((one) => tasksOf(one, isHeld.has(one.program.id), nowMs)),
  );
}

/** A window that waits for events is looked at again soon: nobody tells when they are decided about. */
function closeTimeOf(next: NextClose | undefined, nowMs: number): number | undefined {
  return next?.isHeld === true ? Math.max(next.at, nowMs + heldAgainMs) : next?.at;
}

/** When waiting runs of programs whose `admit` was due are to be looked at again. */
async function wakeTimesOf(tx: Executor, decided: readonly Decided[], nowMs: number): Promise<Map<string, number>> {
  const admitted = decided.filter(({ isAdmitted, book }) => isAdmitted && book.state !== "paused");
  const times = new Map<string, number>();
  if (admitted.length === 0) return times;
  const ids = admitted.map(({ program }) => program.id);
  const wakes = new Map((await readStandingWakes(tx, ids, nowMs)).map((one) => [one.programId, one]));
  for (const { program, version, hasMore } of admitted) {
    const { queueForMs } = version.definition.overlap;
    const { nextNotBefore = null, hasReady = false, oldestDecidedAt = null } = wakes.get(program.id) ?? {};
    const all = [
      ...(nextNotBefore === null ? [] : [nextNotBefore]),
      ...(hasReady ? [nowMs + lookAgainMs] : []),
      ...(oldestDecidedAt === null ? [] : [Math.max(oldestDecidedAt + queueForMs + 1, nowMs + lookAgainMs)]),
    ];
    if (hasMore) all.push(nowMs);
    if (all.length > 0) times.set(program.id, Math.min(...all));
  }
  return times;
}

function tasksOf(
  { program: { id: ownerId, projectId }, version, book }: Decided,
  isAdmitHeld: boolean,
  nowMs: number,
): NewDueTask[] {
  const task = { ownerId, projectId, subject: "" };
  const queued = book.runs.queued;
  const lateAt = nowMs + version.definition.overlap.queueForMs + 1;
  const closeAt = book.windows.lookAt(nowMs, heldAgainMs);
  const admitAt = queued.length === 0 ? undefined : Math.min(book.wakeAt ?? lateAt, lateAt);
  return [
    ...(admitAt === undefined || isAdmitHeld ? [] : [{ ...task, kind: "admit" as const, dueAt: admitAt }]),
    ...(closeAt === undefined ? [] : [{ ...task, kind: "close" as const, dueAt: closeAt }]),
    ...book.cancels.map((jobId) => ({ ...task, kind: "cancel" as const, subject: jobId, dueAt: nowMs })),
  ];
}
