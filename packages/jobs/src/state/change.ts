import type { AskInput, PreparedAsk } from "@svc/asks";
import type { Id } from "@svc/core";
import type { CallRecord } from "@svc/db/calls/repo";
import type { CallCounts, RowCounts } from "@svc/db/documents/calls";
import type { ChildDocument, ParkDocument, UsedDocument } from "@svc/db/documents/jobs";
import type { DecisionDocument, SagaDocument } from "@svc/db/documents/programs";
import type { StepState } from "@svc/db/documents/step-receipt";
import type { JsonObject, JsonValue, PinnedSkill, Program, RowState, Step } from "@svc/program";
import type { UnrecordedEnd } from "@svc/tools";
import type { BlockProgress, PlanProgress, StepFailure, StepProgress, UndoProgress } from "./progress.ts";
import type { UnsentWrites } from "./simulated.ts";
import type { JobStatus } from "./statuses.ts";

/**
 * A new entry for the job's log. Its payload must not contain row data. `chain`: the causes of the entry; absent if the program itself is
 * the cause.
 */
export type LogNote = {
  readonly type: string;
  readonly stepId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly chain?: readonly string[];
};

/**
 * State of a row in a `map` step (a step that makes calls for each row), as the next commit stores it. Not all calls of the row need to be
 * done.
 */
export type MappedRow = {
  readonly ordinal: number;
  readonly rowNumber: number;
  /** State of the row that a `map` step processes: `in` while the step still processes the row, and afterwards how the row ended. */
  readonly state: "in" | RowState;
  readonly doneCalls: number;
  readonly errorCode: string;
  /** Results of the row's calls so far, by call id. Undefined if no later call of the row needs these results. */
  readonly outputs: JsonObject | undefined;
  /**
   * The fields of a new row. Present if the `map` step (which makes calls for each row) stores parts of the calls' results. The new row
   * then differs from its source row.
   */
  readonly data?: JsonObject | undefined;
};

/**
 * Data with which a successful call can be undone. If `args` is absent, the arguments could not be computed, and the call cannot be undone.
 */
export type UndoOf = {
  readonly stepId: string;
  readonly ordinal: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: JsonObject | undefined;
};

