import { createHash } from "node:crypto";
import { beginSpan, isTraced, type StandingProgramId, spanned } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { insertJobsWithinQuota } from "@svc/db/jobs/insert-batch";
import type { NewJob } from "@svc/db/jobs/new-job";
import type { Restore } from "@svc/db/restores/repo";
import { addStandingUsage, writeStandingRates } from "@svc/db/standing/bounds";
import { readStandingWakes } from "@svc/db/standing/concurrency-keys";
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
import type { StandingContext } from "../context.ts";
import type { DecidedBatch, DecidedProgram } from "../decide/decide.ts";
import { StartsError } from "../decide/errors.ts";
import type { StartedRun } from "../decide/occurrence.ts";
import { windowChangeOf } from "../decide/windows.ts";
import { unsubscribe } from "../programs/activate.ts";
import { dayOf } from "../schedule/catch-up.ts";
import type { DecisionBatch, PreparedDecision } from "../sources/source.ts";
import { decisionSpan, readCauses } from "./causes.ts";
import { publishScheduleEvents } from "./publish-events.ts";

/** If the job of a run exceeded the project's quota, svc tries the run again after this pause, in milliseconds. */
const quotaRetryMs = 10_000;
/** If other runs prevent waiting runs from starting, svc checks the waiting runs again after this pause, in milliseconds. */
const recheckMs = 5_000;
/** If a collect window has ended but lacks some of its events, svc checks the window again after this pause, in milliseconds. */
const windowRecheckMs = 500;

/**
 * Writes the decisions about a batch of due schedules: runs, their jobs, counts of the schedules, next due times, and operational events.
 * Returns true if there are events to deliver.
 */
export async function storeBatch(
  context: StandingContext,
  tx: Executor,
  {
    decided,
    held,
    sources,
    delayMs,
  }: DecidedBatch & Pick<PreparedDecision, "sources"> & Pick<DecisionBatch, "delayMs">,
): Promise<{ readonly hasDeliveries: boolean }> {
  const nowMs = context.clock.now();
  await storeStarts(context, tx, decided, delayMs);
  const newRuns = await withoutMerged(tx, decided);
  await storeWindows(tx, decided);
  const outcomes = decided.flatMap((program) => program.outcomes);
  for (const outcome of outcomes) await outcome.beforeRuns?.(tx);
  await insertStandingRuns(tx, newRuns);
  await changeStandingRuns(
    tx,
    decided.flatMap(({ decisions }) => decisions.runs.changes),
  );
  await writeStandingRates(
    tx,
    decided.flatMap(({ program: { id: programId }, decisions }) =>
      [...decisions.rates].map(([key, at]) => ({ programId, key, at })),
    ),
  );
  await addStandingUsage(
    tx,
    decided.flatMap((one) => usageOf(one, nowMs)),
  );
  await changeStandingPrograms(
    tx,
    decided.map(({ program, decisions }) => ({
      id: program.id,
      state: decisions.state,
      pauseReason: decisions.pauseReason,
      pauseDetail: decisions.pauseDetail,
      nextAt: decisions.nextAt,
      previousAt: decisions.previousAt,
      started: program.started + decisions.started,
      skipped: program.skipped + decisions.skipped,
      missed: program.missed + decisions.missed,
      seen: program.seen + decisions.seen,
      filtered: program.filtered + decisions.filtered,
      failuresInRow: decisions.failuresInRow,
      updatedAt: nowMs,
    })),
  );
  for (const { program, decisions } of decided) {
    const isPausedNow = decisions.state === "paused" && program.state !== "paused";
    if (isPausedNow) await unsubscribe(tx, program, { reason: "paused", nowMs });
  }
  for (const source of sources) await source.end?.(tx);
  for (const outcome of outcomes) await outcome.afterRuns?.(tx);
  await settleTasks(tx, { decided, held }, nowMs);
  return { hasDeliveries: await publishScheduleEvents(context, tx, decided) };
}

/**
 * Writes windows (times in which events are collected for one run). Windows that close are written first, because a key can have only one
 * open window.
 */
