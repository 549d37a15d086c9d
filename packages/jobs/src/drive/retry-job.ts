import type { KeyId } from "@svc/core";
import {
  beginJobAttempt,
  type EstimateDocument,
  type Executor,
  findJobQuotaReached,
  findJobTwin,
  findKeyedJobAttempt,
  type JobRecord,
  loadJob,
  lockJobQuota,
  type QuotaReached,
  withTransaction,
} from "@svc/db";
import { type Program, writesFrom } from "@svc/program";
import type { Change } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import { isRetryable } from "../state/statuses.ts";
import { toolOf } from "../steps/invoke.ts";
import { requestPlanApproval } from "./ask.ts";
import type { EngineContext } from "./context.ts";
import type { JobOfProject } from "./force.ts";
import { follow } from "./loop.ts";
import { takeJob } from "./open.ts";
import type { Port } from "./port.ts";
import { attemptsMax, type RetryFault, type RetryRequest, retryEdits, stepStanding } from "./retry.ts";

/** A plan that may need approval. */
export type Plan = {
  readonly program: Program;
  readonly estimate: EstimateDocument;
  /** Whether it needs one whatever the program says of itself. */
  readonly demandsApproval: boolean;
};

/** Another attempt at a job, as it is asked for. */
export type RetryOfJob = JobOfProject &
  RetryRequest & {
    readonly keyId: KeyId;
    readonly idempotencyKey: string | undefined;
    /** SHA-256 of what the idempotency key is bound to. */
    readonly contentDigest: Buffer;
    /** Why params cannot be changed so; undefined where they can. */
    checkParams(program: Program, params: JobState["params"]): string | undefined;
    /** Whether a plan needs approval that the key may be asked for. Throws what refuses a plan that could never be approved. */
    needsApproval(tx: Executor, plan: Plan): Promise<boolean>;
  };

/** What came of it: begun, begun before under the same name, no such job of the project, or why not. Nothing is changed then. */
export type Retried =
  | { readonly outcome: "done" | "earlier" | "missing" | "key_reused" }
  | { readonly outcome: "not_retryable" | "step_unknown" | "params_invalid"; readonly why: string }
  | { readonly outcome: "quota"; readonly reached: QuotaReached };

/** Ends the transaction, so that nothing of it is done. */
class Refused extends Error {
  readonly retried: Retried;

  constructor(retried: Retried) {
    super(retried.outcome);
    this.retried = retried;
  }
}

/** Takes a job on that ended: its next attempt begins, or waits for the approval of what it changes. */
export async function retryJob(context: EngineContext, asked: RetryOfJob): Promise<Retried> {
  try {
    return await withTransaction(context.db, (tx) => retryLocked(context, tx, asked));
  } catch (error) {
    if (error instanceof Refused) return error.retried;
    throw error;
  }
}

async function retryLocked(context: EngineContext, tx: Executor, asked: RetryOfJob): Promise<Retried> {
  const { jobId, projectId, keyId, idempotencyKey, contentDigest } = asked;
  const ended = await loadJob(tx, jobId, { lock: true });
  if (ended === undefined || ended.projectId !== projectId) return { outcome: "missing" };
  const earlier = idempotencyKey === undefined ? undefined : await findKeyedJobAttempt(tx, jobId, idempotencyKey);
  if (earlier !== undefined) return { outcome: earlier.equals(contentDigest) ? "earlier" : "key_reused" };
  const why = await findReason(tx, ended);
  if (why !== undefined) return { outcome: "not_retryable", why };
  await lockJobQuota(tx, projectId);
  const reached = await findJobQuotaReached(tx, projectId, 1);
  if (reached !== undefined) return { outcome: "quota", reached };
  await beginJobAttempt(tx, { jobId, keyId, nowMs: context.clock.now(), idempotencyKey, contentDigest });
  const job = await loadJob(tx, jobId, { lock: true });
  if (job === undefined) throw new Error(`${jobId}, whose row is locked, is gone`);
  const { work, follower } = await takeJob(context, tx, job);
  const begun = await changeOf(context, tx, { state: work.state, port: follower.port, ended, asked });
  if ("outcome" in begun) throw new Refused(begun);
  await follow(work, begun, follower);
  return { outcome: "done" };
}

