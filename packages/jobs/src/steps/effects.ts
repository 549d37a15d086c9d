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
import type { WithheldCall } from "../state/progress.ts";
import type { JobStatus } from "../state/statuses.ts";
import type { SharedLimits } from "./shared-limits.ts";

/**
 * Identifies a call in its job by the step, the row and the call's id (for example the call `send` for row 3 of the step `notify`). svc
 * never silently executes two calls with the same place.
 */
export type CallPlace = {
  readonly stepId: string;
  /** Ordinal (number in the list of rows) of the row. 0 for a step without rows. For an undo call, the number of the undo entry. */
  readonly ordinal: number;
  /** Id of the call in its step. For an undo call, the text `undo`. */
  readonly callId: string;
};

/** One call of a program, with its arguments filled in, that is ready to be sent. */
export type Invocation = {
  readonly call: Pick<MapCall, "tool" | "entity" | "http" | "retry" | "timeoutMs">;
  readonly place: CallPlace;
  readonly args: JsonObject;
  /**
   * Number of the round of calls to which the call belongs. If the job decides to make its calls again, a new round with the next number
   * begins, and svc sends the calls anew. A call that began in an earlier attempt of the job, and is only continued, keeps its number.
   */
  readonly generation: number;
  /** Secrets that are inserted into the arguments when the call is sent. */
  readonly secretUses: readonly SecretSlot[];
  /**
   * Number from which svc computes the idempotency key that the app gets with the call. It grows when the job decides to make its calls
   * again as new calls. If the app must recognize a repeated call, the number does not change.
   */
  readonly appGeneration: number;
};

/** A row of a set with its fields decrypted. `data`: empty if the caller did not request the fields. */
export type ReadRow = {
  readonly ordinal: number;
  readonly rowNumber: number;
  readonly state: "in" | RowState;
  readonly data: JsonObject;
};

/** A row that a `map` step processes, with the results of the row's calls so far. */
export type SetRow = ReadRow & {
  readonly doneCalls: number;
  readonly outputs: JsonObject;
  /** Approximate memory of the row's fields and of the answers in `outputs`, in bytes. */
  readonly bytes: number;
};

/** Consecutive rows of a set (the list of rows that a step made). `hasMore`: true if more rows may follow. */
export type SetPage = { readonly rows: readonly SetRow[]; readonly hasMore: boolean };

/**
 * Selects a chunk (group of consecutive rows) of a set (the rows that a step has made), from the row number `fromOrdinal` on. `states`: if
 * given, only rows in these states.
 */
export type ChunkRange = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly states?: readonly RowState[] | undefined;
  /** If false, the fields of the rows are not decrypted. Default true. */
  readonly withData?: boolean | undefined;
};

/** A chunk: a group of consecutive rows of a set, as many as fit into the limits. */
export type SetChunk = {
  readonly rows: readonly ReadRow[];
  /**
   * Number of the row in the set (a job's list of rows) at which the next chunk (group of consecutive rows) begins. Undefined at the end of
   * the set.
   */
  readonly next: number | undefined;
  /** Approximate memory of the chunk's rows, in bytes. */
  readonly bytes: number;
};

/**
 * Decrypted rows that were requested by their row numbers. If not all fit into memory, only the first requested rows are present. `rows`:
 * number of these rows. `fields`: the fields of each row, by row number.
 */
export type OpenedRows = {
  readonly rows: number;
  readonly fields: ReadonlyMap<number, JsonObject>;
  /** Approximate memory of the rows in `fields`, in bytes. */
  readonly bytes: number;
};

/**
 * Names that the condition of a call in a `map` step can use, in addition to the ids of earlier steps. `row`: the row. `calls`: the answers
 * of the row's earlier calls.
 */
export type RowNames = { readonly row: JsonObject; readonly calls: JsonObject };

/** Selects rows of a set: at most `limit` rows from `fromOrdinal` on. `state` or `states`: if given, only rows in these states. */
export type RowRange = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly limit: number;
  /**
   * Approximate maximum size of the page of rows, in bytes. The encrypted fields and call answers of the rows count. The page ends with the
   * row that reaches this size.
   */
  readonly bytesMax: number;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly RowState[] | undefined;
  /** If false, the fields of the rows are not decrypted. Default true. */
  readonly withData?: boolean | undefined;
};