async function storeWindows(tx: Executor, decided: readonly DecidedProgram[]): Promise<void> {
  await changeStandingWindows(
    tx,
    decided.flatMap(({ decisions }) => [
      ...decisions.windows.changes(),
      ...[...decisions.runs.closed.values()].map(windowChangeOf),
    ]),
  );
  await insertStandingRuns(
    tx,
    decided.flatMap(({ decisions }) => decisions.windows.begun()),
  );
  await insertStandingRunEvents(
    tx,
    decided.flatMap(({ decisions }) => decisions.windows.events),
  );
  await writeKnownKeys(
    tx,
    decided.flatMap(({ program: { id: programId }, decisions }) =>
      [...decisions.knownKeys].map(([key, until]) => ({ programId, key, until })),
    ),
  );
}

/** Stores the jobs of runs that start. Throws StartsError if a job cannot be stored. */
async function storeStarts(
  context: StandingContext,
  tx: Executor,
  decided: readonly DecidedProgram[],
  delayMs: DecisionBatch["delayMs"],
): Promise<void> {
  try {
    await storeJobs(context, tx, decided, delayMs);
  } catch (error) {
    const runs = decided.flatMap(({ decisions }) => decisions.starts.map(({ run }) => run));
    throw isUnavailable(error) || runs.length === 0 ? error : new StartsError(runs, error);
  }
}

/** Creates the jobs of runs that start. Stores the jobs that fit into their projects' quotas. Runs whose jobs do not fit must wait. */
async function storeJobs(
  context: StandingContext,
  tx: Executor,
  decided: readonly DecidedProgram[],
  delayMs: DecisionBatch["delayMs"],
): Promise<void> {
  const nowMs = context.clock.now();
  const made: { readonly job: NewJob; readonly start: StartedRun; readonly of: DecidedProgram }[] = [];
  const runs = decided.flatMap(({ decisions }) => decisions.starts.map(({ run }) => run));
  const causes = isTraced() ? await readCauses(tx, runs) : undefined;
  for (const of of decided) {
    for (const start of of.decisions.starts) {
      const waitMs = delayMs?.get(of.program.projectId) ?? 0;
      const span = beginSpan(decisionSpan, { run: start.run, causes: causes?.get(start.run.id) ?? [] });
      // The job keeps the span in which it is made, and continues its trace.
      const job = await spanned(span, () => makeJob(context, tx, of, { ...start, waitMs }));
      made.push({ job, start, of });
    }
  }
  const without = await insertJobsWithinQuota(
    tx,
    made.map(({ job }) => job),
    nowMs,
  );
  for (const { job, start, of } of made) {
    if (without.has(job.job.id)) of.decisions.putBack(start, nowMs + quotaRetryMs);
    else await job.also?.(tx);
  }
}

function makeJob(
  { clock, starter, restored }: StandingContext,
  tx: Executor,
  { program: { id: programId, projectId, binding } }: DecidedProgram,
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

/**
 * Returns the time at which the restored backup ends (epoch milliseconds), if the original database may have started this run already.
 * Returns null otherwise.
 */
function doubtedFrom(restore: Restore | undefined, { fireAt }: StartedRun["run"]): number | null {
  if (restore === undefined || restore.isNothingSince || restore.resumedAt === null) return null;
  return fireAt < restore.resumedAt ? restore.backupEndsAt : null;
}

/**
 * Returns a seed from which the idempotency keys of a job's calls are made. Two jobs for the same cause (for example the same event) get
 * the same seed. Therefore apps recognize repeated writes even if svc was restored from a backup that does not contain the first run.
 */
function callSeedOf(programId: StandingProgramId, { version, sourceKey }: StartedRun["run"]): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([programId, version, sourceKey]))
    .digest();
}

/**
 * Returns the new runs of a batch that must be stored. A skipped run is left out if the program's newest stored run was skipped for the
 * same reason; the count of that stored run grows instead.
 */
async function withoutMerged(tx: Executor, decided: readonly DecidedProgram[]): Promise<NewStandingRun[]> {
  const firsts = decided
    .flatMap(({ decisions }) => decisions.runs.added.slice(0, 1))
    .filter(({ state }) => state === "skipped");
  const merged = await mergeSkippedStandingRuns(
    tx,
    firsts.map(({ programId, reason, lane, fireAt, lastAt, count }) => {
      return { programId, reason, lane, at: lastAt ?? fireAt, more: count };
    }),
  );
  const gone = new Set(firsts.filter((_, place) => merged.has(place)).map(({ id }) => id));
  return decided.flatMap(({ decisions }) => decisions.runs.added.filter(({ id }) => !gone.has(id)));
}

