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
import type { JobTrace } from "./run/spans.ts";

/**
 * State of the job's run task after a commit. `keep`: this node continues with the job. `end`: the task is deleted. `dueAtMs`: the node
 * releases the task, which is due again at this time.
 */
type TaskEnd = "keep" | "end" | { readonly dueAtMs: number };

/** Data that a commit stores in addition to the changes of the job: its task, its receipt, and the tool call that begins. */
export type CommitParts = {
  readonly task: TaskEnd;
  readonly receipt?: ReceiptDocument | undefined;
  /**
   * The tool call that begins with this commit of the job. It is stored before it is sent, so that svc knows about the call if the node
   * dies.
   */
  readonly call?: CallRecord | undefined;
  /**
   * True if this commit only postpones the job until a later time. Such a commit counts as progress of the job only if it also contains a
   * call, a log entry or changed rows.
   */
  readonly isWait?: boolean;
};

/** A job in memory after a commit of its changes. `hasBegunCall`: true if the commit recorded that a tool call begins. */
export type CommittedWork = { readonly work: WorkingJob; readonly hasBegunCall: boolean };

/** A stored undo entry (how to undo one call) with its arguments decrypted. */
export type UndoEntry = {
  readonly entry: number;
  readonly stepId: string;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: JsonObject;
  /** Set if this undo entry stands for a whole child job: the next action to undo that job. */
  readonly inner?: InnerUndo;
};

/**
 * The next action to undo a child job.
 * - `call`: undo the call of `entry`.
 * - `close`: end the undo entry of a nested child job, because everything in that job is undone.
 * - `over`: nothing is left to undo.
 */
export type InnerUndo =
  | { readonly kind: "call"; readonly jobId: Id<"job">; readonly entry: UndoEntry }
  | { readonly kind: "close"; readonly jobId: Id<"job">; readonly entry: UndoEntry; readonly hasFailed: boolean }
  | { readonly kind: "over"; readonly hasFailed: boolean };

/** The state of the simulation run that precedes a live job: it is running, has ended, or is missing. */
export type SimulationRun =
  | { readonly kind: "running" | "gone" }
  | {
      readonly kind: "ended";
      readonly id: Id<"job">;
      readonly status: JobStatus;
      readonly lastError: string;
      readonly outcome: ReceiptDocument["outcome"] | "";
    };

/**
 * Result of ending a job's questions. `asks`: all asks (questions to people) of the job, after the pending one was withdrawn. `events`: the
 * log entries for the withdrawal.
 */
type ClosedAsks = { readonly events: PreparedAsk["events"]; readonly asks: readonly AskView[] };

/** Functions that read or change a job while the transaction has locked the job's row, so that no other writer interferes. */
export type LockedJob = {
  /** Sequence number of the job's last log entry. The job's row is locked, so no other writer can add an entry. */
  readonly lastSeq: number;
  /** True if a pause of the job is requested. */
  readonly isPaused: boolean;
  /**
   * Returns all asks (questions to people) of the job. If `chain` is given, first withdraws the pending ask. `chain`: the keys and programs
   * that caused the withdrawal.
   */
  closeAsks(chain: readonly string[] | undefined): Promise<ClosedAsks>;
  commit(work: WorkingJob, parts: CommitParts): Promise<CommittedWork>;
};

/** A call of a job that is prepared but not sent. The caller must call either `send` or `cancel`, and only once. */
export type ReadyAttempt = Pick<ReadyCall, "begun" | "cancel"> & {
  send(): Promise<{ readonly attempted: AttemptResult; readonly end: UnrecordedEnd | undefined }>;
};

/**
 * All functions through which a driver (the loop that runs one job's steps) reads or changes anything outside of the job's state in memory.
 * Tests replace them.
 */