/**
 * Result of one attempt of a call. `busy`: the same call may still run on another node. `gone`: the tool no longer exists. `limited`: not
 * sent; try again after `waitMs` milliseconds. `unsent`: a simulation does not send it. `withheld`: not sent, because no approver has
 * accepted a change of the tool; `message`: undefined if it was reported before.
 */
export type AttemptResult =
  | {
      readonly kind: "withheld";
      readonly withheld: WithheldCall;
      readonly message: string | undefined;
      readonly waitMs: number;
    }
  | { readonly kind: "limited"; readonly waitMs: number }
  | { readonly kind: "busy" | "gone" | "unsent" }
  | {
      readonly kind: "answered";
      readonly outcome: string;
      readonly value: JsonValue;
      readonly message: string;
      readonly retryable: boolean;
      readonly retryAfterMs: number | undefined;
      readonly providerStatus: number;
      readonly faults: readonly { readonly pointer: string; readonly message: string }[];
      /** True if the answer is the recorded answer of an earlier tool call with the same idempotency key, and nothing was sent now. */
      readonly isReplay: boolean;
    };

/** Receives the ledger row (stored record) of an ended tool call, so that it is committed together with the results of the step. */
export type TakeRecord = (record: CallRecord) => void;

/**
 * One attempt of a tool call. `attempt`: number of attempts before this one. `takeRecord`: receives the call's ledger row (stored record),
 * which the caller then commits. Without `takeRecord`, the row is committed before the result is returned.
 */
export type CallTurn = {
  readonly tool: PinnedTool;
  readonly attempt: number;
  readonly takeRecord?: TakeRecord | undefined;
  /** Present if an earlier try of the call was withheld, because its tool has changed. */
  readonly withheld?: WithheldCall | undefined;
  /** Accounts that were looked up when the new job was submitted. Default: none. */
  readonly seen?: SeenAccounts | undefined;
};

/** A child job (a job that runs a skill for a step of its parent job), with the data that the parent needs. */
export type Child = {
  readonly id: Id<"job">;
  readonly status: JobStatus;
  /**
   * Reason why the child job is parked (interrupted until something happens, for example until a person answers). Empty if the child is not
   * parked.
   */
  readonly parkReason: string;
  /** True if the child job has no running deadline at present. */
  readonly isClockStopped: boolean;
  readonly isCancelRequested: boolean;
  readonly used: UsedDocument;
  /** The part of the parent job's limits that the child job may use. A child job is a job that a step of the parent job starts. */
  readonly limits: ChildDocument["limits"];
  /** How many calls of each kind the child job made, from its receipt (report). Undefined until the child job ends. */
  readonly calls: CallCounts | undefined;
  readonly outcome: "complete" | "partial" | "none" | "";
  readonly resultJson: string;
  readonly lastError: string;
  /** True if the child job succeeded and its calls can be undone. */
  readonly isUndoable: boolean;
};

/**
 * A skill (a program that is used as a tool) that a job runs. `skill`: the version that was chosen when the job was submitted. `loaded`:
 * the program, ready to run.
 */
export type LoadedSkill = { readonly skill: PinnedSkill; readonly loaded: LoadedProgram };

/**
 * Keys of the rows in a step's set (the rows that the step has made), as read by one driver (the loop that runs one job's steps). A fetched
 * item whose key is among them is already in the set and is left out. `rows`: number of rows in the set when the keys were read.
 */
export type KnownKeys = { rows: number; readonly keys: Set<string> };

