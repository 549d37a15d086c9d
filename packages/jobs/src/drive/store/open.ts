import type { Executor } from "@svc/db/connect";
import type { ChildDocument } from "@svc/db/documents/jobs";
import { leaseRunTask, type RunToLease } from "@svc/db/job-tasks/lease";
import { type ClaimedJobTask, endJobTask } from "@svc/db/job-tasks/queue";
import type { RunChange } from "@svc/db/jobs/commit";
import { type JobWithSteps, loadJobSteps } from "@svc/db/jobs/load";
import type { JobRecord } from "@svc/db/jobs/record";
import { committedWork, type WorkingJob, workOf } from "../../state/apply.ts";
import type { JobState, LoadedProgram } from "../../state/job.ts";
import { openState } from "../../state/open.ts";
import type { EngineContext } from "../context.ts";
import type { Follower, Port } from "../port.ts";
import type { JobBeginning, PlannedBeginning } from "../run/begin.ts";
import { type JobSeals, jobSeals } from "./seals.ts";
import { createStorePort } from "./store-port.ts";

/**
 * A job that a node has read from the database in order to run it. `work`: the job's state. `port`: the functions with which the node reads
 * and changes the database and calls apps.
 */
export type OpenJob = { readonly work: WorkingJob; readonly port: Port };

/**
 * A new job whose first steps were computed in memory, up to its first commit. `change`: the values of that commit; the job is stored with
 * them as already running.
 */
export type PlannedJob = {
  readonly port: Port;
  readonly beginning: PlannedBeginning;
  readonly change: Pick<RunChange, "job" | "events" | "steps" | "begunCall">;
};

/**
 * Reads a job for the node that has claimed its run task. Returns undefined if the job has nothing left to run. `onCommitted`: called after
 * each commit of the job's changes.
 */
export async function openJob(
  context: EngineContext,
  task: ClaimedJobTask,
  onCommitted?: () => void,
): Promise<OpenJob | undefined> {
  const found = await context.jobs.add(task.jobId);
  if (found === undefined || found.job.finishedAt !== null) {
    await endJobTask(context.db, task);
    return undefined;
  }
  return open(context, context.db, found, { leaseToken: task.leaseToken, onCommitted });
}

/**
 * Returns a new job, ready to be run on this node, without reading it from the database. The job is stored, or will be stored, with a lease
 * (time-limited right to run it) of this node.
 */
export function openNewJob(context: EngineContext, job: JobRecord): Promise<OpenJob> {
  return open({ ...context, calls: context.firstCalls }, context.db, { job, steps: [] }, { leaseToken: firstToken });
}

/**
 * Returns a planned job, ready to run on this node. A planned job is a new job that was computed in memory up to its first commit. Call this
 * function after the job was stored with the values of this commit.
 */
export function openPlannedJob({
  port,
  beginning: { work, call },
}: PlannedJob): JobBeginning & { readonly port: Port } {
  const lastSeq = work.state.lastSeq + work.pending.events.length;
  return { port, work: committedWork(work, { lastSeq, cancel: undefined, pause: undefined }), call };
}

/**
 * The lease token of a new job (the number by which the database knows which node may write). Later leases of the job have higher tokens.
 */
const firstToken = 1;

/**
 * Takes a job away from its driver (the loop that runs the job's steps), so that the caller can change the job in the same transaction. The
 * job gets a new lease token (a number that identifies which driver may write). Later writes of the old driver have the old token and are
 * refused. The caller has locked the job's row. `leaseToken`: the new token, if the caller has already set it.
 */
export async function takeJob(
  context: EngineContext,
  tx: Executor,
  job: JobRecord,
  leaseToken?: number,
): Promise<{ readonly work: WorkingJob; readonly follower: Follower }> {
  const nowMs = context.clock.now();
  const steps = await loadJobSteps(tx, job.id);
  const token = leaseToken ?? (await leaseRunTask(tx, leaseOf(context, job, nowMs)));
  const { work, port } = await open(context, tx, { job, steps }, { leaseToken: token });
  return { work, follower: { port, startedMs: nowMs, isSliceOver: () => false } };
}

/** Returns the parameters with which this node takes the lease of the job's run task: the time-limited right to run the job. */
export function leaseOf(
  { limits, nodeId: owner }: EngineContext,
  { id: jobId, projectId }: JobRecord,
  nowMs: number,
): RunToLease {
  return { jobId, projectId, owner, nowMs, leaseUntilMs: nowMs + limits.leaseMs };
}

async function open(
  context: EngineContext,
  db: Executor,
  found: JobWithSteps,
  { leaseToken, onCommitted }: { readonly leaseToken: number; readonly onCommitted?: (() => void) | undefined },
): Promise<OpenJob> {
  const { id: jobId, projectId } = found.job;
  const { work, seals } = await readWork(context, db, found);
  const lease = { jobId, owner: context.nodeId, leaseToken };
  const metered = context.meter.begin({ projectId, jobId });
  return { work, port: createStorePort({ context, lease, seals, db, onCommitted }, metered) };
}

async function readWork(
  context: EngineContext,
  db: Executor,
  { job, steps }: JobWithSteps,
): Promise<{ readonly work: WorkingJob; readonly seals: JobSeals }> {
  const { id: jobId, projectId, programDigest } = job;
  const program = await context.programs.get(db, projectId, programDigest);
  const loaded = job.child === null ? program : withinParent(program, job.child);
  const seals = jobSeals(context.sealer, projectId, jobId);
  return { work: workOf(openState(job, steps, { loaded, ...seals })), seals };
}

/** Returns a job's state for code that only reads it and changes nothing. */
export async function readState(context: EngineContext, db: Executor, job: JobRecord): Promise<JobState> {
  const { work } = await readWork(context, db, { job, steps: await loadJobSteps(db, job.id) });
  return work.state;
}

/**
 * Returns the program of a child job with the child's limits. The limits that the parent gives to the child replace the program's own
 * limits.
 */
function withinParent(loaded: LoadedProgram, child: ChildDocument): LoadedProgram {
  const { program } = loaded;
  return { ...loaded, program: { ...program, limits: { ...program.limits, ...child.limits } } };
}
