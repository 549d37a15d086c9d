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

/** An entry for the job's log. Payloads carry no row data. Without a chain the program itself is the cause. */
export type LogNote = {
  readonly type: string;
  readonly stepId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly chain?: readonly string[];
};

/** A row of a map after its calls, as far as they came. */
export type MappedRow = {
  readonly ordinal: number;
  readonly rowNumber: number;
  /** `in` while it has not ended. */
  readonly state: "in" | RowState;
  readonly doneCalls: number;
  readonly errorCode: string;
  /** Answers of its calls by id, where a later look at the row needs them. */
  readonly outputs: JsonObject | undefined;
  /** Its fields, where what is kept of the answers makes it a row of its own. */
  readonly data?: JsonObject | undefined;
};

/** How a call that ended well is to be undone; without `args` they could not be filled in, and nobody could undo it. */
export type UndoOf = {
  readonly stepId: string;
  readonly ordinal: number;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: JsonObject | undefined;
};

/**
 * One thing that an act changes. `apply` carries them out in their order, which is the order of the log.
 *
 * - `begin`: a step begins, or begins again: its set, value and errors are made anew. `rows`: what its receipt counts at first.
 *   `now`: what its expressions took for the time, given by the driver where they were evaluated before. `sinceMs`: when, of one
 *   that tells of itself later.
 * - `receipt`, `calls`, `error`: what its receipt says; calls are added, errors counted by code.
 * - `unsent`: what writes would have sent that a simulation left out.
 * - `called`: a call of the step was made, and its end is to be committed with what follows from it.
 * - `value`: what `steps.<id>` names.
 * - `finish`: the step ends, and its position goes `to`; `isCut`: because the job ends. `reopen`: another attempt at the job goes on
 *   with it, as `progress` says where a position stands at it. `skip`: it is recorded as skipped, without having begun.
 * - `forget`: what it made is taken back, before it may run again.
 * - `fetched`: rows of an answer become rows of the job and of the step's set. `chosen`: rows of another set become rows of the
 *   step's set; `looked` is how many were looked at. `made`: so do rows that were made of those. `mapped`: rows of the map's set after their calls. `turned`: all rows of a set
 *   in one state get another.
 * - `go`: a position goes from one index to another. `fork`: it becomes one for each branch. `join`: all become one again.
 *   `progress`: how far the step there is. `block`: how far a block is whose steps
 *   are at work; undefined once they are not.
 * - `move`: the job's status. `park`: what it waits for. `deadline`: its clock runs, or stands still since then or now, or
 *   stands at its beginning.
 * - `use`: added to what it used of its limits. `recorded`: the ledger's rows of calls that ended.
 * - `generation`: calls are made anew from here on; of a step in a branch, those of its branch alone.
 * - `logProgress`: how far a step is, at most once in 5 seconds; `logUndo`: how far undoing is, as seldom unless `isAlways`.
 * - `asked`: a question that is put with the next commit.
 * - `armUndo`: how calls are undone.
 * - `child`: a job that is stored with the next commit, to run a skill. `retryChild`: one that ended is taken on with it. `endChildUndo`: what became of an undo entry of such a job.
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

/** A job that is to run a skill for another. */
export type NewChild = {
  readonly id: Id<"job">;
  /** As the program names it. */
  readonly name: string;
  readonly skill: PinnedSkill;
  readonly program: Pick<Program, "limits" | "sagaOn">;
  readonly input: JsonObject;
  readonly place: CallPlace;
  readonly generation: number;
  /** What it may use of the limits of the job that runs it. */
  readonly limits: ChildDocument["limits"];
};

/**
 * A job that ran a skill for another, and goes on where it stopped: what it may use of that one's limits over all its attempts, and
 * whether its writes in doubt are sent again.
 */
export type RetriedChild = {
  readonly id: Id<"job">;
  readonly limits: ChildDocument["limits"];
  readonly resendsUnknown: boolean;
};

/** Which call of a job: where a child stands in it. */
type CallPlace = { readonly stepId: string; readonly ordinal: number; readonly callId: string };

/** Where a child stood when it was looked at; one that stands elsewhere by now is looked at again. */
export type ChildStanding = { readonly id: Id<"job">; readonly standing: string };

/** What is to be asked. */
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

/** An end that a saga may run for. */
export type Cause = "failed" | "aborted" | "cancelled";

/**
 * What the driver does after an act. `on`: the next act. `commit`: commits first. `until`: gives the job back until then (epoch
 * milliseconds); `wait`: parks it meanwhile. `leave`: the job waits for a person. `ask`: puts a question. `fail`: the step fails, and the
 * job with it where nothing handles the error; so
 * does `limit`, because of one that is reached. `end`: the job ends, or is undone first where its program says so: `undo`
 * begins that. `finish`: the job ends for good. `await`: the job is left until one of its children stands elsewhere, it is time, what it asks is settled, or it expires.
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
      /** A question that a branch has put meanwhile. */
      readonly askId?: string;
    }
  | ({
      readonly kind: "fail";
      readonly stepId: string;
      /** The step that failed, where it stands in the one that fails by it: that is told to people. */
      readonly failedIn?: string;
      /** Whether its own `onError` has handled it already. */
      readonly isHandled?: boolean;
    } & Pick<StepFailure, "code" | "message"> &
      Partial<StepFailure>)
  | { readonly kind: "limit"; readonly stepId: string; readonly limit: LimitName }
  | { readonly kind: "end"; readonly cause: Cause; readonly chain: readonly string[] }
  | { readonly kind: "undo"; readonly chain: readonly string[] }
  | { readonly kind: "finish"; readonly status: JobStatus; readonly reason: string; readonly chain: readonly string[] };

/** All that one act changes, and what the driver does then. */
export type Change = { readonly edits: readonly Edit[]; readonly next: Next };
