import { createHash } from "node:crypto";
import type { Id, KeyId } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { putJobTasks } from "@svc/db/job-tasks/queue";
import { beginJobAttempt, findKeyedJobAttempt } from "@svc/db/jobs/attempts";
import { setChildJob } from "@svc/db/jobs/children";
import { findJobQuotaReached } from "@svc/db/jobs/insert-batch";
import { loadJob } from "@svc/db/jobs/load";
import type { JobRecord } from "@svc/db/jobs/record";
import { findSimulationRun } from "@svc/db/jobs/simulation-run";
import { lockJobQuota, type QuotaReached } from "@svc/db/projects/quotas";
import { type Program, writesFrom } from "@svc/program";
import type { Change, Edit, RetriedChild } from "../../state/change.ts";
import { isConfirmed, keptOfPlan, unchangedConfirmation } from "../../state/confirmed.ts";
import type { JobState } from "../../state/job.ts";
import type { PlanProgress } from "../../state/progress.ts";
import { isRetryable } from "../../state/statuses.ts";
import { toolOf } from "../../steps/invoke.ts";
import { requestConfirmation, requestPlanApproval } from "../ask/put-question.ts";
import type { EngineContext } from "../context.ts";
import type { Port } from "../port.ts";
import { follow } from "../run/follow.ts";
import { endedChildOf, type RetryFault, type RetryRequest, retryEdits, stepStanding } from "../run/retry.ts";
import type { JobOfProject } from "../schedule/force.ts";
import { readState, takeJob } from "../store/open.ts";

/**
 * Maximum number of attempts of a job. The job keeps the receipt (report) of each attempt, and each response about the job contains all of
 * them, so more attempts would make it too large.
 */
export const attemptsMax = 20;

/**
 * Returns the reason why a job cannot be retried from a step, or undefined if it can. Reads only, so another caller may change the job right
 * after. Undefined also for a job that the project does not have.
 */
export async function whyNotRetried(
  context: EngineContext,
  { jobId, projectId }: JobOfProject,
  fromStepId: string,
): Promise<string | undefined> {
  const { db } = context;
  const job = await loadJob(db, jobId);
  if (job === undefined || job.projectId !== projectId) return undefined;
  const why = await findReason(db, job);
  if (why !== undefined) return why;
  const state = await readState(context, db, { ...job, attempt: job.attempt + 1 });
  const children = await endedChildren(context, db, state);
  const edits = retryEdits(state, {
    status: job.status,
    request: { ...asItStands, fromStepId },
    children: faultsOf(children),
  });
  return "outcome" in edits ? edits.why : undefined;
}

/** A program for a retry of a job, with the program's estimate. It is checked to decide if the retry needs a person's approval. */
export type RetryPlan = {
  readonly program: Program;
  readonly estimate: EstimateDocument;
  /**
   * True if the program runs a skill (a program used as a tool) that needs an approval, even if the program itself does not require one.
   */
  readonly demandsApproval: boolean;
};

/** A caller's request for another attempt of an ended job, with its idempotency key. */
export type RetryOfJob = JobOfProject &
  RetryRequest & {
    readonly keyId: KeyId;
    readonly idempotencyKey: string | undefined;
    /** SHA-256 of the retry request's content. A repeated request with the same idempotency key must have the same digest. */
    readonly contentDigest: Buffer;
    /** Returns the reason why these values cannot replace the program's params, or undefined if they can. */
    checkParams(program: Program, params: JobState["params"]): string | undefined;
    /**
     * Returns true if a person must approve the program before the new attempt begins, and false if not. Throws if it needs an approval
     * that it can never get, for example because the key does not have the role `approver`.
     */
    needsApproval(tx: Executor, plan: RetryPlan): Promise<boolean>;
    /** Returns the contact who must confirm the attempt before it begins, or undefined if no contact must. */
    confirmBy(tx: Executor, estimate: EstimateDocument): Promise<string | undefined>;
  };

/**
 * Result of a retry. `done`: the attempt has begun, or waits for approval. `earlier`: the same request was made before. `missing`: the
 * project has no such job. The other outcomes say why the retry is refused. Only `done` changes something.
 */