/** Functions through which the code of a step reads or changes anything outside of its job's state in memory, such as calls of tools. */
export type StepEffects = {
  readonly clock: Clock;
  /**
   * Keys of the rows in a step's set (its list of rows so far), cached by step. With them, a step that fetches a list recognizes items that
   * it already has, without reading its rows again.
   */
  readonly knownKeys: Map<string, KnownKeys>;
  /**
   * Returns true if the job may not begin a further call now, for example because of a pause or because other jobs wait. The job then
   * commits and gives way.
   */
  mustPause(state: JobState): boolean;
  /**
   * Total use of the job's limits by all running branches of a `parallel` step. Present while such branches run. A step must then check
   * each limit against this total.
   */
  readonly shared?: SharedLimits;
  /**
   * True if the current step action (unit of a step's work) must stop without a commit, because the job must end or pause, or the node
   * stops. False if the only reason to stop is that more jobs wait.
   */
  mustEnd(state: JobState): boolean;
  /**
   * Runs work in small parts, so that other work of the node can run between them. If a part yields a promise, the next part begins when
   * this promise has resolved.
   */
  inTurns<T>(work: Iterator<Promise<void> | undefined, T>): Promise<T>;
  /** Returns undefined if this job may use the node's processor now. Otherwise returns a promise that resolves when the job may use it. */
  spareTime(): Promise<void> | undefined;
  /**
   * Begins to count the memory that a step action (part of a step's work) holds, for example for all rows of a list. The memory counts
   * towards the limit of the job's project.
   */
  holdMemory(): MemoryHold;
  /**
   * Maximum time in milliseconds that a step's action waits while the node keeps the job. For a longer wait, the node releases the job
   * until the wait ends.
   */
  readonly patienceMs: number;
  /** Pause in milliseconds before svc checks again if a call that another node began has ended. That node may have died. */
  readonly busyPollMs: number;
  /** Makes one attempt of a tool call. Before a write is sent, the key of this attempt is committed. */
  call(state: JobState, invocation: Invocation, turn: CallTurn): Promise<AttemptResult>;
  /**
   * Stores the ledger rows (records of tool calls) of calls whose results could not be committed with the job. If a row cannot be stored
   * now, it is dropped.
   */
  saveRecords(records: readonly CallRecord[]): Promise<void>;
  /**
   * Evaluates a condition and returns its outcome. `at`: the row and the answers of its earlier calls, if the condition belongs to a row.
   * The caller must not change `at` afterwards.
   */
  test(state: JobState, condition: Expression, at?: RowNames): Promise<CelOutcome>;
  /**
   * Evaluates a condition for rows and returns the outcomes, in the order of the rows. It ends at the first row for which the condition has
   * no value. If `isDue` becomes true during the work, it returns only the outcomes so far, at least one.
   */
  testRows(
    state: JobState,
    condition: Expression,
    rows: readonly ReadRow[],
    isDue: () => boolean,
  ): Promise<readonly CelOutcome[]>;
  /**
   * Returns the values of an expression for rows, in the order of the rows. Ends early at a row without a value, or when `isDue` returns
   * true because the job must pause.
   */
  computeRows(
    state: JobState,
    expression: Expression,
    rows: readonly ReadRow[],
    isDue: () => boolean,
  ): Promise<readonly CelComputed[]>;
  /** Returns the computed value of an expression. `scope`: the names that the expression can use. */
  compute(scope: RunScope, expression: Expression): Promise<CelComputed>;
  readRows(state: JobState, range: RowRange): Promise<SetPage>;
  /**
   * Returns the next chunk (group of consecutive rows) of a set: as many rows as the limits of number and size allow. It has at least one
   * row, unless no row is left.
   */
  readChunk(state: JobState, range: ChunkRange): Promise<SetChunk>;
  /**
   * Decrypts rows of the job by their row numbers. If they do not all fit into about `bytesMax` of memory, it returns the first ones, at
   * least one.
   */
  openRows(state: JobState, rowNumbers: readonly number[], bytesMax: number): Promise<OpenedRows>;
  /** Returns the pinned version of a skill, and its loaded program. `name`: the name that the job's program uses for the skill. */
  loadSkill(state: JobState, name: string): Promise<LoadedSkill>;
  /** Returns the reason why an ended child job cannot continue where it stopped. Undefined if it can continue. */
  whyNotTakenOn(state: JobState, id: Child["id"]): Promise<string | undefined>;
  /** Returns the child jobs with these ids. Deleted jobs are left out. */
  readChildren(state: JobState, ids: readonly Child["id"][]): Promise<readonly Child[]>;
};
