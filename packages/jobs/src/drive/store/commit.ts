import { type Failure, jobFailure, parseId } from "@svc/core";
import { afterCommit, type Executor } from "@svc/db/connect";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import { insertChildJobs } from "@svc/db/jobs/children";
import { commitRun, type RunChange } from "@svc/db/jobs/commit";
import type { RunLease } from "@svc/db/jobs/commit-job";
import { loadJob } from "@svc/db/jobs/load";
import { setJobRowStates } from "@svc/db/jobs/rows";
import { writeJobUndo } from "@svc/db/jobs/undo";
import { type EndedStandingRun, endStandingRun } from "@svc/db/standing/end";
import { committedWork, type WorkingJob } from "../../state/apply.ts";
import { stepOf } from "../../state/flow.ts";
import { type JobState, overridesOf } from "../../state/job.ts";
import { sealProgress } from "../../state/stored-progress.ts";
import type { DryRunEnd, EngineContext } from "../context.ts";
import type { EndedJob, EngineObserver } from "../observer.ts";
import { type CommitParts, type CommittedWork, LeaseLostError, type Port } from "../port.ts";
import { isHoldReason } from "../schedule/park.ts";
import { childJob } from "../start/child-job.ts";
import { type FailedJob, publishFailure } from "./publish-failure.ts";
import { sealRows } from "./row-blocks.ts";
import type { JobSeals } from "./seals.ts";
import { saveRecords } from "./stored-program.ts";

/** The functions and values that commits of one job need, such as the database, the lease, and the encryption. */
export type CommitContext = {
  readonly context: EngineContext;
  readonly lease: RunLease;
  readonly seals: JobSeals;
  readonly db: Executor;
  /** Called after each commit of the job's changes that succeeded. */
  readonly onCommitted?: (() => void) | undefined;
};

/**
 * Functions that commit a job's changes if the driver (the loop that runs the job's steps) still holds the job's lease (time-limited right
 * to write). `commit` can run in a transaction of the caller.
 */
export type Commits = Pick<Port, "commitUnlessLogged"> & {
  commit(work: WorkingJob, parts: CommitParts, tx?: Executor): Promise<CommittedWork>;
};