/** One change of a job's state. The changes of a list are applied in order, and their log entries have the same order. */
export type Edit =
  | {
      /** Begins a step, without rows, value and errors of an earlier attempt. `rows`: row counts with which its receipt begins. */
      readonly kind: "begin";
      readonly step: Step;
      readonly rows?: RowCounts;
      /** Time that the step's expressions used, in epoch milliseconds. */
      readonly now?: number;
      /** Start time of the step in epoch milliseconds. Default: the time at which the edit is applied. */
      readonly sinceMs?: number;
    }
  | {
      readonly kind: "receipt";
      readonly stepId: string;
      readonly rows?: RowCounts;
      readonly decision?: DecisionDocument;
      readonly state?: StepState;
      readonly undo?: { readonly done: number; readonly failed: number };
      readonly isNewAttempt?: true;
    }
  /** Adds numbers of calls to the step's receipt. */
  | { readonly kind: "calls"; readonly stepId: string; readonly calls: CallCounts }
  | {
      /** Adds an error to the step's receipt, which counts errors by code. */
      readonly kind: "error";
      readonly stepId: string;
      readonly code: string;
      readonly ordinal: number;
      readonly message: string;
      /** Tool of the call that failed. Absent if it is the tool that the step's receipt names. */
      readonly toolSlug?: string;
    }
  /** The step made a call. The call's result is committed together with its effects on the job. */
  | { readonly kind: "called"; readonly end: UnrecordedEnd }
  /** Adds writes that a simulation did not send. */
  | ({ readonly kind: "unsent"; readonly stepId: string } & UnsentWrites)
  /** Sets the value of `steps.<id>`. */
  | { readonly kind: "value"; readonly stepId: string; readonly value: JsonValue }
  | {
      /** Ends the step, and moves its position to the index `to`. `isCut`: true if the job's end interrupts the step. */
      readonly kind: "finish";
      readonly stepId: string;
      readonly state: Exclude<StepState, "">;
      readonly to: number;
      readonly isCut?: true;
    }
  /** Continues the step in another attempt of the job. */
  | { readonly kind: "reopen"; readonly stepId: string; readonly progress?: StepProgress }
  /** Records the step as skipped without having begun. */
  | { readonly kind: "skip"; readonly step: Step }
  /** Removes the step's results, so that the step can run again. */
  | { readonly kind: "forget"; readonly stepId: string }
  /** Adds rows of an app's answer to the job and to the step's set of rows. */
  | { readonly kind: "fetched"; readonly setId: string; readonly rows: readonly JsonObject[] }
  | {
      /** Adds rows of another step to the step's set of rows. `looked`: number of rows that were read to choose them. */
      readonly kind: "chosen";
      readonly setId: string;
      readonly rowNumbers: readonly number[];
      readonly looked: number;
    }
  | {
      /** Adds new rows to the step's set of rows. They were made from `looked` rows of another step. */
      readonly kind: "made";
      readonly setId: string;
      readonly rows: readonly JsonObject[];
      readonly looked: number;
    }
  /** Records the states of rows after their calls in a `map` step. */
  | { readonly kind: "mapped"; readonly setId: string; readonly rows: readonly MappedRow[] }
  | {
      /** Changes the state of rows from `from` to `to`, for all rows of the set. */
      readonly kind: "turned";
      readonly setId: string;
      readonly from: "failed" | "unknown";
      readonly to: "ok" | "skipped";
    }
  /** Moves the job, or one of its branches, from one index of the program to another. */
  | { readonly kind: "go"; readonly from: number; readonly to: number }
  /** Replaces the job's position by one position for each branch. */
  | { readonly kind: "fork"; readonly from: number; readonly to: readonly number[] }
  /** Replaces the positions of all branches by one position of the job. */
  | { readonly kind: "join"; readonly to: number }
  | { readonly kind: "progress"; readonly progress: StepProgress }
  /** Sets the progress of a step that contains steps. `block`: undefined when the step ends. */
  | { readonly kind: "block"; readonly stepId: string; readonly block: BlockProgress | undefined }
  | { readonly kind: "plan"; readonly plan: PlanProgress | undefined }
  | { readonly kind: "undo"; readonly undo: UndoProgress | undefined }
  /** Adds undo entries, which say how calls are undone. */
  | { readonly kind: "armUndo"; readonly entries: readonly UndoOf[] }
  | {
      /** Records the result of undoing the calls of a child job. */
      readonly kind: "endChildUndo";
      readonly jobId: Id<"job">;
      readonly entry: number;
      readonly state: "done" | "failed";
    }
  /** Stores a new child job with the next commit. */
  | { readonly kind: "child"; readonly child: NewChild }
  /** Retries an ended child job with the next commit. */
  | { readonly kind: "retryChild"; readonly child: RetriedChild }
  | { readonly kind: "endUndo"; readonly stepId: string; readonly entry: number; readonly state: "done" | "failed" }
  | { readonly kind: "saga"; readonly saga: Partial<SagaDocument> }
  | { readonly kind: "move"; readonly to: JobStatus; readonly reason: string; readonly chain?: readonly string[] }
  | { readonly kind: "park"; readonly park: ParkDocument }
  /** Stops, starts or resets the clock of the job's deadline. */
  | { readonly kind: "deadline"; readonly clock: "stops" | "runs" | "begins"; readonly sinceMs?: number }
  /** Adds to the amounts that the job has used of its limits. */
  | { readonly kind: "use"; readonly used: Partial<UsedDocument> }
  /** Stores ledger rows of ended calls with the next commit. */
  | { readonly kind: "recorded"; readonly records: readonly CallRecord[] }
  | { readonly kind: "params"; readonly params: JsonObject }
  | { readonly kind: "stepArgs"; readonly stepId: string; readonly args: JsonObject }
  /** Lets later calls of the job count as new calls, not as repeats. `stepId`: if it is in a branch, only calls of this branch. */
  | { readonly kind: "generation"; readonly stepId?: string }
  | { readonly kind: "lastError"; readonly message: string }
  | { readonly kind: "note"; readonly note: LogNote }
  /** Logs a step's progress, at most once in 5 seconds. */
  | { readonly kind: "logProgress"; readonly stepId: string; readonly counts?: Readonly<Record<string, unknown>> }
  /** Logs the progress of undoing calls, at most once in 5 seconds. `isAlways`: true if it is logged in any case. */
  | { readonly kind: "logUndo"; readonly note: LogNote; readonly isAlways: boolean }
  /** Stores a question to people with the next commit. */
  | { readonly kind: "asked"; readonly prepared: PreparedAsk; readonly isOfPlan: boolean }
  | { readonly kind: "withdrawn"; readonly events: PreparedAsk["events"] }
  | { readonly kind: "wakeJob"; readonly jobId: AskInput["jobId"] }
  | { readonly kind: "end" };

