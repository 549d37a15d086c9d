import type { Clock, Id, MemoryHold } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { CallCounts } from "@svc/db/documents/calls";
import type { ChildDocument, UsedDocument } from "@svc/db/documents/jobs";
import type {
  CelComputed,
  CelOutcome,
  Expression,
  JsonObject,
  JsonValue,
  MapCall,
  PinnedSkill,
  PinnedTool,
  RowState,
  RunScope,
  SecretSlot,
} from "@svc/program";
import type { JobState, LoadedProgram } from "../state/job.ts";
import type { JobStatus } from "../state/statuses.ts";
import type { SharedLimits } from "./shared-limits.ts";

/** The place of a call in its job. A call of the same place is never silently executed twice. */
export type CallPlace = {
  readonly stepId: string;
  /** Ordinal of the row. 0 for a step without rows. For an undo, the entry. */
  readonly ordinal: number;
  /** Id of the call; `undo` for an undo. */
  readonly callId: string;
};

/** A filled-in call of a program. */
export type Invocation = {
  readonly call: Pick<MapCall, "tool" | "entity" | "http" | "retry" | "timeoutMs">;
  readonly place: CallPlace;
  readonly args: JsonObject;
  /** The generation of the call: that of the job, unless an earlier attempt of the job began the call. */
  readonly generation: number;
  /** Secrets that are inserted into the arguments when the call is sent. */
  readonly secretUses: readonly SecretSlot[];
  /** The generation in the keys for the app. */
  readonly appGeneration: number;
};

/** An opened row of a set. `data` is empty if it was not requested. */
export type ReadRow = {
  readonly ordinal: number;
  readonly rowNumber: number;
  readonly state: "in" | RowState;
  readonly data: JsonObject;
};

/** A row of a set, with the results of a map's calls so far. */
export type SetRow = ReadRow & {
  readonly doneCalls: number;
  readonly outputs: JsonObject;
  /** Approximate memory of its fields and those answers, in bytes. */
  readonly bytes: number;
};

/** Consecutive rows of a set. `hasMore`: true if more may follow. */
export type SetPage = { readonly rows: readonly SetRow[]; readonly hasMore: boolean };

/** The range of a chunk: from an ordinal on, with the given states if any. */
export type ChunkRange = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly states?: readonly RowState[] | undefined;
  /** If false, the fields of the rows stay sealed. Default true. */
  readonly withData?: boolean | undefined;
};

/** Consecutive rows of a set. */
export type SetChunk = {
  readonly rows: readonly ReadRow[];
  /** The ordinal to continue from. Undefined at the end of the set. */
  readonly next: number | undefined;
  /** Their approximate memory, in bytes. */
  readonly bytes: number;
};

/** Rows of a job, opened by their numbers. `rows`: how many of the first named ones are in `fields`. */
export type OpenedRows = {
  readonly rows: number;
  readonly fields: ReadonlyMap<number, JsonObject>;
  /** Approximate memory of all of them, in bytes. */
  readonly bytes: number;
};

/** Names that an expression of a map's call can use in addition to those of steps. */
export type RowNames = { readonly row: JsonObject; readonly calls: JsonObject };

/** The rows of a set to read: a number of rows from an ordinal on, with the given states if any. */
export type RowRange = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly limit: number;
  /** Approximate limit of sealed bytes of fields and answers. The page ends with the row that reaches it. */
  readonly bytesMax: number;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly RowState[] | undefined;
  /** If false, the fields of the rows stay sealed. Default true. */
  readonly withData?: boolean | undefined;
};

/**
 * Result of one attempt of a call. `busy`: it may still run on a lost node. `gone`: the tool no longer exists. `limited`: a call limit
 * delays it and nothing was sent; it is this job's turn after `waitMs`.
 */
export type AttemptResult =
  | { readonly kind: "limited"; readonly waitMs: number }
  | { readonly kind: "busy" | "gone" }
  | {
      readonly kind: "answered";
      readonly outcome: string;
      readonly value: JsonValue;
      readonly message: string;
      readonly retryable: boolean;
      readonly retryAfterMs: number | undefined;
      readonly providerStatus: number;
      readonly faults: readonly { readonly pointer: string; readonly message: string }[];
      /** True if it is the recorded answer of an earlier call with the same key. */
      readonly isReplay: boolean;
    };

/** Takes the ledger row of a call that ended, to commit it. */
export type TakeRecord = (record: CallRecord) => void;

/** One attempt of a call. Without `takeRecord` its result is committed to the ledger before it is returned. */
export type CallTurn = {
  readonly tool: PinnedTool;
  readonly attempt: number;
  readonly takeRecord?: TakeRecord | undefined;
};