/** Why no attempt may follow the one that ended; undefined where one may. */
async function findReason(tx: Executor, job: JobRecord): Promise<string | undefined> {
  const { status, saga, attempt, lastError, mode, id, parentJobId } = job;
  if (!isRetryable(status)) return `is ${status}`;
  if (job.parentJobId !== null) return `is run by ${job.parentJobId}, which is to be retried in its place`;
  if (parentJobId !== null) return `was run by job ${parentJobId}, which is the one to be taken on`;
  if (mode === "rehearse")
    return "is a rehearsal: people were asked about a standing program, and nothing of it was run";
  if (mode === "simulate") return "was simulated: simulate its program again";
  if (saga.state !== "none" && saga.state !== "armed") return "has begun to undo what it did";
  if (lastError.startsWith("LIMIT_REACHED:")) return "met a limit, which holds for all attempts together";
  if (job.hasLostRows || job.isSwept) return "has lost its rows, whose retention has passed";
  if (attempt >= attemptsMax) return `has had ${attempt} attempts, and may have no more`;
  const twinId = await findJobTwin(tx, id);
  const twin = twinId && (await loadJob(tx, twinId));
  return twin && twin.status !== "succeeded"
    ? "was to be simulated first, and its simulation did not succeed"
    : undefined;
}

type Beginning = {
  readonly state: JobState;
  readonly port: Port;
  readonly ended: JobRecord;
  readonly asked: RetryOfJob;
};

/** What begins the attempt: it is queued, or parked on the approval of its plan. */
async function changeOf(
  context: EngineContext,
  tx: Executor,
  { state, port, ended, asked }: Beginning,
): Promise<Change | RetryFault | { readonly outcome: "params_invalid"; readonly why: string }> {
  const invalid = asked.checkParams(state.loaded.program, asked.params);
  if (invalid !== undefined) return { outcome: "params_invalid", why: invalid };
  const edits = retryEdits(state, { status: ended.status, request: asked });
  if ("outcome" in edits) return edits;
  const { program } = state.loaded;
  // What a skill in it demanded before, it demands again.
  const plan = { program, estimate: state.estimate, demandsApproval: state.planApprovalId !== "" };
  if (!(await isApproved(context, tx, state, asked)) && (await asked.needsApproval(tx, plan))) {
    const approval = await requestPlanApproval(state, port, "retried");
    return { edits: [...edits, ...approval.edits], next: approval.next };
  }
  return {
    edits: [...edits, { kind: "move", to: "queued", reason: "retried" }, { kind: "deadline", clock: "runs" }],
    next: { kind: "until", atMs: port.clock.now() },
  };
}

/** Whether people approved the plan, and what the attempt may write beside what was written is no more than they approved. */
async function isApproved(
  { asks }: EngineContext,
  tx: Executor,
  state: JobState,
  { params }: RetryRequest,
): Promise<boolean> {
  if (state.planApprovalId === "" || Object.keys(params).length > 0) return false;
  const ask = (await asks.list(tx, state.id)).find(({ approvalId }) => approvalId === state.planApprovalId);
  // A run of a standing program has the approval of its version, which people were asked for by another job.
  const isGranted = ask === undefined && state.standingRunId !== null;
  return (isGranted || ask?.decision?.continuation === "proceed") && !mayWriteMore(state);
}

function mayWriteMore(state: JobState): boolean {
  const { used, estimate, loaded } = state;
  const standing = stepStanding(state);
  const classOf = (call: Parameters<typeof toolOf>[1]) => toolOf(state, call).action.class;
  const left = standing === undefined ? 0 : writesFrom(loaded.program, { classOf, skills: loaded.skills }, standing.id);
  return Math.min(used.writes + left, loaded.program.limits.writes) > estimate.writesMax;
}