/** Returns the functions that commit the changes of one job under its lease (the time in which only this node may work on it). */
export function createCommit({ context, lease, seals, db, onCommitted }: CommitContext): Commits {
  const { clock, observer, onFaultPoint, onDue, onMoved } = context;
  const write = async (work: WorkingJob, parts: CommitParts, tx: Executor, expectedSeq: number | undefined) => {
    const { state, committed: before, pending } = work;
    const { task, receipt } = parts;
    const ended = receipt && endedJob(state, receipt);
    const at = { stepId: state.undo?.stepId ?? state.positions[0]?.progress?.stepId ?? "" };
    await onFaultPoint?.("before-commit", at);
    const change = changeOf(work, parts, seals, context);
    const nowMs = clock.now();
    const found = await commitRun(tx, lease, change, {
      nowMs,
      seesCancel: state.cancel !== undefined,
      seesPause: state.pause !== undefined,
      expectedSeq,
    }).catch(async (error: unknown) => {
      // The failed commit is not repeated, so the outcomes of its calls are recorded separately. Inside a transaction, the code does not
      // wait for this record: it needs a second connection, and transactions that all wait for one would block each other.
      const recorded = keepCalls(context, pending);
      if (tx === context.db) await recorded;
      throw error;
    });
    if (found === undefined) {
      if (expectedSeq !== undefined) return undefined;
      const isHeld = isHoldReason((await loadJob(tx, state.id))?.park?.reason);
      const recorded = keepCalls(context, pending).then(() =>
        observer.leaseLost(state.id, isHeld ? "parked" : "taken-over"),
      );
      if (tx === context.db) await recorded;
      throw new LeaseLostError(`the lease of ${state.id} was lost`, recorded);
    }
    if (before.park !== state.park && state.park?.before !== undefined) afterCommit(tx, tellOfHold, observer, state);
    if (before.status !== state.status && onMoved !== undefined)
      afterCommit(tx, onMoved, state.id, receipt && { state, receipt, atMs: nowMs });
    if (ended !== undefined) afterCommit(tx, observer.ended, ended, failureOf(state, nowMs));
    onCommitted?.();
    if (pending.tasks.length + pending.children.length + pending.retried.length > 0) afterCommit(tx, onDue, 0);
    if (typeof task === "object") afterCommit(tx, onDue, task.dueAtMs);
    await onFaultPoint?.("after-commit", at);
    const { cancelRequestedAt, cancelChain, pausedAt, pauseChain } = found;
    const { principalChain } = state;
    const cancel =
      cancelRequestedAt === null ? undefined : { atMs: cancelRequestedAt, chain: cancelChain ?? principalChain };
    const pause = pausedAt === null ? undefined : { atMs: pausedAt, chain: pauseChain ?? principalChain };
    return { work: committedWork(work, { lastSeq: found.lastSeq, cancel, pause }), hasBegunCall: found.hasBegunCall };
  };
  return {
    async commit(work, parts, tx = db) {
      const commitNow = () => write(work, parts, tx, undefined);
      const { records, placed, rows, runs } = work.pending;
      const isLarge = records.length + placed.length + rows.length + runs.length > 1;
      // Large commits are queued, so that they do not take all connections. A commit inside a transaction is not queued, because it already
      // holds a connection.
      const isInLine = tx === context.db && isLarge;
      const committed = await (isInLine ? context.rowStatements.run(work.state.projectId, commitNow) : commitNow());
      if (committed === undefined) throw new Error("an unconditional commit was not made");
      return committed;
    },
    commitUnlessLogged: async (work, parts) => (await write(work, parts, db, work.state.lastSeq)) !== undefined,
  };
}

/** Stores the results of calls separately, after the commit of their job has failed. Never rejects; an error goes to the observer. */
async function keepCalls({ db, observer }: EngineContext, { records, made }: WorkingJob["pending"]): Promise<void> {
  try {
    await saveRecords(db, records);
    for (const end of made) await end.write();
  } catch (error) {
    observer.failed("task", error);
  }
}

function tellOfHold(observer: EngineObserver, { id: jobId, projectId, park, lastError }: JobState): void {
  if (park?.before === undefined || !isHoldReason(park.reason)) return;
  const { reason, stepId, before } = park;
  const why = reason === "poisoned" ? lastError : "";
  observer.parked({ jobId, projectId, reason, stepId, status: before.status, why });
}

/**
 * True if a commit made progress in the job. A commit that only postpones the job until a later time (`isWait`) is not progress, because it
 * could repeat forever. A log entry of type `step-progress` is not progress, because it only depends on the clock.
 */
function isProgress({ state, committed, pending }: WorkingJob, { isWait = false }: CommitParts): boolean {
  if (state === committed) return false;
  if (!isWait) return true;
  const { events, rows, placed, runs, armed, undone, childUndone } = pending;
  const hasCalled = state.used.toolCalls !== committed.used.toolCalls;
  const isLogged = events.some(({ type }) => type !== "step-progress");
  const placedCount = placed.length + runs.length;
  const wrote = rows.length + placedCount + armed.length + undone.length + childUndone.length > 0;
  return hasCalled || isLogged || wrote;
}

function endedJob(state: JobState, { outcome, calls, rows, asks }: ReceiptDocument): EndedJob {
  const { id: jobId, projectId, status, isSimulated, createdAt, finishedAt, steps, lastError } = state;
  return {
    jobId,
    projectId,
    status,
    outcome,
    isSimulated,
    durationMs: (finishedAt ?? createdAt) - createdAt,
    steps: steps.size,
    calls: calls.read + calls.write + calls.destructive,
    writes: calls.write + calls.destructive,
    retried: calls.retried,
    unknown: calls.unknown,
    rows: rows.in,
    asks: asks.raised,
    errorCode: /^[A-Z_]+(?=:)/.exec(lastError)?.[0] ?? "",
  };
}

