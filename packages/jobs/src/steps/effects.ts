import type { SeenAccounts } from "@svc/connections";
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

/** The place of a call in its job. svc never silently executes two calls of the same place. */
export type CallPlace = {
  readonly stepId: string;
  /** Ordinal of the row. 0 for a step without rows. For an undo, the ordinal of the undo entry. */
  readonly ordinal: number;
  /** Id of the call. For an undo, the text `undo`. */
  readonly callId: string;
};

/** A call of a program with its arguments filled in. */
export type Invocation = {
  readonly call: Pick<MapCall, "tool" | "entity" | "http" | "retry" | "timeoutMs">;
  readonly place: CallPlace;
  readonly args: JsonObject;
  /**
   * Generation of the call. It equals the job's generation, except for a call that began in an earlier attempt of the job and keeps that
   * generation.
   */
  readonly generation: number;
  /** Secrets that are inserted into the arguments when the call is sent. */
  readonly secretUses: readonly SecretSlot[];
  /** The generation that is part of the key sent to the app. */
  readonly appGeneration: number;
};

/** A row of a set whose fields were opened. `data` is empty if the caller did not request the fields. */
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
  /** Approximate memory of the row's fields and of the answers in `outputs`, in bytes. */
  readonly bytes: number;
};

/** Consecutive rows of a set. `hasMore`: true if more may follow. */
export type SetPage = { readonly rows: readonly SetRow[]; readonly hasMore: boolean };

/** The rows of a set that a chunk is read from: rows from the ordinal `fromOrdinal` on, limited to `states` if it is given. */
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
  /** Approximate memory of the rows, in bytes. */
  readonly bytes: number;
};

/**
 * Rows of a job that were opened by their row numbers. `rows`: how many of the requested numbers, counted from the first, are in `fields`.
 */
export type OpenedRows = {
  readonly rows: number;
  readonly fields: ReadonlyMap<number, JsonObject>;
  /** Approximate memory of all opened rows, in bytes. */
  readonly bytes: number;
};

/** Names that an expression of a map's call can use in addition to the names of steps. */
export type RowNames = { readonly row: JsonObject; readonly calls: JsonObject };

/** The rows of a set to read: at most `limit` rows from the ordinal `fromOrdinal` on, limited to the given states if any. */
export type RowRange = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly limit: number;
  /** Approximate limit of the sealed bytes of fields and answers. The page ends with the row that reaches this limit. */
  readonly bytesMax: number;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly RowState[] | undefined;
  /** If false, the fields of the rows stay sealed. Default true. */
  readonly withData?: boolean | undefined;
};

/**
 * Result of one attempt of a call. `busy`: the call may still run on a lost node. `gone`: the tool no longer exists. `limited`: a call
 * limit delays the call and nothing was sent; this job may call after `waitMs`.
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
      /** True if the answer was recorded earlier for a call with the same key. */
      readonly isReplay: boolean;
    };

/** Takes the ledger row of an ended call, so that the step action commits that row. */
export type TakeRecord = (record: CallRecord) => void;

/** One attempt of a call. If `takeRecord` is absent, the result is committed to the ledger before it is returned. */
export type CallTurn = {
  readonly tool: PinnedTool;
  readonly attempt: number;
  readonly takeRecord?: TakeRecord | undefined;
  /** Accounts that the submission of a new job has looked up. Default: none. */
  readonly seen?: SeenAccounts | undefined;
};

/** A child job that runs a skill, as its parent sees it. */
export type Child = {
  readonly id: Id<"job">;
  readonly status: JobStatus;
  /** Reason why the child is parked. Empty if it is not parked. */
  readonly parkReason: string;
  /** True if its deadline's clock is stopped. */
  readonly isClockStopped: boolean;
  readonly isCancelRequested: boolean;
  readonly used: UsedDocument;
  /** The part of the parent's limits that the child may use. */
  readonly limits: ChildDocument["limits"];
  /** Call counts in the child's receipt. Undefined until the child ends. */
  readonly calls: CallCounts | undefined;
  readonly outcome: "complete" | "partial" | "none" | "";
  readonly resultJson: string;
  readonly lastError: string;
  /** True if the child succeeded and can be undone. */
  readonly isUndoable: boolean;
};