function usageOf({ program: { id: programId }, version, decisions, counted }: DecidedProgram, nowMs: number) {
  const { timeZone } = version.definition;
  const days = new Map<string, { runs: number; toolCalls: number; writes: number }>();
  const at = (day: string) => {
    const known = days.get(day) ?? { runs: 0, toolCalls: 0, writes: 0 };
    days.set(day, known);
    return known;
  };
  if (decisions.started > 0) at(dayOf(nowMs, timeZone)).runs += decisions.started;
  for (const { endedAt, toolCalls, writes } of counted) {
    const day = at(dayOf(endedAt, timeZone));
    day.toolCalls += toolCalls;
    day.writes += writes;
  }
  return [...days].map(([day, used]) => ({ programId, day, ...used }));
}

/** Deletes tasks of deleted and paused programs. Sets the next due time of all other tasks, or deletes those that have none. */
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
    const isInactive = of === undefined || of.decisions.state === "paused";
    const dueAt =
      task.kind === "close"
        ? closeTimeOf(closes.get(task.ownerId), nowMs)
        : task.kind === "admit"
          ? wakes.get(task.ownerId)
          : of?.outcomes.find((outcome) => outcome.task === task.kind)?.dueAt;
    if (isInactive || dueAt === null || dueAt === undefined) ended.push(task);
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

/**
 * Returns when svc must next check if a run that collects events can start. If svc has not yet decided about some of the events, the check
 * comes soon, because the decision about them does not trigger a check.
 */
function closeTimeOf(next: NextClose | undefined, nowMs: number): number | undefined {
  return next?.isHeld === true ? Math.max(next.at, nowMs + windowRecheckMs) : next?.at;
}

/**
 * Returns the time at which the waiting runs of each program must be checked again. Only programs whose waiting runs were checked in this
 * transaction are included.
 */
async function wakeTimesOf(
  tx: Executor,
  decided: readonly DecidedProgram[],
  nowMs: number,
): Promise<Map<string, number>> {
  const admitted = decided.filter(({ isAdmitted, decisions }) => isAdmitted && decisions.state !== "paused");
  const times = new Map<string, number>();
  if (admitted.length === 0) return times;
  const ids = admitted.map(({ program }) => program.id);
  const wakes = new Map((await readStandingWakes(tx, ids, nowMs)).map((one) => [one.programId, one]));
  for (const { program, version, hasMore } of admitted) {
    const { queueForMs } = version.definition.overlap;
    const { nextNotBefore = null, hasReady = false, oldestDecidedAt = null } = wakes.get(program.id) ?? {};
    const all = [
      ...(nextNotBefore === null ? [] : [nextNotBefore]),
      ...(hasReady ? [nowMs + recheckMs] : []),
      ...(oldestDecidedAt === null ? [] : [Math.max(oldestDecidedAt + queueForMs + 1, nowMs + recheckMs)]),
    ];
    if (hasMore) all.push(nowMs);
    if (all.length > 0) times.set(program.id, Math.min(...all));
  }
  return times;
}

function tasksOf(
  { program: { id: ownerId, projectId }, version, decisions }: DecidedProgram,
  isAdmitHeld: boolean,
  nowMs: number,
): NewDueTask[] {
  const task = { ownerId, projectId, subject: "" };
  const queued = decisions.runs.queued;
  const lateAt = nowMs + version.definition.overlap.queueForMs + 1;
  const closeAt = decisions.windows.checkAt(nowMs, windowRecheckMs);
  const admitAt = queued.length === 0 ? undefined : Math.min(decisions.wakeAt ?? lateAt, lateAt);
  return [
    ...(admitAt === undefined || isAdmitHeld ? [] : [{ ...task, kind: "admit" as const, dueAt: admitAt }]),
    ...(closeAt === undefined ? [] : [{ ...task, kind: "close" as const, dueAt: closeAt }]),
    ...decisions.cancels.map((jobId) => ({ ...task, kind: "cancel" as const, subject: jobId, dueAt: nowMs })),
  ];
}
