import type { AskPort } from "@svc/asks";
import type { Batcher, Clock, ConcurrencyLimiter, Id, NodeId, Sealer, StandingProgramId, WorkMeter } from "@svc/core";
import type { Database, Executor } from "@svc/db/connect";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { OperationalFilters } from "@svc/db/events/operational";
import type { JobWithSteps } from "@svc/db/jobs/load";
import type { JobStatus } from "@svc/db/schema/words";
import type { Evaluator } from "@svc/program";
import type { RetriedChild } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { EngineObserver, OnFaultPoint } from "./observer.ts";
import type { JobCalls } from "./run/calls.ts";
import type { ConfirmGate } from "./run/confirm-gate.ts";
import type { ProgramCache } from "./store/stored-program.ts";

/** Limits of the job engine of one node. Times are in milliseconds. */
export type EngineLimits = {
  /**
   * Duration of a lease (a time-limited right of one node to work on a task). If a node dies, its jobs are delayed by this time. Default 30
   * s.
   */
  readonly leaseMs: number;
  /** Maximum pause between two claims of due tasks if nothing wakes the engine earlier. Default 1 s. */
  readonly pollMs: number;
  /** Maximum number of jobs that one node runs at the same time. Default 128. */
  readonly runsMax: number;
  /**
   * Time in milliseconds for which the node runs the steps of one job without a break if other jobs wait. After this time, another job gets
   * the slot. Default 1 s.
   */
  readonly sliceMs: number;
  /**
   * Longest wait during which a driver (the loop that runs one job's steps) keeps its job. For a longer wait, the driver releases the job,
   * so that it uses no slot. Default 2 s.
   */
  readonly patienceMs: number;
  /** Pause between two checks of a call whose node may have crashed while the call ran. Default 2 s. */
  readonly inDoubtPollMs: number;
  /** Maximum number of attempts of an undo call (a call that reverses an earlier write). Default 3. */
  readonly undoTries: number;
  /** Wait before the second attempt of an undo call. It doubles for each further attempt. Default 1 s. */
  readonly undoBackoffMs: number;
  /**
   * Number of consecutive leases (time-limited claims of a job) that may expire without progress. Then the job is parked (suspended).
   * Default 3.
   */
  readonly lossesMax: number;
  /**
   * Number of times that a job may block a node's event loop. When the job blocks it for the last of these times, svc suspends the job.
   * Default 2.
   */
  readonly loopHoldsMax: number;
};

/**
 * The end of a job as its driver (the code that runs its steps) has committed it. `atMs`: the time of the commit, in epoch milliseconds.
 */
export type JobEnd = { readonly state: JobState; readonly receipt: ReceiptDocument; readonly atMs: number };

/** The end of an approval dry run: a job that asks people about a standing program (a schedule) and runs nothing of it. */
export type DryRunEnd = {
  readonly jobId: Id<"job">;
  readonly programId: StandingProgramId;
  readonly status: JobStatus;
  readonly planApprovalId: string;
  /** Error of the approval dry run, if its status is `failed`. */
  readonly lastError: string;
};

/**
 * Called at the end of an approval dry run, in the transaction that ends it, to store the result of the dry run for the standing program (a
 * schedule). The caller has locked the job's row.
 */
export type OnDryRunEnd = (tx: Executor, ended: DryRunEnd) => Promise<void>;

/** The functions and settings with which a node runs jobs, such as the database, the clock and the limits. */
export type EngineContext = {
  readonly db: Database;
  /** Reads jobs whose steps this node is about to run. Jobs that were claimed at the same time are read with one statement. */
  readonly jobs: Batcher<Id<"job">, JobWithSteps | undefined>;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Applies the filters of subscriptions to the operational events about failed jobs. */
  readonly filters: OperationalFilters;
  /** Limits how many jobs read or commit pages of rows at the same time, so that other statements need not wait. */
  readonly rowStatements: ConcurrencyLimiter;
  /** Calls tools for jobs. */
  readonly calls: JobCalls;
  /**
   * Calls tools for a job that never lost a lease (time-limited claim). Such a job cannot have begun the call on another node, so no
   * earlier call is looked up.
   */
  readonly firstCalls: JobCalls;
  /** Decides which calls of jobs a person must confirm. */
  readonly confirms: ConfirmGate;
  readonly asks: AskPort;
  readonly nodeId: NodeId;
  readonly limits: EngineLimits;
  readonly programs: ProgramCache;
  /** Evaluates the expressions of programs. */
  readonly evaluator: Evaluator;
  /** Measures and limits the work that this node does for jobs, per job. */
  readonly meter: WorkMeter;
  readonly observer: EngineObserver;
  /** Called when a job gets a new status, so that its watchers read the job. `end`: the job's end, if it has ended. */
  readonly onMoved: ((jobId: Id<"job">, end?: JobEnd) => void) | undefined;
  /**
   * Called in the transaction that ends an approval dry run (the simulation run that a person sees before approving a schedule), even if it
   * ends without a decision.
   */
  readonly onRehearsed: OnDryRunEnd | undefined;
  /**
   * Starts the next attempt of a child job, in a transaction of the parent job that waits for it. If the child can no longer be retried,
   * the parent's task becomes due, and the parent finds that the child has ended.
   */
  readonly retryChild: (tx: Executor, parent: JobState, child: RetriedChild) => Promise<void>;
  /**
   * Returns the reason why an ended job cannot continue where it stopped, or undefined if it can. A child job and a submitted job are
   * treated in the same way.
   */
  readonly whyNotTakenOn: (db: Executor, jobId: Id<"job">) => Promise<string | undefined>;
  /** For tests: called at a fault point, where a test may end the node. */
  readonly onFaultPoint: OnFaultPoint | undefined;
  /** Returns the hash of a receipt (report of an ended job), for its field `receiptHash`. This field must be empty in the given receipt. */
  readonly hashReceipt: (receipt: ReceiptDocument) => string;
  /**
   * Called to announce a task that is due at `atMs` (epoch milliseconds), or now if `atMs` is absent. This node then takes the task in
   * time.
   */
  readonly onDue: (atMs?: number) => void;
};