/** Returns why a job failed, if it failed and is neither a simulation nor a child job, whose failure its parent reports. */
function failureOf(state: JobState, nowMs: number): Failure | undefined {
  if (state.status === "succeeded" || state.isSimulated || state.parent !== null) return undefined;
  const { status, lastError, park, loaded } = state;
  // The sentence names no customer or user: it is counted with those of other jobs, and outlives the erasure of a person.
  return jobFailure({
    ...{ status, lastError, park, atMs: nowMs },
    steps: [...state.steps.values()].map(({ receipt }) => receipt),
    deadlineSeconds: loaded.program.limits.deadlineMs / 1_000,
    appNames: (toolSlug) => loaded.tools.get(toolSlug)?.toolkit.name,
  });
}

/** Dependencies of writing a job's changes to the database. */
type WriteContext = Pick<EngineContext, "clock" | "sealer" | "filters" | "onRehearsed" | "retryChild">;

/**
 * Returns the values that a commit of a job writes to the database. Rows, outputs and progress are encrypted, and each value can be
 * decrypted only for its own column and row.
 */
export function changeOf(
  work: WorkingJob,
  parts: CommitParts,
  { seal, sealText }: JobSeals,
  context: WriteContext,
): RunChange {
  const { task, receipt, call } = parts;
  const { state, committed, pending } = work;
  const also = otherWrites(work, context);
  const overrides = hasNewOverrides(work) ? overridesOf(state) : undefined;
  const job = { ...drivenJob(work), receipt };
  const gotOn = isProgress(work, parts);
  const rows = pending.rows.length === 0 ? [] : sealRows(pending.rows, sealText);
  return {
    job: {
      ...job,
      progress: sealProgress(state, seal, state),
      ...(overrides && { params: {}, stepArgs: {}, overrides: seal("overrides", overrides) }),
    },
    events: pending.events,
    // Step objects are never changed in place. So a step has changed exactly if its object differs from the object at the last commit.
    steps: [...state.steps]
      .filter(([stepId, entry]) => committed.steps.get(stepId) !== entry)
      .map(([stepId, { ordinal, receipt: step, value }]) => {
        const output = value === undefined ? null : seal(`steps/${stepId}`, value);
        return { stepId, ordinal, receipt: step, output, isStored: committed.steps.has(stepId) };
      }),
    rows,
    setRows: pending.placed.map(({ outputs, ...row }) => {
      const place = `sets/${row.setId}/${row.ordinal}`;
      return { ...row, outputs: outputs === undefined ? null : seal(place, outputs) };
    }),
    setRuns: pending.runs,
    clearedSets: pending.clearedSets,
    undoEntries: pending.armed.map(({ args, ...entry }) => ({ ...entry, args: seal(`undo/${entry.entry}`, args) })),
    undoChanges: pending.undone,
    begunCall: call,
    madeCalls: pending.made,
    task,
    isProgress: gotOn,
    tasks: pending.tasks,
    calls: pending.records,
    also,
  };
}

function drivenJob({ state }: WorkingJob): Omit<RunChange["job"], "progress" | "receipt"> {
  const { status, generation, positions, planApprovalId, park, used, saga, deadline, lastError, finishedAt } = state;
  return {
    status,
    generation,
    position: positions[0]?.index ?? 0,
    planApprovalId,
    park,
    used,
    saga,
    deadlineAt: "atMs" in deadline ? deadline.atMs : null,
    deadlineLeftMs: "leftMs" in deadline ? deadline.leftMs : null,
    lastError,
    finishedAt,
  };
}

function hasNewOverrides({ state, committed }: WorkingJob): boolean {
  return state.params !== committed.params || state.stepArgs !== committed.stepArgs;
}

