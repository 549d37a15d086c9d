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
  /** The generation that the call belongs to: that of the job, unless an earlier attempt at it began the call. */
  readonly generation: number;
  /** Secrets that are filled in among the arguments when the call is sent. */
  readonly secretUses: readonly SecretSlot[];
  /** The generation whose keys the app is given. */
  readonly appGeneration: number;
};

/** A row of a set, opened. `data` is empty where it was not asked for. */
export type ReadRow = {
  readonly ordinal: number;
  readonly rowNumber: number;
  readonly state: "in" | RowState;
  readonly data: JsonObject;
};

/** A row of a set, with what the calls of a map came to so far. */
export type SetRow = ReadRow & {
  readonly doneCalls: number;
  readonly outputs: JsonObject;
  /** What its fields and those answers take in memory, about. */
  readonly bytes: number;
};

/** Rows that stand in a set one behind the other. `hasMore` where others may stand behind them. */
export type SetPage = { readonly rows: readonly SetRow[]; readonly hasMore: boolean };

/** Where a chunk of a set is read: from an ordinal on; of some states, where they are named. */
export type ChunkRange = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly states?: readonly RowState[] | undefined;
  /** False leaves the fields of the rows sealed. Default true. */
  readonly withData?: boolean | undefined;
};

/** Rows that stand in a set one behind the other. */
export type SetChunk = {
  readonly rows: readonly ReadRow[];
  /** The ordinal to read on from; undefined at the end of the set. */
  readonly next: number | undefined;
  /** What they take in memory, about. */
  readonly bytes: number;
};

/** Rows of a job, opened by their numbers. `rows`: how many of those that were named first are among `fields`. */
export type OpenedRows = {
  readonly rows: number;
  readonly fields: ReadonlyMap<number, JsonObject>;
  /** What all of those take in memory, about. */
  readonly bytes: number;
};

/** What an expression of a map's call may name beside what those of steps may. */
export type RowNames = { readonly row: JsonObject; readonly calls: JsonObject };

/** Which rows of a set are read: from an ordinal on, so many; of one state, or of some, where they are named. */
export type RowRange = {
  readonly setId: string;
  readonly fromOrdinal: number;
  readonly limit: number;
  /** Sealed bytes of their fields and answers, about: the page ends with the row that comes to them. */
  readonly bytesMax: number;
  readonly state?: "failed" | "unknown" | undefined;
  readonly states?: readonly RowState[] | undefined;
  /** False leaves the fields of the rows sealed. Default true. */
  readonly withData?: boolean | undefined;
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

/** A job that runs a skill, as the one that runs it sees it. */
export type Child = {
  readonly id: Id<"job">;
  readonly status: JobStatus;
  /** Why it is parked; empty while it is not. */
  readonly parkReason: string;
  /** Whether its deadline's clock stands still. */
  readonly isClockStopped: boolean;
  readonly isCancelRequested: boolean;
  readonly used: UsedDocument;
  /** What it may use of the limits of the job that runs it. */
  readonly limits: ChildDocument["limits"];
  /** Those of its receipt; undefined before its end. */
  readonly calls: CallCounts | undefined;
  readonly outcome: "complete" | "partial" | "none" | "";
  readonly resultJson: string;
  readonly lastError: string;
  /** Whether it ended well and what it did can be undone. */
  readonly isUndoable: boolean;
};

/** A skill that a job runs: what pins it, and its program. */
export type LoadedSkill = { readonly skill: PinnedSkill; readonly loaded: LoadedProgram };

/** The keys of the rows of a set, as one driver knows them. `rows`: how many rows the set had then. */
export type KnownKeys = { rows: number; readonly keys: Set<string> };

/** What a step does to the world outside its job. */
export type StepEffects = {
  readonly clock: Clock;
  /** What this driver knows of the keys of sets, by their step: it spares a look at the rows, and holds nothing that they do not. */
  readonly knownKeys: Map<string, KnownKeys>;
  /** Whether no further call of a job may begin now: the driver knows why. */
  mustPause(state: JobState): boolean;
  /** Of a job whose branches are at work: what they take of its limits beside each other. Limits are held to it. */
  readonly shared?: SharedLimits;
  /** Whether what an act has not kept is to be given up: the job is to end or to stand, or its node is. Others that wait are no reason. */
  mustEnd(state: JobState): boolean;
  /** Runs work that stops again and again, so that others get their turn; where it stops with a promise it goes on when that is kept. */
  inTurns<T>(work: Iterator<Promise<void> | undefined, T>): Promise<T>;
  /** Asks whether a call may begin on the node now, where many can wait: undefined, or resolves when it is the job's turn. */
  spareTime(): Promise<void> | undefined;
  /** Opens an account of what an act holds in memory of a whole set, charged to the job's project. */
  holdMemory(): MemoryHold;
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
    rows: readonly ReadRow[],
    isDue: () => boolean,
  ): Promise<readonly CelOutcome[]>;
  /** What an expression computes of rows, as `testRows` has outcomes. */
  computeRows(
    state: JobState,
    expression: Expression,
    rows: readonly ReadRow[],
    isDue: () => boolean,
  ): Promise<readonly CelComputed[]>;
  /** What an expression computes from what may be named at its place. */
  compute(scope: RunScope, expression: Expression): Promise<CelComputed>;
  readRows(state: JobState, range: RowRange): Promise<SetPage>;
  /** Reads as many rows of a set as are neither many nor large together; at least one, where there is one. */
  readChunk(state: JobState, range: ChunkRange): Promise<SetChunk>;
  /** Opens rows of the job by their numbers, all or as many as may take `bytesMax` in memory, about: those named first, at least one. */
  openRows(state: JobState, rowNumbers: readonly number[], bytesMax: number): Promise<OpenedRows>;
  /** A skill that the job's program names, as it was pinned. */
  loadSkill(state: JobState, name: string): Promise<LoadedSkill>;
  /** Why a job that this one ran, and that ended, cannot be taken on where it stopped; undefined where it can. */
  whyNotTakenOn(state: JobState, id: Child["id"]): Promise<string | undefined>;
  /** Jobs that this one runs; one that is gone is not among them. */
  readChildren(state: JobState, ids: readonly Child["id"][]): Promise<readonly Child[]>;
};