export type Port = Omit<StepEffects, "mustPause" | "mustEnd"> & {
  /** Called when the job begins to use the node's event loop. If the event loop is then blocked, svc regards this job as the cause. */
  atWork(): void;
  /** Longest time that a node works on one job while other jobs wait for their turn, in milliseconds. */
  readonly sliceMs: number;
  /**
   * Number of lost leases in a row after which svc parks a job that makes no progress. A lease is a node's time-limited right to run a job.
   * The job loses its lease if the node dies or hangs.
   */
  readonly lossesMax: number;
  /** Maximum number of attempts of an undo call. */
  readonly undoTries: number;
  readonly undoBackoffMs: number;
  /**
   * Prepares the first call of a step, but does not send it. Returns undefined if the step must use `call` instead, which also sends the
   * call.
   */
  ready(state: JobState, invocation: Invocation, turn: CallTurn): Promise<ReadyAttempt | undefined>;
  /**
   * Returns the contact (person) who must confirm the job before the job calls a tool of this access class (read, write or destructive).
   * Returns undefined if no confirmation is necessary.
   */
  confirmerOf: ConfirmGate["confirmerOf"];
  /** Commits the changes of a job (`work`) to the database. Throws LeaseLostError if another node has taken over the job. */
  commit(work: WorkingJob, parts: CommitParts): Promise<CommittedWork>;
  /**
   * Commits the changed job and returns true. If another writer added a log entry after the job was read, writes nothing and returns false.
   */
  commitUnlessLogged(work: WorkingJob, parts: CommitParts): Promise<boolean>;
  /** Runs a function while the job's row is locked. */
  locked<T>(run: (job: LockedJob) => Promise<T>): Promise<T>;
  /** Prepares a question. Reads contacts and writes nothing. */
  prepareAsk(input: AskInput): Promise<PreparedAsk>;
  findAsk(state: JobState, askId: string): Promise<AnsweredAsk | undefined>;
  /** Returns the undo entry (the recorded way to undo one call) that the job carries out next. Undefined if no call is left to undo. */
  nextUndo(state: JobState): Promise<UndoEntry | undefined>;
  /**
   * Commits the work done so far, and ends this node's work on the job. The job continues when a child job changes, the ask in `until` is
   * answered, the time in `until` comes, or the job expires.
   */
  awaitChildren(work: WorkingJob, until: Omit<Extract<Next, { kind: "await" }>, "kind">): Promise<void>;
  /** Requests that child jobs end. `chain`: the keys and programs that caused this request, in order. */
  cancelChildren(state: JobState, ids: readonly Id<"job">[], chain: readonly string[]): Promise<void>;
  /**
   * Returns the state of the job's simulation run. If the simulation run has not ended, commits the job and ends its task. The end of the
   * simulation run makes the job due again.
   */
  waitForTwin(work: WorkingJob): Promise<SimulationRun>;
  /**
   * Requests that the job's twin ends. The twin is the simulation run of the same program. `chain`: the keys and programs that caused the
   * request.
   */
  cancelTwin(state: JobState, chain: readonly string[]): Promise<void>;
  /** Returns the hash of a receipt (the report of a finished job). The field `receiptHash` of the given document must be empty. */
  hashReceipt(receipt: ReceiptDocument): string;
  /** Called at a fault point, where a test may end the node. Undefined outside tests. */
  readonly onFaultPoint: ((point: FaultPoint, at: { readonly stepId: string }) => Promise<void> | void) | undefined;
};

/**
 * Thrown when a node has lost the lease of a job (the time in which only this node may work on it). The node's copy of the job's state is
 * then outdated.
 */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
  /**
   * Resolves when the calls that this driver (the loop that runs one job's steps) made are stored in the ledger (the record of tool calls).
   * Wait for this promise only outside a transaction: code in a transaction must end the transaction first.
   */
  readonly recorded: Promise<void> | undefined;

  constructor(message: string, recorded?: Promise<void>) {
    super(message);
    this.recorded = recorded;
  }
}

/**
 * Requests from outside a job to its driver (the loop that runs one job's steps), such as to stop, cancel or pause. The driver checks these
 * requests between two actions of steps.
 */
export type Interrupts = {
  readonly isStopping: boolean;
  /** True if the node knows that the job is to be cancelled. The next commit reads the stored request. */
  readonly isCancelSeen: boolean;
  /**
   * True if this node knows of a request to pause the job. The next commit reads the request from the database, or finds that it was
   * withdrawn.
   */
  isPauseSeen: boolean;
  /** True if other jobs wait for a slot on this node. */
  hasOthersWaiting(): boolean;
};

/** A driver: the code that runs one job's steps on a node, under one lease (time-limited claim) of the job. */
export type Driver = {
  readonly port: Port;
  readonly effects: StepEffects;
  readonly interrupts: Interrupts;
  readonly startedMs: number;
  /** Number of times that a lease of the job (the time in which one node may work on it) expired since the job last made progress. */
  readonly losses: number;
  /** The spans of the job's steps. Absent if this process makes no spans. */
  readonly trace?: JobTrace;
  /** True if this driver (the loop that runs one job's steps) has used its time slice, and other jobs wait for a slot on the node. */
  isSliceOver(): boolean;
};

/**
 * The part of a driver (the loop that runs one job's steps) that applies one change to the job and commits it, without running further
 * steps.
 */
export type Follower = Pick<Driver, "port" | "startedMs" | "trace" | "isSliceOver">;
