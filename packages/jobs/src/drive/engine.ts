import type { AskPort } from "@svc/asks";
import { classToConfirm } from "@svc/catalog";
import {
  type Clock,
  type ConfirmRule,
  confirmingRule,
  createBatcher,
  createConcurrencyLimiter,
  type Id,
  type KeyId,
  keysOfChain,
  LeastRecentlyUsed,
  type NodeId,
  type ProjectId,
  type Sealer,
  type WorkMeter,
} from "@svc/core";
import { afterCommit, type Database, type Executor } from "@svc/db/connect";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { OperationalFilters } from "@svc/db/events/operational";
import { putJobTasks } from "@svc/db/job-tasks/queue";
import { loadJob, loadJobsWithSteps } from "@svc/db/jobs/load";
import type { JobRecord } from "@svc/db/jobs/record";
import { readConfirmRules } from "@svc/db/projects/plan-policy";
import { accessClasses, type StoredAccessClass } from "@svc/db/schema/words";
import { callsOf, canonicalHash, type Evaluator, type Program } from "@svc/program";
import type { ToolCaller } from "@svc/tools";
import { isConfirmed } from "../state/confirmed.ts";
import type { LoadedProgram } from "../state/job.ts";
import { toolOf } from "../steps/invoke.ts";
import { resumeFromAsk } from "./ask/answer.ts";
import type { EngineContext, EngineLimits, OnDryRunEnd } from "./context.ts";
import { type EngineObserver, type OnFaultPoint, silentObserver } from "./observer.ts";
import { createCalls } from "./run/calls.ts";
import { openChildren } from "./run/children.ts";
import type { ConfirmGate } from "./run/confirm-gate.ts";
import { follow } from "./run/follow.ts";
import { countLoopHold, type ForceResult, type JobOfProject, parkJob, releaseJob } from "./schedule/force.ts";
import { isPausable, pauseNow } from "./schedule/pause.ts";
import { type PauseResult, pauseJob, resumeJob } from "./schedule/pause-job.ts";
import { type Reservation, type TaskHandlers, Worker } from "./schedule/worker.ts";
import {
  type RetryOfJob,
  type RetryResult,
  retryChild,
  retryJob,
  whyNotRetried,
  whyNotTakenOn,
} from "./start/retry-job.ts";
import { takeJob } from "./store/open.ts";
import type { ProgramCache } from "./store/stored-program.ts";

/**
 * Default limits of the job engine, such as the lease of a job (how long only one node may run it) and the interval between searches for
 * due jobs.
 */
const defaultEngineLimits: EngineLimits = {
  leaseMs: 30_000,
  pollMs: 1_000,
  runsMax: 128,
  sliceMs: 1_000,
  patienceMs: 2_000,
  inDoubtPollMs: 2_000,
  undoTries: 3,
  undoBackoffMs: 1_000,
  lossesMax: 3,
  loopHoldsMax: 2,
};

const worstClasses = new WeakMap<LoadedProgram, StoredAccessClass>();

type CachedRules = { readonly rules: readonly ConfirmRule[]; readonly readAtMs: number };

const freshMs = 1_000;

const knownMax = 10_000;

/** Dependencies and settings of the engine that runs jobs on one node. */
export type JobEngineOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Applies the filters of subscriptions to the operational events about failed jobs. */
  readonly filters: OperationalFilters;
  readonly caller: ToolCaller;
  readonly nodeId: NodeId;
  readonly asks: AskPort;
  readonly programs: ProgramCache;
  readonly evaluator: Evaluator;
  readonly meter: WorkMeter;
  /**
   * Handlers for the tasks of questions to people: the end of a stage of the escalation, messages to contacts, and posts to endpoints for
   * questions.
   */
  readonly handlers: TaskHandlers;
  readonly observer?: EngineObserver;
  /** Called when a job has a new status. */
  readonly onMoved?: EngineContext["onMoved"];
  /** Limits that replace the defaults. */
  readonly limits?: Partial<EngineLimits>;
  /**
   * Returns the hash of a job's receipt (the stored summary of a finished job). By default svc computes the hash from the document as
   * stored.
   */
  readonly hashReceipt?: (receipt: ReceiptDocument) => string;
  /**
   * Stores the result of an approval dry run (the simulation run before a schedule is approved). Called in the transaction that ends the
   * dry run.
   */
  readonly onRehearsed?: OnDryRunEnd | undefined;
  /**
   * Called when a task becomes due while this node claims no tasks. The caller can then wake a node that claims tasks. Otherwise that node
   * finds the task at its next regular claim.
   */
  readonly onDueElsewhere?: (() => void) | undefined;
  /** For tests: called at a fault point, where a test may end the node. */
  readonly onFaultPoint?: OnFaultPoint | undefined;
};

