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
import type { Attempted, CallTurn, Invocation, StepEffects } from "../steps/effects.ts";
import type { FaultPoint } from "./observer.ts";
import type { ConfirmGate } from "./run/confirm-gate.ts";

/** What becomes of the run task with a commit: the driver keeps it, it ends, or it is given back, to be due then. */
type TaskEnd = "keep" | "end" | { readonly dueAtMs: number };

/** What is committed with work beside what it says. */
export type CommitParts = {
  readonly task: TaskEnd;
  readonly receipt?: ReceiptDocument | undefined;
  /** The call that begins with it, where that must be known should the node end. */
  readonly call?: CallRecord | undefined;
  /** The job is only given back until a time: unless the act did something, it has not got on. */
  readonly isWait?: boolean;
};

/** A job as it was committed, and whether the call that was to begin with it did. */
export type Committed = { readonly work: WorkingJob; readonly hasBegunCall: boolean };

/** An undo entry, opened. */
export type UndoEntry = {
  readonly entry: number;
  readonly stepId: string;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: JsonObject;
  /** Of an entry that stands for those of a job that this one ran: what is next of them. */
  readonly inner?: InnerUndo;
};

/**
 * What is next in undoing a job that another ran. `call`: one of its calls. `close`: its entry that stands for a job that it ran, of which
 * nothing is left. `over`: nothing is left of it.
 */
export type InnerUndo =
  | { readonly kind: "call"; readonly jobId: Id<"job">; readonly entry: UndoEntry }
  | { readonly kind: "close"; readonly jobId: Id<"job">; readonly entry: UndoEntry; readonly hasFailed: boolean }
  | { readonly kind: "over"; readonly hasFailed: boolean };

/** The twin that simulates a job: under way, at its end, or not to be found. */
export type Twin =
  | { readonly kind: "running" | "gone" }
  | {
      readonly kind: "ended";
      readonly id: Id<"job">;
      readonly status: JobStatus;
      readonly lastError: string;
      readonly outcome: ReceiptDocument["outcome"] | "";
    };

/** The asks of a job, none of them pending, and what their end has logged. */
type ClosedAsks = { readonly events: PreparedAsk["events"]; readonly asks: readonly AskView[] };

/** What is done under the lock of the job's row, in one transaction. */
export type LockedJob = {
  /** The last entry of the log: nobody else adds to it now. */
  readonly lastSeq: number;
  /** Whether it is to be paused. */
  readonly isPaused: boolean;
  /** Withdraws the pending ask, with a chain alone; what is to be logged of that, and all asks of the job. */
  closeAsks(chain: readonly string[] | undefined): Promise<ClosedAsks>;
  commit(work: WorkingJob, parts: CommitParts): Promise<Committed>;
};

/** A call of a job that is ready to be sent. `send` or `cancel` is to be called, once. */
export type ReadyAttempt = Pick<ReadyCall, "begun" | "cancel"> & {
  send(): Promise<{ readonly attempted: Attempted; readonly end: UnrecordedEnd | undefined }>;
};

/** What a driver does to the world: everything outside of the state of its job. */
export type Port = Omit<StepEffects, "mustPause" | "mustEnd"> & {
  /** Says that this job is at work from here on, to who watches the event loop. */
  atWork(): void;
  /** How long a driver works at a stretch while others wait. Milliseconds. */
  readonly sliceMs: number;
  /** Leases of a job in a row that may run out before it gets on; then it is parked. */
  readonly lossesMax: number;
  /** Tries of an undo call, and the wait before the second, doubled for every further one. */
  readonly undoTries: number;
  readonly undoBackoffMs: number;
  /**
   * Readies the call that an act makes first, so that it begins with the commit before the act. Undefined for one that has to be made
   * by `call` alone.
   */
  ready(state: JobState, invocation: Invocation, turn: CallTurn): Promise<ReadyAttempt | undefined>;
  /** The contact who is to confirm the job before it calls a tool of a class; undefined for none. */
  confirmerOf: ConfirmGate["confirmerOf"];
  /** Throws LeaseLostError when the lease is another's. */
  commit(work: WorkingJob, parts: CommitParts): Promise<Committed>;
  /** The same, unless somebody else has logged since this work was read: then nothing is written. Whether it was committed. */
  commitUnlessLogged(work: WorkingJob, parts: CommitParts): Promise<boolean>;
  /** Runs under the lock of the job's row. */
  locked<T>(run: (job: LockedJob) => Promise<T>): Promise<T>;
  /** Readies a question. Reads contacts; writes nothing. */
  prepareAsk(input: AskInput): Promise<PreparedAsk>;
  findAsk(state: JobState, askId: string): Promise<AnsweredAsk | undefined>;
  /** The entry to undo next. */
  nextUndo(state: JobState): Promise<UndoEntry | undefined>;
  /**
   * Commits the work and leaves the job until one of its children stands elsewhere than was said, or the question is settled, which make
   * its task due, it is time, or it expires.
   */
  awaitChildren(work: WorkingJob, until: Omit<Extract<Next, { kind: "await" }>, "kind">): Promise<void>;
  /** Asks jobs that this one runs to end. */
  cancelChildren(state: JobState, ids: readonly Id<"job">[], chain: readonly string[]): Promise<void>;
  /** Reads the twin that simulates a job. While it runs, the work is committed and its task ended: the twin's end makes it due. */
  waitForTwin(work: WorkingJob): Promise<Twin>;
  /** Asks the twin to end. */
  cancelTwin(state: JobState, chain: readonly string[]): Promise<void>;
  /** The receiptHash of a receipt whose receiptHash is empty. */
  hashReceipt(receipt: ReceiptDocument): string;
  /** Comes to a fault point; undefined outside of tests. */
  readonly onFaultPoint: ((point: FaultPoint, at: { readonly stepId: string }) => Promise<void> | void) | undefined;
};

/** The lease was lost: whatever this driver still holds of the job is old. */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
  /** What was called is being recorded: whoever was in a transaction waits for it behind that. */
  readonly recorded: Promise<void> | undefined;

  constructor(message: string, recorded?: Promise<void>) {
    super(message);
    this.recorded = recorded;
  }
}

/** What interrupts a driver from outside, where its worker says so; it is looked at between any two acts. */
export type Interrupts = {
  readonly isStopping: boolean;
  /** The job is to be cancelled, as the next commit will find. */
  readonly isCancelSeen: boolean;
  /** The job is to be paused, as the next commit will find, unless it was resumed by then. */
  isPauseSeen: boolean;
  /** Whether others wait for this node. */
  hasOthersWaiting(): boolean;
};

/** Who drives one job under one lease. */
export type Driver = {
  readonly port: Port;
  readonly effects: StepEffects;
  readonly interrupts: Interrupts;
  readonly startedMs: number;
  /** Leases of the job that ran out under those who drove it before, since it last got on. */
  readonly losses: number;
  /** Whether it has had its share of time, and others wait for the node. */
  isSliceOver(): boolean;
};

/** Who carries out a change, without driving on from it. */
export type Follower = Pick<Driver, "port" | "startedMs" | "isSliceOver">;
