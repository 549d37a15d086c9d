import type { AnsweredAsk, AskInput, AskView, PreparedAsk } from "@svc/asks";
import type { Id } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { JsonObject } from "@svc/program";
import type { ReadyCall, UnrecordedEnd } from "@svc/tools";
import type { WorkingJob } from "../state/apply.ts";
import type { Next } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { JobStatus } from "../state/statuses.ts";
import type { AttemptResult, CallTurn, Invocation, StepEffects } from "../steps/effects.ts";
import type { FaultPoint } from "./observer.ts";
import type { ConfirmGate } from "./run/confirm-gate.ts";

/** The run task after a commit: the driver keeps it, it ends, or it is given back until it is due. */
type TaskEnd = "keep" | "end" | { readonly dueAtMs: number };

/** Additional parts of a commit of work. */
export type CommitParts = {
  readonly task: TaskEnd;
  readonly receipt?: ReceiptDocument | undefined;
  /** The call that begins with the commit, if the store must know it in case the node dies. */
  readonly call?: CallRecord | undefined;
  /** True if the job is only given back until a time. It then counts as progress only if the step action did something. */
  readonly isWait?: boolean;
};

/** A committed job, and whether the call that was to begin with the commit did. */
export type CommittedWork = { readonly work: WorkingJob; readonly hasBegunCall: boolean };

/** An opened undo entry. */
export type UndoEntry = {
  readonly entry: number;
  readonly stepId: string;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: JsonObject;
  /** For the entry of a child job: the next entry inside it. */
  readonly inner?: InnerUndo;
};

/**
 * The next step of undoing a child job. `call`: one of its calls. `close`: its entry for a child of its own that has nothing left. `over`:
 * nothing is left of it.
 */
export type InnerUndo =
  | { readonly kind: "call"; readonly jobId: Id<"job">; readonly entry: UndoEntry }
  | { readonly kind: "close"; readonly jobId: Id<"job">; readonly entry: UndoEntry; readonly hasFailed: boolean }
  | { readonly kind: "over"; readonly hasFailed: boolean };

/** The simulation run of a job: running, ended, or missing. */
export type SimulationRun =
  | { readonly kind: "running" | "gone" }
  | {
      readonly kind: "ended";
      readonly id: Id<"job">;
      readonly status: JobStatus;
      readonly lastError: string;
      readonly outcome: ReceiptDocument["outcome"] | "";
    };

/** The asks of a job, none of them pending, and the log entries of their end. */
type ClosedAsks = { readonly events: PreparedAsk["events"]; readonly asks: readonly AskView[] };

/** Operations under the lock of the job's row, in one transaction. */
export type LockedJob = {
  /** Number of the last log entry. No one else can add one now. */
  readonly lastSeq: number;
  /** True if the job is to be paused. */
  readonly isPaused: boolean;
  /** Withdraws the pending ask, only if a chain is given. Returns the log entries of that, and all asks of the job. */
  closeAsks(chain: readonly string[] | undefined): Promise<ClosedAsks>;
  commit(work: WorkingJob, parts: CommitParts): Promise<CommittedWork>;
};

/** A call of a job that is ready to be sent. Exactly one of `send` and `cancel` must be called, once. */
export type ReadyAttempt = Pick<ReadyCall, "begun" | "cancel"> & {
  send(): Promise<{ readonly attempted: AttemptResult; readonly end: UnrecordedEnd | undefined }>;
};

/** Effects of a driver: everything outside its job's state. */
export type Port = Omit<StepEffects, "mustPause" | "mustEnd"> & {
  /** Reports to the observer of the event loop that this job is at work from here on. */
  atWork(): void;
  /** Longest time that a driver works while other jobs wait, in milliseconds. */
  readonly sliceMs: number;
  /** Consecutive leases that a job may lose without progress before it is parked. */
  readonly lossesMax: number;
  /** Attempts of an undo call, and the wait before the second one, doubled for each further one. */
  readonly undoTries: number;
  readonly undoBackoffMs: number;
  /**
   * Prepares the first call of a step action, so that it begins with the commit before the action. Returns undefined if the call can only
   * be made by `call`.
   */
  ready(state: JobState, invocation: Invocation, turn: CallTurn): Promise<ReadyAttempt | undefined>;
  /** Returns the contact who must confirm the job before it calls a tool of a class, or undefined if none. */
  confirmerOf: ConfirmGate["confirmerOf"];
  /** Commits the work. Throws LeaseLostError if another driver has the lease. */
  commit(work: WorkingJob, parts: CommitParts): Promise<CommittedWork>;
  /** Commits the work unless another writer has logged since it was read; then nothing is written. Returns true if it was committed. */
  commitUnlessLogged(work: WorkingJob, parts: CommitParts): Promise<boolean>;
  /** Runs a function under the lock of the job's row. */
  locked<T>(run: (job: LockedJob) => Promise<T>): Promise<T>;
  /** Prepares a question. Reads contacts and writes nothing. */
  prepareAsk(input: AskInput): Promise<PreparedAsk>;
  findAsk(state: JobState, askId: string): Promise<AnsweredAsk | undefined>;
  /** Returns the next entry to undo. */
  nextUndo(state: JobState): Promise<UndoEntry | undefined>;
  /**
   * Commits the work and leaves the job until one of these happens: a child changes its state, the question is settled, the time comes, or
   * the job expires.
   */
  awaitChildren(work: WorkingJob, until: Omit<Extract<Next, { kind: "await" }>, "kind">): Promise<void>;
  /** Requests the end of child jobs. */
  cancelChildren(state: JobState, ids: readonly Id<"job">[], chain: readonly string[]): Promise<void>;
  /**
   * Reads the simulation run of a job. While it runs, the work is committed and the job's task ended; the end of the simulation makes it
   * due again.
   */
  waitForTwin(work: WorkingJob): Promise<SimulationRun>;
  /** Requests the end of the simulation run. */
  cancelTwin(state: JobState, chain: readonly string[]): Promise<void>;
  /** Returns the receiptHash of a receipt whose receiptHash is empty. */
  hashReceipt(receipt: ReceiptDocument): string;
  /** Called at a fault point. Undefined outside tests. */
  readonly onFaultPoint: ((point: FaultPoint, at: { readonly stepId: string }) => Promise<void> | void) | undefined;
};

/** The lease was lost: this driver's state of the job is outdated. */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
  /** Resolves when the driver's calls are recorded. A caller inside a transaction waits for it after the transaction. */
  readonly recorded: Promise<void> | undefined;

  constructor(message: string, recorded?: Promise<void>) {
    super(message);
    this.recorded = recorded;
  }
}

/** Requests from outside to a driver. They are checked between any two step actions. */
export type Interrupts = {
  readonly isStopping: boolean;
  /** True if the job is to be cancelled, as the next commit will find. */
  readonly isCancelSeen: boolean;
  /** True if the job is to be paused, as the next commit will find unless it was resumed. */
  isPauseSeen: boolean;
  /** True if other jobs wait for this node. */
  hasOthersWaiting(): boolean;
};

/** The driver of one job under one lease. */
export type Driver = {
  readonly port: Port;
  readonly effects: StepEffects;
  readonly interrupts: Interrupts;
  readonly startedMs: number;
  /** Leases of the job that expired under earlier drivers since its last progress. */
  readonly losses: number;
  /** True if its time slice is over and other jobs wait for the node. */
  isSliceOver(): boolean;
};

/** Applies a change without running the job further. */
export type Follower = Pick<Driver, "port" | "startedMs" | "isSliceOver">;