/** The job engine of one node. */
export type JobEngine = {
  /**
   * Starts to take due tasks of jobs and to run them. If `claims` is false, this engine takes no tasks from the database. It then runs only
   * new jobs for which it reserved a slot.
   */
  start(options?: { readonly claims: boolean }): void;
  /** Claims due tasks now. Call it after a commit that created due tasks. */
  wake(): void;
  /**
   * Reserves a slot for a job that is about to be stored, so that this node runs the job at once and need not claim it. Returns undefined
   * if the job must wait in the queue; then call `wake` after the commit.
   */
  reserve(projectId: ProjectId, program?: Program): Reservation | undefined;
  /**
   * Notifies the driver (the code that runs the job's steps) on this node, if any, that its job is to be cancelled. The request must
   * already be stored.
   */
  cancel(jobId: Id<"job">): void;
  /**
   * Applies the outcome of an ask (question to people) to its job, in the transaction that settles the ask. The caller must first lock the
   * job's row with `lockJob`, and then the ask. The job continues only up to its next tool call, because calls are not made inside the
   * transaction. The job is then due at once, so that a node makes the call. Call `wake` after the commit.
   */
  settled(tx: Executor, jobId: Id<"job">): Promise<void>;
  /**
   * Parks a job: stops it until an administrator releases it. A node that runs the job, even one that hangs, can no longer write for the
   * job. `chain`: keys that caused the request, for the log.
   */
  park(job: JobOfProject, chain: readonly string[]): Promise<ForceResult>;
  /**
   * Releases a job that was suspended with the reason `administrator` or `poisoned`. (`poisoned`: nodes repeatedly died, hung or were
   * blocked while they ran the job.) The job gets back the status that it had before. `chain`: causes of the request, for the log.
   */
  release(job: JobOfProject, chain: readonly string[]): Promise<ForceResult>;
  /**
   * Requests a pause of a job. A running job is paused before its next part of work, any other job at once. If the job is running on this
   * node, its loop is notified. `chain`: causes of the request, for the log.
   */
  pause(job: JobOfProject, chain: readonly string[]): Promise<PauseResult>;
  /**
   * Ends a pause of a job, or withdraws the request for one. The job gets back the status that it had before. `chain`: causes of the
   * request, for the log.
   */
  resume(job: JobOfProject, chain: readonly string[]): Promise<PauseResult>;
  /**
   * Starts the next attempt of a job that ended. Calls the request's function `needsApproval` to find out if a person must approve the
   * attempt. If that function throws, rejects with the same error and changes nothing.
   */
  retry(asked: RetryOfJob): Promise<RetryResult>;
  /** Returns the reason why a job cannot be retried from a step, or undefined if it can. Changes nothing. */
  whyNotRetried(job: JobOfProject, fromStepId: string): Promise<string | undefined>;
  /**
   * Records that a job blocked this node's event loop for `ms` milliseconds without a break. The database counts such reports of all nodes.
   * At the second report, the job is parked (stopped until an administrator releases it) as `poisoned`. Never rejects. If the database is
   * unavailable, the observer is notified and the report is not counted.
   */
  reportHeldLoop(jobId: Id<"job">, ms: number): Promise<void>;
  /** Stops claiming tasks, waits at most `graceMs` for calls in flight, and gives the jobs back. */
  drain(graceMs: number): Promise<void>;
  /**
   * Drops the cached confirmation rules (which calls a person must confirm) of a project's keys, or of one key. So a change of the rules
   * takes effect at once.
   */
  forgetConfirmRules(id: ProjectId | KeyId): void;
  stats(): { readonly held: number };
};

