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

/** An entry for the job's log. Its payload contains no row data. If `chain` is absent, the program itself is the cause. */
export type LogNote = {
  readonly type: string;
  readonly stepId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly chain?: readonly string[];
};

/** A row of a map after its calls so far. */
export type MappedRow = {
  readonly ordinal: number;
  readonly rowNumber: number;
  /** State of the row; `in` until the row has ended. */
  readonly state: "in" | RowState;
  readonly doneCalls: number;
  readonly errorCode: string;
  /** Answers of the row's calls by call id, if a later call of the row needs them. */
  readonly outputs: JsonObject | undefined;
  /** The row's fields, if the kept parts of answers make it a new row. */
  readonly data?: JsonObject | undefined;
};

/** How a successful call is undone. If `args` is absent, the arguments could not be filled in, and the call cannot be undone. */
export type UndoOf = {
  readonly stepId: string;
  readonly ordinal: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: JsonObject | undefined;
};

/**
 * One change of a step action. `apply` carries changes out in their order, which is the order of the log.
 * - `begin`: a step begins, or begins again: its set, value and errors are new. `rows`: the first counts of its receipt. `now`: the time
 *   that its expressions used, given by the driver if they were evaluated before. `sinceMs`: the start of a step that reports itself later.
 * - `receipt`, `calls`, `error`: parts of its receipt; calls are added, errors are counted by code.
 * - `unsent`: writes that a simulation left out.
 * - `called`: a call of the step was made; its result is committed together with its consequences.
 * - `value`: the value of `steps.<id>`.
 * - `finish`: the step ends, and its position moves `to`; `isCut`: because the job ends. `reopen`: another attempt of the job continues it,
 *   from `progress` if a position is at it. `skip`: it is recorded as skipped without having begun.
 * - `forget`: its results are removed before it may run again.
 * - `fetched`: rows of an answer become rows of the job and of the step's set. `chosen`: rows of another set become rows of the step's set;
 *   `looked` counts the rows that were read. `made`: the same for rows made from those. `mapped`: rows of the map's set after their calls.
 *   `turned`: all rows of a set in one state change to another.
 * - `go`: a position moves from one index to another. `fork`: it becomes one for each branch. `join`: all become one again. `progress`:
 *   progress of its step. `block`: progress of a block whose steps are at work; undefined when they no longer are.
 * - `move`: the job's status. `park`: what it waits for. `deadline`: its clock runs, is stopped since then or now, or is reset.
 * - `use`: added to the used part of its limits. `recorded`: the ledger's rows of calls that ended.
 * - `generation`: calls from here on are new ones; for a step in a branch only those of its branch.
 * - `logProgress`: progress of a step, at most once in 5 seconds; `logUndo`: progress of undoing, equally seldom unless `isAlways`.
 * - `asked`: a question that is raised with the next commit.
 * - `armUndo`: how calls are undone.
 * - `child`: a child job that is stored with the next commit, to run a skill. `retryChild`: an ended child is retried with it.
 *   `endChildUndo`: the result of an undo entry of a child.
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
  /** The skill's name in the program. */
  readonly name: string;
  readonly skill: PinnedSkill;
  readonly program: Pick<Program, "limits" | "sagaOn">;
  readonly input: JsonObject;
  readonly place: CallPlace;
  readonly generation: number;
  /** The part of the parent's limits that the child may use. */
  readonly limits: ChildDocument["limits"];
};

/**
 * A child job that continues where it stopped. `limits`: the part of the parent's limits for all its attempts together. `resendsUnknown`:
 * true if its writes in doubt are sent again.
 */
export type RetriedChild = {
  readonly id: Id<"job">;
  readonly limits: ChildDocument["limits"];
  readonly resendsUnknown: boolean;
};

/** The call of the parent job for which a child runs. */
type CallPlace = { readonly stepId: string; readonly ordinal: number; readonly callId: string };

/** A child job and its state when it was read. If the child's state differs later, the child is read again. */
export type ChildStanding = { readonly id: Id<"job">; readonly standing: string };

/** A question that is to be asked. */
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

/** A limit that a program declares. */
export type LimitName = "toolCalls" | "writes" | "rows" | "asks";

/** The kinds of a job's end after which its calls can be undone, if the program declares that. */
export type Cause = "failed" | "aborted" | "cancelled";

/**
 * Next action of the driver after a step action. `on`: the next action. `commit`: commits first. `until`: gives the job back until then (epoch
 * milliseconds); `wait`: also parks it. `leave`: the job waits for a person. `ask`: raises a question. `fail`: the step fails, and the job
 * with it if nothing handles the error; `limit`: the same because a limit is reached. `end`: the job ends, or is first undone if its
 * program declares that; `undo` begins that. `finish`: the job ends for good. `await`: the job is left until a child is in another state,
 * the time comes, its question is settled, or it expires.
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
      /** The question that a branch has asked meanwhile. */
      readonly askId?: string;
    }
  | ({
      readonly kind: "fail";
      readonly stepId: string;
      /** The inner step whose failure made this step fail. People see it. */
      readonly failedIn?: string;
      /** True if the step's own `onError` has already handled the error. */
      readonly isHandled?: boolean;
    } & Pick<StepFailure, "code" | "message"> &
      Partial<StepFailure>)
  | { readonly kind: "limit"; readonly stepId: string; readonly limit: LimitName }
  | { readonly kind: "end"; readonly cause: Cause; readonly chain: readonly string[] }
  | { readonly kind: "undo"; readonly chain: readonly string[] }
  | { readonly kind: "finish"; readonly status: JobStatus; readonly reason: string; readonly chain: readonly string[] };

/** All changes of one step action, and what the driver does next. */
export type Change = { readonly edits: readonly Edit[]; readonly next: Next };