/** A child job that runs a skill, as its parent sees it. */
export type Child = {
  readonly id: Id<"job">;
  readonly status: JobStatus;
  /** The reason of its park. Empty if it is not parked. */
  readonly parkReason: string;
  /** True if its deadline's clock is stopped. */
  readonly isClockStopped: boolean;
  readonly isCancelRequested: boolean;
  readonly used: UsedDocument;
  /** The part of the parent's limits that it may use. */
  readonly limits: ChildDocument["limits"];
  /** The calls in its receipt. Undefined before its end. */
  readonly calls: CallCounts | undefined;
  readonly outcome: "complete" | "partial" | "none" | "";
  readonly resultJson: string;
  readonly lastError: string;
  /** True if it succeeded and can be undone. */
  readonly isUndoable: boolean;
};

/** A skill that a job runs: its pinned version, and its program. */
export type LoadedSkill = { readonly skill: PinnedSkill; readonly loaded: LoadedProgram };

/** The known keys of a set's rows in one driver. `rows`: the number of rows that the set had then. */
export type KnownKeys = { rows: number; readonly keys: Set<string> };

/** Effects of a step on the world outside its job. */
export type StepEffects = {
  readonly clock: Clock;
  /** Known keys of sets, by step. They save a read of the rows and contain nothing more than them. */
  readonly knownKeys: Map<string, KnownKeys>;
  /** True if no further call of a job may begin now. The driver knows the reason. */
  mustPause(state: JobState): boolean;
  /** For a job with branches at work: the shared use of its limits. All limits are checked against it. */
  readonly shared?: SharedLimits;
  /**
   * True if uncommitted work of a step action must be dropped, because the job must end or pause, or the node stops. Other waiting jobs are
   * no reason.
   */
  mustEnd(state: JobState): boolean;
  /** Runs work that pauses repeatedly so that other work gets turns. After a pause with a promise it continues when that resolves. */
  inTurns<T>(work: Iterator<Promise<void> | undefined, T>): Promise<T>;
  /** Asks if a call may begin on the node now. Returns undefined if it may, or a promise that resolves at the job's turn. */
  spareTime(): Promise<void> | undefined;
  /** Opens an account of the memory that a step action holds for a whole set, charged to the job's project. */
  holdMemory(): MemoryHold;
  /** Longest wait of a step itself, in milliseconds. For a longer one it gives the job back. */
  readonly patienceMs: number;
  /** Pause before a call that may still run on a lost node is looked up again, in milliseconds. */
  readonly busyPollMs: number;
  /** Calls a tool once. A write has its own key for each attempt, committed before it is sent. */
  call(state: JobState, invocation: Invocation, turn: CallTurn): Promise<AttemptResult>;
  /** Writes ledger rows that could not be committed with their step action, as far as possible. */
  saveRecords(records: readonly CallRecord[]): Promise<void>;
  /** Returns the outcome of a condition of the job, or of a map's row with the answers so far, which must not change. */
  test(state: JobState, condition: Expression, at?: RowNames): Promise<CelOutcome>;
  /**
   * Returns the outcomes of a condition for rows, in order, up to the first without a value. If that takes long and `isDue` is true, it
   * returns fewer, at least one.
   */
  testRows(
    state: JobState,
    condition: Expression,
    rows: readonly ReadRow[],
    isDue: () => boolean,
  ): Promise<readonly CelOutcome[]>;
  /** Returns the computed values of an expression for rows, in the way of `testRows`. */
  computeRows(
    state: JobState,
    expression: Expression,
    rows: readonly ReadRow[],
    isDue: () => boolean,
  ): Promise<readonly CelComputed[]>;
  /** Returns the computed value of an expression from the names at its place. */
  compute(scope: RunScope, expression: Expression): Promise<CelComputed>;
  readRows(state: JobState, range: RowRange): Promise<SetPage>;
  /** Reads as many rows of a set as are neither many nor large together, at least one if there is one. */
  readChunk(state: JobState, range: ChunkRange): Promise<SetChunk>;
  /**
   * Opens rows of the job by their numbers: all, or as many of the first named ones as fit into about `bytesMax` of memory, at least one.
   */
  openRows(state: JobState, rowNumbers: readonly number[], bytesMax: number): Promise<OpenedRows>;
  /** Returns a skill that the job's program names, as it was pinned. */
  loadSkill(state: JobState, name: string): Promise<LoadedSkill>;
  /** Returns why an ended child cannot be continued where it stopped, or undefined if it can. */
  whyNotTakenOn(state: JobState, id: Child["id"]): Promise<string | undefined>;
  /** Returns child jobs. Deleted ones are left out. */
  readChildren(state: JobState, ids: readonly Child["id"][]): Promise<readonly Child[]>;
};