/**
 * Returns a function with the writes of the commit that need their own statements, for example child jobs. Returns undefined if there are
 * none.
 */
function otherWrites(
  { state, committed, pending: { turned, asks, children, retried, childUndone } }: WorkingJob,
  context: WriteContext,
): RunChange["also"] {
  const ended = committed.finishedAt === null ? endedRun(state) : undefined;
  const rehearsed = committed.finishedAt === null ? endedRehearsal(state) : undefined;
  const failed = committed.finishedAt === null ? reportedFailure(state) : undefined;
  if (
    ended === undefined &&
    rehearsed === undefined &&
    failed === undefined &&
    turned.length + asks.length + children.length + retried.length + childUndone.length === 0
  )
    return undefined;
  return async (tx: Executor) => {
    for (const { setId, from, to } of turned) await setJobRowStates(tx, { jobId: state.id, setId }, { from, to });
    for (const ask of asks) await ask.write(tx);
    const newJobs = children.map((child) => childJob(state, child, context));
    await insertChildJobs(tx, newJobs, context.clock.now());
    // The child jobs are locked in the order of their ids. If every transaction uses this order, no deadlock can occur.
    const inOrder = retried.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const child of inOrder) await context.retryChild(tx, state, child);
    for (const { jobId, ...change } of childUndone) await writeJobUndo(tx, jobId, { entries: [], changes: [change] });
    if (ended !== undefined) await endStandingRun(tx, ended);
    if (rehearsed !== undefined) await context.onRehearsed?.(tx, rehearsed);
    const { filters, clock } = context;
    if (failed !== undefined) await publishFailure(tx, failed, { filters, nowMs: clock.now() });
  };
}

/**
 * Returns the job if svc reports its failure to the project as an operational event. This is a submitted live job that ended as failed or
 * expired. A child job is not reported, because its parent job is.
 */
function reportedFailure(state: JobState): FailedJob | undefined {
  const { status, finishedAt, parent, isSimulated, isRehearsal } = state;
  if (finishedAt === null || parent !== null || isSimulated || isRehearsal) return undefined;
  return status === "failed" || status === "expired" ? { ...state, status, finishedAt } : undefined;
}

/**
 * Returns the result of an approval dry run (the simulation that a person sees before approving a schedule). Returns undefined if the dry
 * run continues or if the job is not a dry run.
 */
function endedRehearsal(state: JobState): DryRunEnd | undefined {
  const { id: jobId, isRehearsal, finishedAt, status, planApprovalId, lastError } = state;
  const programId = parseId("stp", state.standingProgramId);
  if (!isRehearsal || finishedAt === null || programId === undefined) return undefined;
  return { jobId, programId, status, planApprovalId, lastError };
}

/**
 * Returns the run of a standing program (a schedule) that ends because its job ends. Returns undefined if the job continues or does not
 * belong to such a run.
 */
function endedRun(state: JobState): EndedStandingRun | undefined {
  const { standingRunId: runId, finishedAt: nowMs, projectId, status, used } = state;
  const programId = parseId("stp", state.standingProgramId);
  if (runId === null || nowMs === null || programId === undefined) return undefined;
  const { toolCalls, writes } = used;
  return { runId, programId, projectId, status, toolCalls, writes, pauseText: pauseAskedBy(state) ?? "", nowMs };
}

/**
 * Returns the text with which the job's `fail` step requests a pause of the schedule that started the job. Returns undefined if the job did
 * not end in such a step.
 */
function pauseAskedBy({ status, lastError, loaded }: JobState): string | undefined {
  const [, stepId = "", text] = /^FAIL_STEP: step (\w+): (.*)$/s.exec(lastError) ?? [];
  if (status !== "failed" || text === undefined || !loaded.flow.indexOf.has(stepId)) return undefined;
  const { step } = stepOf(loaded.flow, stepId);
  return step.kind === "fail" && step.pauses ? text : undefined;
}
