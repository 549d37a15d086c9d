import type { Clock } from "@svc/core";
import type { CallRecord } from "@svc/db";
import type {
  CelComputed,
  CelOutcome,
  Expression,
  JsonObject,
  JsonValue,
  MapCall,
  PinnedTool,
  RowState,
  RunScope,
  SecretUse,
} from "@svc/program";
import type { JobState } from "../state/job.ts";

/** Where a call stands in its job: the same place is never executed twice in silence. */
export type CallPlace = {
  readonly stepId: string;
  /** Of the row; 0 for a step without rows. Of an undo, the entry. */
  readonly ordinal: number;
  /** Id of the call; `undo` for an undo. */
  readonly callId: string;
};

/** A call of a program, filled in. */
export type Invocation = {
  readonly call: Pick<MapCall, "tool" | "entity" | "http" | "retry" | "timeoutMs">;
  readonly place: CallPlace;
  readonly args: JsonObject;
  /** Secrets that are filled in among the arguments when the call is sent. */
  readonly secretUses: readonly SecretUse[];
  /** The generation whose keys the app is given. */
  readonly appGeneration: number;
};

/** A row of a set, opened. `data` is empty where it was not asked for. */
export type SetRow = {
  readonly ordinal: number;
  readonly rowNumber: number;
  readonly state: "in" | RowState;
  readonly data: JsonObject;
  readonly doneCalls: number;
  readonly outputs: JsonObject;
};

/** What an expression of a map's call may name beside what those of steps may. */
export type RowNames = { readonly row: JsonObject; readonly calls: JsonObject };

/** Which rows of a set are read: from an ordinal on, so many; of one state, or of some, where they are named. */
export type RowRange = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly limit: number;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly RowState[] | undefined;
  /** False leaves the fields of the rows sealed. Default true. */
  readonly withData?: boolean;
};

/**
 * What came of one call, once. `busy` while it may still run on a node that was lost; `gone` when there is no such tool; `limited` when
 * a call limit let it not go now, and nothing was sent: it is this job's turn after `waitMs`.
 */
export type Attempted =
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
      /** Whether it is what an earlier call under the same key was answered. */
      readonly isReplay: boolean;
    };

/** Takes the ledger's row of a call that ended: whoever takes it commits it. */
export type TakeRecord = (record: CallRecord) => void;

/** One attempt at a call. Without `takeRecord` its end is committed to the ledger before it is answered. */
export type CallTurn = {
  readonly tool: PinnedTool;
  readonly attempt: number;
  readonly takeRecord?: TakeRecord | undefined;
};

/** What a step does to the world outside its job. */
export type StepEffects = {
  readonly clock: Clock;
  /** Whether no further call of a job may begin now: the driver knows why. */
  mustPause(state: JobState): boolean;
  /** How long a step may wait itself; for longer it gives the job back. Milliseconds. */
  readonly patienceMs: number;
  /** How soon a call that may still run on a lost node is asked for again. Milliseconds. */
  readonly busyPollMs: number;
  /** Calls a tool once; a write under a key of its own for each attempt, committed before it is sent. */
  call(state: JobState, invocation: Invocation, turn: CallTurn): Promise<Attempted>;
  /** Writes rows of the ledger that could not be committed with their act, as far as that can be done. */
  saveRecords(records: readonly CallRecord[]): Promise<void>;
  /** The outcome of a condition of the job, or of a row of a map with the answers of its calls so far, which are not to change. */
  test(state: JobState, condition: Expression, at?: RowNames): Promise<CelOutcome>;
  /**
   * The outcomes of a condition for rows, in their order, up to the first that is no answer. Fewer where that takes long, and
   * `isDue` says that the driver is wanted: at least one.
   */
  testRows(
    state: JobState,
    condition: Expression,
    rows: readonly SetRow[],
    isDue: () => boolean,
  ): Promise<readonly CelOutcome[]>;
  /** What an expression computes from what may be named at its place. */
  compute(scope: RunScope, expression: Expression): Promise<CelComputed>;
  readRows(state: JobState, range: RowRange): Promise<SetRow[]>;
};