export type RetryResult =
  | { readonly outcome: "done" | "earlier" | "missing" | "key_reused" }
  | { readonly outcome: "not_retryable" | "step_unknown" | "params_invalid"; readonly why: string }
  | { readonly outcome: "quota"; readonly reached: QuotaReached };

/** Thrown inside the transaction of a retry, so that it is rolled back. `retried`: the result for the caller. */
class RetryRefusal extends Error {
  readonly retried: RetryResult;

  constructor(retried: RetryResult) {
    super(retried.outcome);
    this.retried = retried;
  }
}

/** Starts the next attempt of an ended job, or parks the job until people approve or confirm that attempt. */
export async function retryJob(context: EngineContext, asked: RetryOfJob): Promise<RetryResult> {
  try {
    return await withTransaction(context.db, (tx) => retryLocked(context, tx, asked));
  } catch (error) {
    if (error instanceof RetryRefusal) return error.retried;
    throw error;
  }
}

async function retryLocked(context: EngineContext, tx: Executor, asked: RetryOfJob): Promise<RetryResult> {
  const { jobId, projectId, keyId, idempotencyKey, contentDigest, resendsUnknown } = asked;
  const ended = await loadJob(tx, jobId, { lock: true });
  if (ended === undefined || ended.projectId !== projectId) return { outcome: "missing" };
  const earlier = idempotencyKey === undefined ? undefined : await findKeyedJobAttempt(tx, jobId, idempotencyKey);
  if (earlier !== undefined) return { outcome: earlier.equals(contentDigest) ? "earlier" : "key_reused" };
  const why = await findReason(tx, ended);
  if (why !== undefined) return { outcome: "not_retryable", why };
  await lockJobQuota(tx, projectId);
  const reached = await findJobQuotaReached(tx, projectId, 1);
  if (reached !== undefined) return { outcome: "quota", reached };
  const nowMs = context.clock.now();
  await beginJobAttempt(tx, { jobId, keyId, nowMs, idempotencyKey, contentDigest, resendsUnknown });
  const job = await loadJob(tx, jobId, { lock: true });
  if (job === undefined) throw new Error(`${jobId}, whose row is locked, does not exist`);
  const { work, follower } = await takeJob(context, tx, job);
  const begun = await changeOf(context, tx, { state: work.state, port: follower.port, ended, asked });
  if ("outcome" in begun) throw new RetryRefusal(begun);
  await follow(work, begun, follower);
  return { outcome: "done" };
}

/**
 * Returns the reason why a job cannot have another attempt, or undefined if it can. A child job cannot be retried by itself; its parent job
 * must be retried.
 */
async function findReason(tx: Executor, job: JobRecord): Promise<string | undefined> {
  const { parentJobId } = job;
  if (isRetryable(job.status) && parentJobId !== null) {
    return `was run by job ${parentJobId}: retry that job, and this one continues where it stopped`;
  }
  return findOwnReason(tx, job);
}

/**
 * Returns the reason why a job cannot have another attempt, or undefined if it can. A child job is not refused here, because its parent may
 * retry it.
 */
async function findOwnReason(tx: Executor, job: JobRecord): Promise<string | undefined> {
  const { status, saga, attempt, lastError, mode, id } = job;
  if (!isRetryable(status)) return `is ${status}`;
  if (mode === "rehearse") return "is a rehearsal: it only asked people about a standing program, and no call was made";
  if (mode === "simulate") return "was simulated: simulate its program again";
  if (saga.state !== "none" && saga.state !== "armed") return "has begun to undo its calls";
  if (lastError.startsWith("LIMIT_REACHED:")) return "reached a limit, which counts all attempts together";
  if (job.hasLostRows || job.isSwept) return "has lost its rows, because their retention has passed";
  if (attempt >= attemptsMax) return `has had ${attempt} attempts, the most that it may have`;
  const twinId = await findSimulationRun(tx, id);
  const twin = twinId && (await loadJob(tx, twinId));
  return twin && twin.status !== "succeeded"
    ? "needed a simulation run first, and that run did not succeed"
    : undefined;
}

type AttemptStart = {
  readonly state: JobState;
  readonly port: Port;
  readonly ended: JobRecord;
  readonly asked: RetryOfJob;
};