/** A child job that a step is about to start. A child job runs a skill (a program used as a tool) for its parent job. */
export type NewChild = {
  readonly id: Id<"job">;
  /** Name under which the program uses the skill (a program that the project has saved as a tool). */
  readonly name: string;
  readonly skill: PinnedSkill;
  readonly program: Pick<Program, "limits" | "sagaOn">;
  readonly input: JsonObject;
  readonly place: CallPlace;
  readonly generation: number;
  /** The part of the parent job's limits that the child job may use. A child job is a job that a step of the parent job starts. */
  readonly limits: ChildDocument["limits"];
};

/**
 * An ended child job that is to continue where it stopped. `limits`: its part of the parent's limits, for all its attempts together.
 * `resendsUnknown`: true if its writes in doubt (executed or not) are sent again.
 */
export type RetriedChild = {
  readonly id: Id<"job">;
  readonly limits: ChildDocument["limits"];
  readonly resendsUnknown: boolean;
};

/** Place in the parent job at which a child job runs: the step, the number of the row, and the call. */
type CallPlace = { readonly stepId: string; readonly ordinal: number; readonly callId: string };

/** A child job, and the state in which its parent job last read it. When the child has another state, the parent job reads it again. */
export type ChildStanding = { readonly id: Id<"job">; readonly standing: string };

/** A question that the job is about to ask a person. */
export type JobQuestion = Pick<
  AskInput,
  | "stepId"
  | "pointId"
  | "kind"
  | "question"
  | "continuations"
  | "answerSchemaJson"
  | "escalation"
  | "defaultContinuation"
  | "counts"
>;

/** Name of a limit of a job that counts something, and that a program can declare. */
export type LimitName = "toolCalls" | "writes" | "rows" | "asks";

/**
 * Ways in which a job can end so that its calls are undone. The program declares for which of these causes (for example only `failed`) its
 * calls are undone.
 */
export type Cause = "failed" | "aborted" | "cancelled";

/**
 * What the node does next with the job, after a change.
 * - `on`: runs the next part of a step.
 * - `commit`: commits, then runs the next part of a step.
 * - `until`: stops; any node continues the job at `atMs` (epoch milliseconds).
 * - `wait`: stops like `until`, and stores the job as suspended.
 * - `ask`: asks a person a question.
 * - `leave`: stops, because the job waits for a person.
 * - `await`: stops until a child job changes, `atMs` comes, the question is settled, or the job expires.
 * - `fail`: the step fails. Without an error handler, the job fails too.
 * - `limit`: the step fails in the same way, because a limit of the job is reached.
 * - `end`: the job's work ends. Next comes `undo` if the program wants its calls undone, otherwise `finish`.
 * - `undo`: svc begins to undo the job's calls.
 * - `finish`: the job gets its final status.
 */
export type Next =
  | { readonly kind: "on" | "commit" | "leave" }
  | { readonly kind: "until"; readonly atMs: number }
  | { readonly kind: "wait"; readonly stepId: string; readonly atMs: number }
  | { readonly kind: "ask"; readonly question: JobQuestion }
  | {
      readonly kind: "await";
      readonly children: readonly ChildStanding[];
      readonly atMs?: number;
      /** Id of the pending question of one of the job's branches. When the question is settled, the job continues. */
      readonly askId?: string;
    }
  | ({
      readonly kind: "fail";
      readonly stepId: string;
      /** Id of the inner step whose failure made this step fail. Error messages for people name it. */
      readonly failedIn?: string;
      /** True if the step's own `onError` has already handled the error. */
      readonly isHandled?: boolean;
    } & Pick<StepFailure, "code" | "message"> &
      Partial<StepFailure>)
  | { readonly kind: "limit"; readonly stepId: string; readonly limit: LimitName }
  | { readonly kind: "end"; readonly cause: Cause; readonly chain: readonly string[] }
  | { readonly kind: "undo"; readonly chain: readonly string[] }
  | { readonly kind: "finish"; readonly status: JobStatus; readonly reason: string; readonly chain: readonly string[] };

/** The result of one part of a job's work: all changes of the job, and what its driver (the loop that runs its steps) does next. */
export type Change = { readonly edits: readonly Edit[]; readonly next: Next };
