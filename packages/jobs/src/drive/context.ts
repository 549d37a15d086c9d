import type { AskPort } from "@svc/asks";
import type { Batcher, Clock, ConcurrencyLimiter, Id, NodeId, Sealer, StandingProgramId, WorkMeter } from "@svc/core";
import type { Database, Executor } from "@svc/db/connect";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { JobWithSteps } from "@svc/db/jobs/load";
import type { JobStatus } from "@svc/db/schema/words";
import type { Evaluator } from "@svc/program";
import type { RetriedChild } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { EngineObserver, OnFaultPoint } from "./observer.ts";
import type { JobCalls } from "./run/calls.ts";
import type { ConfirmGate } from "./run/confirm-gate.ts";
import type { ProgramCache } from "./store/stored-program.ts";

/** Limits of the engine, times in milliseconds. */
export type EngineLimits = {
  /** Duration of a lease. A node that dies delays its jobs for this long. Default 30 s. */
  readonly leaseMs: number;
  /** Pause between two claims of due tasks if nothing wakes the engine. Default 1 s. */
  readonly pollMs: number;
  /** Jobs that one node runs at once. Default 128. */
  readonly runsMax: number;
  /** Longest time that a driver works while other jobs wait. Default 1 s. */
  readonly sliceMs: number;
  /** For a longer wait the job is given back instead of held. Default 2 s. */
  readonly patienceMs: number;
  /** Pause before a call that may still run on a lost node is looked up again. Default 2 s. */
  readonly inDoubtPollMs: number;
  /** Attempts of an undo call. Default 3. */
  readonly undoTries: number;
  /** Wait before the second attempt of an undo call, doubled for each further one. Default 1 s. */
  readonly undoBackoffMs: number;
  /** Consecutive leases that a job may lose without progress. At the last one it is parked. Default 3. */
  readonly lossesMax: number;
  /** Times that a job may hold a node's event loop. At the last one it is parked. Default 2. */
  readonly loopHoldsMax: number;
};

/** The result of an approval dry run. */
export type DryRunEnd = {
  readonly jobId: Id<"job">;
  readonly programId: StandingProgramId;
  readonly status: JobStatus;
  readonly planApprovalId: string;
  /** The reason of a failure. Empty if people decided. */
  readonly lastError: string;
};

/** Writes what must be committed with the end of an approval dry run. The job's row is locked. */
export type OnDryRunEnd = (tx: Executor, ended: DryRunEnd) => Promise<void>;

/** Dependencies of running jobs. */
export type EngineContext = {
  readonly db: Database;
  /** Reads jobs for their drivers. Jobs that were claimed together are read together. */
  readonly jobs: Batcher<Id<"job">, JobWithSteps | undefined>;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Limits the pages of rows that drivers read and commit at once, so that other statements do not wait for them. */
  readonly rowStatements: ConcurrencyLimiter;
  /** Calls tools for jobs. */
  readonly calls: JobCalls;
  /** Calls tools for a job that never lost a lease, so that none of its calls was made before. */
  readonly firstCalls: JobCalls;
  /** Decides which calls of jobs a person must confirm. */
  readonly confirms: ConfirmGate;
  readonly asks: AskPort;
  readonly nodeId: NodeId;
  readonly limits: EngineLimits;
  readonly programs: ProgramCache;
  /** Evaluates the expressions of programs. */
  readonly evaluator: Evaluator;
  /** Meters the work of drivers, by job. */
  readonly meter: WorkMeter;
  readonly observer: EngineObserver;
  /** Called when a job has a new status, so that watchers read it. */
  readonly onMoved: ((jobId: Id<"job">) => void) | undefined;
  /** Called in the transaction that ends an approval dry run: people have decided, or will not. */
  readonly onRehearsed: OnDryRunEnd | undefined;
  /**
   * Retries a job that ran a skill for this parent, in a transaction of the waiting parent. If that is no longer possible, the parent is
   * woken and finds the child ended.
   */
  readonly retryChild: (tx: Executor, parent: JobState, child: RetriedChild) => Promise<void>;
  /** Returns why an ended job cannot be continued where it stopped, whatever job ran it, or undefined if it can. */
  readonly whyNotTakenOn: (db: Executor, jobId: Id<"job">) => Promise<string | undefined>;
  /** For tests: called at a fault point. */
  readonly onFaultPoint: OnFaultPoint | undefined;
  /** Returns the receiptHash of a receipt whose receiptHash is empty. */
  readonly hashReceipt: (receipt: ReceiptDocument) => string;
  /** Called when work of another job, or further work of this one, is due. `atMs`: the due time in epoch milliseconds, if it is later. */
  readonly onDue: (atMs?: number) => void;
};