/**
 * Returns the change to the job that begins its next attempt, or the reason why the attempt is refused. The job is then queued. Or it is
 * parked (suspended) until people approve or confirm the attempt.
 */
async function changeOf(
  context: EngineContext,
  tx: Executor,
  { state, port, ended, asked }: AttemptStart,
): Promise<Change | RetryFault | { readonly outcome: "params_invalid"; readonly why: string }> {
  const invalid = asked.checkParams(state.loaded.program, asked.params);
  if (invalid !== undefined) return { outcome: "params_invalid", why: invalid };
  const children = await endedChildren(context, tx, state);
  const edits = retryEdits(state, { status: ended.status, request: asked, children: faultsOf(children) });
  if ("outcome" in edits) return edits;
  const { program } = state.loaded;
  const plan = keptOfPlan({ ...state.plan, ...changedBy(state, asked) });
  const began: Edit = { kind: "plan", plan };
  // The earlier attempt of the job had an approval, perhaps only because one of its skills required it. So the next attempt also needs an
  // approval, even if the program itself requires none.
  const demanded = { program, estimate: state.estimate, demandsApproval: state.planApprovalId !== "" };
  const confirmBy = await asked.confirmBy(tx, state.estimate);
  const asking = { ...state, plan };
  if (!(await isApproved(context, tx, { state, children, asked })) && (await asked.needsApproval(tx, demanded))) {
    const approval = await requestPlanApproval(asking, port, "retried", confirmBy);
    return { edits: [...edits, ...approval.edits], next: approval.next };
  }
  if (confirmBy !== undefined) {
    const confirmation = await requestConfirmation(asking, port, confirmBy, "retried");
    return { edits: [...edits, ...confirmation.edits], next: confirmation.next };
  }
  return queued([...edits, began], port.clock.now());
}

/**
 * Returns the API keys that changed what the job sends, with the key of this retry added. Returns an empty object if the retry changes no
 * params.
 */
function changedBy({ plan }: JobState, { keyId, params }: RetryOfJob): Pick<PlanProgress, "changedBy"> {
  if (Object.keys(params).length === 0) return {};
  return { changedBy: [...new Set([...(plan?.changedBy ?? []), keyId])] };
}

/**
 * True if the earlier approval also covers the next attempt: the params are unchanged, and the attempt cannot make more writes than were
 * approved. False if people must be asked again.
 */
async function isApproved(
  { asks }: EngineContext,
  tx: Executor,
  {
    state,
    children,
    asked: { params },
  }: { readonly state: JobState; readonly children: EndedChildren; readonly asked: RetryRequest },
): Promise<boolean> {
  if (state.planApprovalId === "" || Object.keys(params).length > 0) return false;
  const ask = (await asks.list(tx, state.id)).find(({ approvalId }) => approvalId === state.planApprovalId);
  // A run of a standing program has no question about its own plan. Instead, a person approved the version of the standing program, and
  // that approval applies to this job.
  const isGranted = ask === undefined && state.standingRunId !== null;
  return (isGranted || ask?.decision?.continuation === "proceed") && !mayWriteMore(state, children);
}

/** True if all attempts of the job together could make more writes than the approved estimate allows. */
function mayWriteMore(state: JobState, children: EndedChildren): boolean {
  const { estimate, loaded } = state;
  const goOn = [...children.values()].filter(({ fault }) => fault === undefined);
  if (goOn.some((child) => child.mayWriteMore)) return true;
  // The number of writes that the step may make includes all writes of its child jobs. So the writes that they made are subtracted.
  const writes = goOn.reduce((sum, child) => sum - child.writes, state.used.writes);
  const standing = stepStanding(state);
  const classOf = (call: Parameters<typeof toolOf>[1]) => toolOf(state, call).action.class;
  const left = standing === undefined ? 0 : writesFrom(loaded.program, { classOf, skills: loaded.skills }, standing.id);
  return Math.min(writes + left, loaded.program.limits.writes) > estimate.writesMax;
}

/**
 * An ended child job of a job that is to be retried. `fault`: reason why the child cannot continue; undefined if it can. `writes`: number
 * of the child's writes so far. `mayWriteMore`: true if the child may exceed its approved number of writes.
 */
