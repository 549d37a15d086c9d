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

/** State of a row in a `map` step, as it is stored after some of the row's calls. */
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

/**
 * One change of a job. `apply` applies edits in the given order, and the job's log has the same order. A position is the place in the
 * program at which a job, or one parallel branch of it, is running. A receipt is the stored summary of what a step did. A set is the list
 * of rows that a step makes.
 * - `begin`: a step begins. If it begins again, its set, its value and its errors are empty again. `rows`: numbers of rows with which its
 *   receipt begins. `now`: the time that its expressions used. `sinceMs`: the start time, if the log gets it later.
 * - `receipt`, `calls`, `error`: change the step's receipt. Numbers of calls are added, and errors are counted by code.
 * - `unsent`: writes that a simulation did not send.
 * - `called`: the step made a call. The call's result is committed together with its effects on the job.
 * - `value`: sets the value of `steps.<id>`.
 * - `finish`: the step ends, and its position moves to the index `to`. `isCut`: true if the job's end interrupts the step.
 * - `reopen`: another attempt of the job continues the step. If a position is at this step, the edit has its `progress`.
 * - `skip`: the step is recorded as skipped without having begun.
 * - `forget`: the step's results are removed, so that it can run again.
 * - `fetched`: rows of an app's answer are added to the job and to the step's set.
 * - `chosen`: rows of another step's set are added to the step's set. `looked`: number of rows that were read to choose them.
 * - `made`: new rows are added to the step's set. They were made from `looked` rows of another set.
 * - `mapped`: states of the rows of a `map` step after their calls.
 * - `turned`: all rows of the set in the state `from` change to the state `to`.
 * - `go`: a position moves from one index to another. `fork`: one position becomes one for each branch. `join`: the positions of all
 *   branches become one.
 * - `progress`: progress of the step at a position. `block`: progress of a running block (a step that contains steps); undefined when it
 *   ends.
 * - `move`: changes the job's status. `park`: sets what the job waits for. `deadline`: stops, starts or resets the clock of the job's
 *   deadline.
 * - `use`: adds to the used part of the job's limits. `recorded`: rows of ended calls in the ledger (the record of every tool call).
 * - `generation`: later calls count as new calls, not as repetitions. For a step in a branch, this applies only to the calls of that
 *   branch.
 * - `logProgress`: logs a step's progress, at most once in 5 seconds. `logUndo`: logs the progress of undoing calls at the same rate, or
 *   always with `isAlways`.
 * - `asked`: a question to people that the next commit stores.
 * - `armUndo`: adds undo entries, which say how calls are undone.
 * - `child`: a child job that the next commit stores, to run a skill (a program called as a tool). `retryChild`: an ended child job that
 *   the next commit retries. `endChildUndo`: the result of undoing calls of a child job.
 */
export type Edit =
  | {
      readonly kind: "begin";
      readonly step: Step;
      readonly rows?: RowCounts;
      readonly now?: number;
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
  | { readonly kind: "calls"; readonly stepId: string; readonly calls: CallCounts }
  | {
      readonly kind: "error";
      readonly stepId: string;
      readonly code: string;
      readonly ordinal: number;
      readonly message: string;
    }
  | { readonly kind: "called"; readonly end: UnrecordedEnd }
  | ({ readonly kind: "unsent"; readonly stepId: string } & UnsentWrites)
  | { readonly kind: "value"; readonly stepId: string; readonly value: JsonValue }
  | {
      readonly kind: "finish";
      readonly stepId: string;
      readonly state: Exclude<StepState, "">;
      readonly to: number;
      readonly isCut?: true;
    }
  | { readonly kind: "reopen"; readonly stepId: string; readonly progress?: StepProgress }
  | { readonly kind: "skip"; readonly step: Step }
  | { readonly kind: "forget"; readonly stepId: string }
  | { readonly kind: "fetched"; readonly setId: string; readonly rows: readonly JsonObject[] }
  | {
      readonly kind: "chosen";
      readonly setId: string;
      readonly rowNumbers: readonly number[];
      readonly looked: number;
    }
  | {
      readonly kind: "made";
      readonly setId: string;
      readonly rows: readonly JsonObject[];
      readonly looked: number;
    }
  | { readonly kind: "mapped"; readonly setId: string; readonly rows: readonly MappedRow[] }
  | {
      readonly kind: "turned";
      readonly setId: string;
      readonly from: "failed" | "unknown";
      readonly to: "ok" | "skipped";
    }
  | { readonly kind: "go"; readonly from: number; readonly to: number }
  | { readonly kind: "fork"; readonly from: number; readonly to: readonly number[] }
  | { readonly kind: "join"; readonly to: number }
  | { readonly kind: "progress"; readonly progress: StepProgress }
  | { readonly kind: "block"; readonly stepId: string; readonly block: BlockProgress | undefined }
  | { readonly kind: "plan"; readonly plan: PlanProgress | undefined }
  | { readonly kind: "undo"; readonly undo: UndoProgress | undefined }
  | { readonly kind: "armUndo"; readonly entries: readonly UndoOf[] }
  | {
      readonly kind: "endChildUndo";
      readonly jobId: Id<"job">;
      readonly entry: number;
      readonly state: "done" | "failed";
    }
  | { readonly kind: "child"; readonly child: NewChild }
  | { readonly kind: "retryChild"; readonly child: RetriedChild }
  | { readonly kind: "endUndo"; readonly stepId: string; readonly entry: number; readonly state: "done" | "failed" }
  | { readonly kind: "saga"; readonly saga: Partial<SagaDocument> }
  | { readonly kind: "move"; readonly to: JobStatus; readonly reason: string; readonly chain?: readonly string[] }
  | { readonly kind: "park"; readonly park: ParkDocument }
  | { readonly kind: "deadline"; readonly clock: "stops" | "runs" | "begins"; readonly sinceMs?: number }
  | { readonly kind: "use"; readonly used: Partial<UsedDocument> }
  | { readonly kind: "recorded"; readonly records: readonly CallRecord[] }
  | { readonly kind: "params"; readonly params: JsonObject }
  | { readonly kind: "stepArgs"; readonly stepId: string; readonly args: JsonObject }
  | { readonly kind: "generation"; readonly stepId?: string }
  | { readonly kind: "lastError"; readonly message: string }
  | { readonly kind: "note"; readonly note: LogNote }
  | { readonly kind: "logProgress"; readonly stepId: string; readonly counts?: Readonly<Record<string, unknown>> }
  | { readonly kind: "logUndo"; readonly note: LogNote; readonly isAlways: boolean }
  | { readonly kind: "asked"; readonly prepared: PreparedAsk; readonly isOfPlan: boolean }
  | { readonly kind: "withdrawn"; readonly events: PreparedAsk["events"] }
  | { readonly kind: "wakeJob"; readonly jobId: AskInput["jobId"] }
  | { readonly kind: "end" };

/** A child job that is to run a skill. */
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

/**
 * A child job, and the state in which its parent job has last read it. If the child's state has changed since, the parent job reads the
 * child again.
 */
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

/** Name of a limit that a program can declare. */
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
 * - `end`: the job ends. If the program says so, its calls are undone first.
 * - `undo`: the undo of the calls begins.
 * - `finish`: the job ends for good.
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