/** Maximum number of row pages that are read or committed at the same time. The node's other connections stay free for waiting callers. */
const rowStatementsMax = 4;

/** Creates the job engine of a node. */
export function createJobEngine(options: JobEngineOptions): JobEngine {
  const {
    observer = silentObserver,
    limits,
    hashReceipt = canonicalHash,
    onFaultPoint,
    onMoved,
    onRehearsed,
  } = options;
  const { db, clock, caller } = options;
  const confirms = createConfirmGate({ db, clock });
  const parts: Omit<EngineContext, "onDue"> = {
    ...options,
    jobs: createBatcher({ run: loadJobsWithSteps.bind(undefined, db), sizeMax: 50, concurrency: 4, besideMin: 8 }),
    rowStatements: createConcurrencyLimiter(rowStatementsMax),
    confirms,
    calls: createCalls({ caller, clock, confirms }, onFaultPoint),
    firstCalls: createCalls({ caller, clock, confirms }, onFaultPoint, { isFirst: true }),
    observer,
    hashReceipt,
    onFaultPoint,
    onMoved,
    onRehearsed,
    retryChild: (tx, parent, child) => retryChild(worker.context, tx, parent, child),
    whyNotTakenOn: (db, jobId) => whyNotTakenOn(worker.context, db, jobId),
    limits: { ...defaultEngineLimits, ...limits },
  };
  const worker = new Worker(parts, options.handlers, options.onDueElsewhere);
  return {
    start: (options) => worker.start(options),
    wake: () => worker.wake(),
    reserve: (projectId, program) => worker.reserve(projectId, program),
    cancel: (jobId) => worker.held.cancel(jobId),
    settled: (tx, jobId) => settleJob(worker.context, tx, jobId),
    async park(job, chain) {
      const forced = await parkJob(worker.context, job, { reason: "administrator", chain });
      if (forced.outcome === "done") worker.held.stop(job.jobId);
      return forced;
    },
    async release(job, chain) {
      const forced = await releaseJob(worker.context, job, chain);
      worker.wake();
      return forced;
    },
    async pause(job, chain) {
      const paused = await pauseJob(worker.context, job, chain);
      worker.held.pause(job.jobId);
      worker.wake();
      return paused;
    },
    async resume(job, chain) {
      const resumed = await resumeJob(worker.context, job, chain);
      worker.wake();
      return resumed;
    },
    async retry(asked) {
      const retried = await retryJob(worker.context, asked);
      worker.wake();
      return retried;
    },
    whyNotRetried: (job, fromStepId) => whyNotRetried(worker.context, job, fromStepId),
    async reportHeldLoop(jobId, ms) {
      try {
        if (await countLoopHold(worker.context, jobId, ms)) worker.held.stop(jobId);
      } catch (error) {
        observer.failed("park", error);
      }
    },
    drain: (graceMs) => worker.drain(graceMs),
    forgetConfirmRules: confirms.forget,
    stats: () => worker.stats(),
  };
}