type EndedChild = { readonly fault: string | undefined; readonly writes: number; readonly mayWriteMore: boolean };
type EndedChildren = ReadonlyMap<Id<"job">, EndedChild>;

/**
 * Returns the child jobs that were running when their parent job stopped, and that ended together with the parent. The children of these
 * child jobs are checked as well.
 */
async function endedChildren(context: EngineContext, tx: Executor, state: JobState): Promise<EndedChildren> {
  const found = new Map<Id<"job">, EndedChild>();
  for (const { progress } of state.positions) {
    const id = endedChildOf(progress);
    const job = id && (await loadJob(tx, id));
    if (job !== undefined) found.set(job.id, await endedChild(context, tx, job));
  }
  return found;
}

async function endedChild(context: EngineContext, tx: Executor, job: JobRecord): Promise<EndedChild> {
  const { writes } = job.used;
  if (job.status === "succeeded") return { fault: undefined, writes, mayWriteMore: false };
  const fault = await findOwnReason(tx, job);
  if (fault !== undefined) return { fault, writes, mayWriteMore: true };
  const state = await readState(context, tx, { ...job, attempt: job.attempt + 1 });
  const children = await endedChildren(context, tx, state);
  const edits = retryEdits(state, { status: job.status, request: asItStands, children: faultsOf(children) });
  const why = "outcome" in edits ? edits.why : undefined;
  return { fault: why, writes, mayWriteMore: mayWriteMore(state, children) };
}

/** Returns the reason why an ended child job cannot continue where it stopped. Returns undefined if it can. */
export async function whyNotTakenOn(
  context: EngineContext,
  db: Executor,
  jobId: Id<"job">,
): Promise<string | undefined> {
  const job = await loadJob(db, jobId);
  return job === undefined ? "no longer exists" : (await endedChild(context, db, job)).fault;
}

const asItStands: RetryRequest = { fromStepId: "", params: {}, resendsUnknown: false, chain: [] };

function faultsOf(children: EndedChildren): ReadonlyMap<Id<"job">, string | undefined> {
  return new Map([...children].map(([id, { fault }]) => [id, fault]));
}

/**
 * Starts an ended child job again, in the transaction of its waiting parent job. If the child job can no longer be started again, the
 * parent job becomes due. The parent job then reads the child job and finds that it has ended.
 */
export async function retryChild(
  context: EngineContext,
  tx: Executor,
  parent: JobState,
  { id: jobId, limits, resendsUnknown }: RetriedChild,
): Promise<void> {
  const { id: parentId, projectId, keyId, principalChain: chain } = parent;
  const nowMs = context.clock.now();
  const ended = await loadJob(tx, jobId, { lock: true });
  if (ended?.child == null || (await findOwnReason(tx, ended)) !== undefined) {
    return putJobTasks(tx, [{ jobId: parentId, projectId, kind: "run", subject: "", dueAt: nowMs }]);
  }
  const contentDigest = createHash("sha256").update(parentId).digest();
  await beginJobAttempt(tx, { jobId, keyId, nowMs, idempotencyKey: undefined, contentDigest, resendsUnknown });
  await setChildJob(tx, jobId, { ...ended.child, limits });
  const job = await loadJob(tx, jobId, { lock: true });
  if (job === undefined) throw new Error(`${jobId}, whose row is locked, does not exist`);
  const { work, follower } = await takeJob(context, tx, job);
  const children = faultsOf(await endedChildren(context, tx, work.state));
  const request = { ...asItStands, resendsUnknown, chain };
  const edits = retryEdits(work.state, { status: ended.status, request, children });
  if ("outcome" in edits) throw new Error(`${jobId} ${edits.why}`);
  const { plan } = work.state;
  const confirmed = isConfirmed(parent) ? { confirmed: unchangedConfirmation } : {};
  await follow(
    work,
    queued([...edits, { kind: "plan", plan: keptOfPlan({ ...plan, ...confirmed }) }], nowMs),
    follower,
  );
}

function queued(edits: readonly Edit[], nowMs: number): Change {
  return {
    edits: [...edits, { kind: "move", to: "queued", reason: "retried" }, { kind: "deadline", clock: "runs" }],
    next: { kind: "until", atMs: nowMs },
  };
}