/** A skill that a job runs: its pinned version and the loaded program. */
export type LoadedSkill = { readonly skill: PinnedSkill; readonly loaded: LoadedProgram };

/** The known keys of a set's rows in one driver. `rows`: number of rows in the set when these keys were read. */
export type KnownKeys = { rows: number; readonly keys: Set<string> };

/** The functions with which a step affects the world outside its job. */
export type StepEffects = {
  readonly clock: Clock;
  /** Known keys of sets, by step. They save reading the rows and contain nothing that the rows do not contain. */
  readonly knownKeys: Map<string, KnownKeys>;
  /** True if the job must not begin another call now. The driver knows the reason. */
  mustPause(state: JobState): boolean;
  /** The shared use of the job's limits, if the job has running branches. Every limit is then checked against this shared use. */
  readonly shared?: SharedLimits;
  /**
   * True if the uncommitted work of a step action must be dropped: the job must end or pause, or the node stops. Other jobs that wait are
   * not a reason.
   */
  mustEnd(state: JobState): boolean;
  /**
   * Runs work that pauses repeatedly, so that other work gets turns. If the work pauses with a promise, it continues when that promise
   * resolves.
   */
  inTurns<T>(work: Iterator<Promise<void> | undefined, T>): Promise<T>;
  /** Asks if a call may begin on the node now. Returns undefined if it may, or a promise that resolves at the job's turn. */
  spareTime(): Promise<void> | undefined;
  /** Opens an account for the memory that a step action holds for a whole set. The memory is charged to the job's project. */
  holdMemory(): MemoryHold;
  /** Longest time that a step action waits by itself, in milliseconds. For a longer wait it gives the job back. */
  readonly patienceMs: number;
  /** Pause before svc checks again a call that may still run on a lost node, in milliseconds. */
  readonly busyPollMs: number;
  /** Makes one attempt of a tool call. For a write, each attempt has its own key, which is committed before the write is sent. */
  call(state: JobState, invocation: Invocation, turn: CallTurn): Promise<AttemptResult>;
  /** Writes ledger rows that could not be committed with their step action. It writes as many as it can. */
  saveRecords(records: readonly CallRecord[]): Promise<void>;
  /** Returns the outcome of a condition. `at`: for a map, the row and the answers so far; the caller must not change them afterwards. */
  test(state: JobState, condition: Expression, at?: RowNames): Promise<CelOutcome>;
  /**
   * Returns the outcomes of a condition for rows, in order, and stops at the first row without a value. If `isDue` becomes true during a
   * long evaluation, it returns fewer outcomes, but at least one.
   */
  testRows(
    state: JobState,
    condition: Expression,
    rows: readonly ReadRow[],
    isDue: () => boolean,
  ): Promise<readonly CelOutcome[]>;
  /** Returns the computed values of an expression for rows. It stops early in the same cases as `testRows`. */
  computeRows(
    state: JobState,
    expression: Expression,
    rows: readonly ReadRow[],
    isDue: () => boolean,
  ): Promise<readonly CelComputed[]>;
  /** Returns the computed value of an expression. `scope`: the names that the expression can use. */
  compute(scope: RunScope, expression: Expression): Promise<CelComputed>;
  readRows(state: JobState, range: RowRange): Promise<SetPage>;
  /** Returns the next rows of a set: a limited number of rows of limited total size, and at least one row if the set has one. */
  readChunk(state: JobState, range: ChunkRange): Promise<SetChunk>;
  /**
   * Opens rows of the job by their row numbers. It opens all of them, or as many from the first on as fit into about `bytesMax` of memory,
   * at least one.
   */
  openRows(state: JobState, rowNumbers: readonly number[], bytesMax: number): Promise<OpenedRows>;
  /** Returns the pinned version of a skill that the job's program names. */
  loadSkill(state: JobState, name: string): Promise<LoadedSkill>;
  /** Returns the reason why an ended child cannot continue where it stopped, or undefined if the child can continue. */
  whyNotTakenOn(state: JobState, id: Child["id"]): Promise<string | undefined>;
  /** Returns the child jobs with these ids. Deleted jobs are left out. */
  readChildren(state: JobState, ids: readonly Child["id"][]): Promise<readonly Child[]>;
};