/** Creates the functions that decide which calls of running jobs a person must confirm. */
function createConfirmGate({ db, clock }: { readonly db: Executor; readonly clock: Clock }): ConfirmGate {
  const known = new LeastRecentlyUsed<string, CachedRules>(knownMax);
  let changes = 0;
  const rulesOf = async (projectId: ProjectId, keyIds: readonly KeyId[]): Promise<readonly ConfirmRule[]> => {
    const name = [projectId, ...keyIds].join(" ");
    const current = known.get(name);
    const readAtMs = clock.now();
    if (current !== undefined && readAtMs - current.readAtMs < freshMs) return current.rules;
    const seen = changes;
    const rules = await readConfirmRules(db, projectId, keyIds);
    // If any rules were dropped from the cache during the read, the result may be outdated. So it is not cached.
    if (seen === changes) known.set(name, { rules, readAtMs });
    return rules;
  };
  return {
    async confirmerOf(state, accessClass) {
      const { projectId, keyId, principalChain, plan, isSimulated, isRehearsal, loaded } = state;
      // A simulation asks no person. A call that a rule covers is not sent in it: `createCalls` asks for the rule of its class.
      const isAsked = accessClass !== undefined || !(isSimulated || isRehearsal);
      if (!isAsked || accessClass === "read") return undefined;
      const keyIds = new Set([keyId, ...keysOfChain(principalChain), ...(plan?.changedBy ?? [])]);
      const rules = await rulesOf(projectId, [...keyIds]);
      const rule = rules.length === 0 ? undefined : confirmingRule(rules, accessClass ?? worstClassOf(loaded));
      return rule === undefined || isConfirmed(state) ? undefined : rule.contact;
    },
    forget(id) {
      changes += 1;
      for (const [name] of known.entries()) if (name.includes(id)) known.delete(name);
    },
  };
}

/**
 * Returns the highest access class (for example destructive) among all calls of a program, including its undo calls and the calls of its
 * skills.
 */
function worstClassOf(loaded: LoadedProgram): StoredAccessClass {
  let worst = worstClasses.get(loaded);
  if (worst === undefined) {
    const requests = callsOf(loaded.program.steps).filter(({ http }) => http !== undefined);
    const used = new Set([
      ...[...loaded.tools.values()].map(({ action }) => classToConfirm(action)),
      ...requests.map((call) => toolOf({ loaded }, call).action.class),
      ...Object.values(loaded.skills).flatMap(({ estimate }) => estimate.accessClasses),
    ]);
    worst = accessClasses.findLast((one) => used.has(one)) ?? "read";
    worstClasses.set(loaded, worst);
  }
  return worst;
}

/**
 * Continues a job after its question to a person was answered, in the transaction that stores the answer. It stops before the first tool
 * call; the job's driver (the code that runs its steps) makes the calls later. The caller has locked the job's row.
 */
async function settleJob(context: EngineContext, tx: Executor, jobId: Id<"job">): Promise<void> {
  const job = await loadJob(tx, jobId, { lock: true });
  if (job === undefined) return;
  if (job.status === "running") return lookForAnswer(context, tx, job);
  if (job.status !== "parked" && job.status !== "pending_plan_approval") return;
  // An administrator has parked the job, or it was paused while some of its branches were running. So the answer is not applied now. It is
  // applied when the job is released or resumed.
  if (job.park?.before !== undefined && job.park.judgment === undefined) return;
  const { work, follower } = await takeJob(context, tx, job);
  const { port, startedMs } = follower;
  // The job still has running child jobs. If the answer to its question ends the job, these child jobs must end first. So this function
  // only makes the job's task due, and the job's driver applies the answer.
  if (openChildren(work.state).length > 0) return void (await port.commit(work, { task: { dueAtMs: startedMs } }));
  const settled = await follow(work, await resumeFromAsk(work.state, port), follower);
  if (settled === undefined) return;
  // A pause was requested while the job waited for a person. The pause takes effect now.
  if (settled.state.pause !== undefined && isPausable(settled.state))
    await follow(settled, pauseNow(settled.state, startedMs), follower);
  else await port.commit(settled, { task: { dueAtMs: startedMs } });
}

/**
 * Makes a job's task due now, after a person answered the question of one branch while other branches of the job run. A node then reads the
 * answer, even if the job only waits for its child jobs.
 */
async function lookForAnswer({ clock, onDue }: EngineContext, tx: Executor, job: JobRecord): Promise<void> {
  const { id: jobId, projectId } = job;
  await putJobTasks(tx, [{ jobId, projectId, kind: "run", subject: "", dueAt: clock.now() }]);
  afterCommit(tx, onDue, 0);
}
