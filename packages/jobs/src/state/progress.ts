import type { Id, JsonNumber, KeyId } from "@svc/core";
import type { ParkDocument } from "@svc/db/documents/jobs";
import type { JsonValue, Step } from "@svc/program";
import type { SimulatedCalls } from "./simulated.ts";

/**
 * A call that waits because an MCP server describes the tool otherwise than an approver has accepted it. `accepted`: SHA-256 (hexadecimal)
 * of the accepted description. The call is sent again when another description is accepted, and at `triesAt` in any case, because the
 * server may have taken its change back. Times are in epoch milliseconds.
 */
export type WithheldCall = {
  readonly toolSlug: string;
  readonly accepted: string;
  readonly since: number;
  readonly triesAt: number;
};

/**
 * A call that is to be retried. `attempts`: attempts so far. `dueAt`: time of the next attempt, in epoch milliseconds. `withheld`: present
 * if the call waits until a change of its tool is accepted.
 */
export type RetryProgress = { readonly attempts: number; readonly dueAt: number; readonly withheld?: WithheldCall };

type CallProgress = {
  /**
   * Progress through the pages of a list. `token`: token, number or offset of the next page. `pages`: number of pages fetched. `seen`:
   * digest of the last page's rows, absent in records of version 0.1.
   */
  readonly page?: { readonly token: JsonValue; readonly pages: number; readonly seen?: string };
  readonly retry?: RetryProgress;
  /**
   * The earlier `generation` of the job that began the call; a retry of the job starts a new generation. svc repeats the call with the same
   * idempotency key. Absent if earlier generations did not begin the call.
   */
  readonly generation?: number;
  /**
   * The `generation` (a number) in the idempotency key that the app received. Present only if the call must be sent again with the same
   * key.
   */
  readonly appGeneration?: number;
  /**
   * Present if an earlier attempt of the job left the step's write in doubt (executed or not). The write is not sent again; a person is
   * asked.
   */
  readonly isInDoubt?: true;
};

/** Progress fields of each kind of step. For a kind that is not listed, only the fact that the step has begun is stored. */
type ProgressFields = {
  readonly call: CallProgress;
  readonly http: CallProgress;
  /** `next`: position of the row at which the step continues, in the list of rows that the step reads. */
  readonly filter: { readonly next?: number };
  readonly map: {
    /** Ordinal (number in the list of rows, the set) of the first row that has not ended. */
    readonly next?: number;
    /**
     * Numbers of rows (positions in a job's list of rows) that have already ended although an earlier row has not. `next` is the number of
     * the first row that has not ended; each number here is `next` or higher.
     */
    readonly ended?: readonly number[];
    /**
     * Set if the `map` step runs rows again after a person's answer or after a retry of the job. It is the state of the rows that run
     * again.
     */
    readonly again?: "failed" | "unknown";
    /**
     * Calls of rows that are to be retried. The key is `<ordinal>/<call>`: the position of the row in the list that the step processes, and
     * the index of the call.
     */
    readonly retries?: Readonly<Record<string, RetryProgress>>;
    /**
     * Present if the step's calls are sent again with the idempotency keys of an earlier generation (round of calls). It is the number of
     * that generation.
     */
    readonly appGeneration?: number;
    /** Generation (number of the round) of the step's calls. Present if an earlier attempt of the job began these calls. */
    readonly generation?: number;
    /** The call for which the rows of the step wait until a change of its tool is accepted. Absent if they wait for none. */
    readonly withheld?: WithheldCall | undefined;
    /** States of the rows that a retry of the job runs again. The `map` step does this after its other rows have ended. */
    readonly redo?: readonly ("failed" | "unknown")[];
    /**
     * Present if people decided that rows in doubt (their write may have been executed) count as done. These rows then get the state `ok`.
     */
    readonly acceptsDoubt?: true;
    /**
     * Ids of the child jobs that the rows' calls have started. The key is `<ordinal>/<call>`: the row's position in its set (list of rows),
     * and the index of the call.
     */
    readonly children?: Readonly<Record<string, Id<"job">>>;
    /**
     * Child jobs that were ended because this job ended. The key is `<ordinal>/<call>`: the row's number in the step's list of rows, and
     * the index of the call.
     */
    readonly endedChildren?: Readonly<Record<string, Id<"job">>>;
    /** Present if a retry may send a write again whose outcome is unknown. It applies to the child jobs of rows. */
    readonly resendsUnknown?: true;
  };
  readonly reduce: {
    readonly next?: number;
    /**
     * Values that are computed over the rows (for example a sum), from the rows that the step has read so far. The key is the name of the
     * value.
     */
    readonly totals?: Readonly<Record<string, Total>>;
  };
  /** `next`: position of the row at which the step continues, in the list of rows that the step reads. */
  readonly compute: { readonly next?: number };
  /** `next`: number of rows that the `take` step has taken so far. */
  readonly take: { readonly next?: number };
  readonly wait: { readonly wakeAt?: number };
  readonly run: {
    /** The child job that runs the skill of this `run` step. Absent until the child job is stored. */
    readonly childId?: Id<"job">;
    /** The child job of the `run` step that was ended because the parent job ended. */
    readonly endedId?: Id<"job">;
    /** Id of the ended child job that the `run` step continues, because the parent job is retried. */
    readonly retriesId?: Id<"job">;
    readonly resendsUnknown?: true;
  };
};

/**
 * State of a value (for example a sum) that a step computes over many rows, after some of these rows. `text` and `list`: contents so far.
 * `bytes`: size of these contents.
 */
export type Total = {
  readonly count: number;
  readonly sum: JsonNumber;
  readonly best: JsonNumber | string | null;
  readonly text?: string;
  readonly list?: readonly JsonValue[];
  readonly bytes?: number;
};

type BegunStep<Kind> = {
  readonly kind: Kind;
  readonly stepId: string;
  /** Id of the ask (question to a person) whose answer the step waits for. */
  readonly askId?: string;
  /** Present if the step failed and so ended this attempt of the job. Absent if the job's end interrupted the step. */
  readonly hasFailed?: true;
  /**
   * When the step began, in epoch milliseconds. It is the value of `now` in the step's expressions, even if they are evaluated repeatedly.
   * Absent in records of version 0.1.
   */
  readonly now?: number;
};

/** Progress of a step that has begun. The union has one member for each kind of step. */
export type StepProgress = {
  readonly [Kind in Step["kind"]]: BegunStep<Kind> &
    (Kind extends keyof ProgressFields ? ProgressFields[Kind] : unknown);
}[Step["kind"]];

/** Progress of a step of one kind. */
export type ProgressOf<Kind extends Step["kind"]> = Extract<StepProgress, { readonly kind: Kind }>;

/**
 * The reason why a step failed. `plain`: the message without text from the app. `status`: the app's HTTP status, 0 if the app did not
 * answer.
 */
export type StepFailure = {
  readonly code: string;
  readonly message: string;
  readonly plain: string;
  readonly status: number;
};

/**
 * Progress of a running step that contains other steps.
 * - `until`: `rounds` is the number of rounds begun; `wakeAt` is the earliest time of the next round, in epoch milliseconds.
 * - `error`: the error of a step whose error handler runs. `failedIn` is the inner step that failed, if it was not the step itself.
 * - `parallel`: `begun` lists branches that have begun a call. `over` lists branches that ended early. `failed` is the first failure.
 * - `asked`: a step in a branch asks people a question. `park` says what the job waits for if all branches must wait.
 */
export type BlockProgress =
  | { readonly kind: "until"; readonly rounds: number; readonly wakeAt?: number }
  | ({ readonly kind: "error"; readonly failedIn?: string } & StepFailure)
  | {
      readonly kind: "parallel";
      readonly begun: readonly number[];
      readonly over: readonly number[];
      readonly failed?: StepFailure & { readonly stepId: string };
    }
  | { readonly kind: "asked"; readonly park: ParkDocument };

/** State of the running blocks (steps that contain steps, such as `if` or `parallel`), by step id. */
export type Blocks = Readonly<Record<string, BlockProgress>>;

/**
 * Progress of what must happen before the job may run.
 * - `needsApproval`: for a job that is simulated first, true if an approval must follow.
 * - `askId`: the pending question to people about the job.
 * - `confirmBy`: the contact who must confirm the job after the approval.
 * - `confirmed`: digest of what a person confirmed.
 * - `changedBy`: keys whose answers or retries changed what the job sends.
 */
export type PlanProgress = {
  readonly needsApproval?: boolean;
  readonly askId?: string;
  readonly confirmBy?: string;
  readonly confirmed?: string;
  readonly changedBy?: readonly KeyId[];
};

/** Progress of undoing a job's calls. */
export type UndoProgress = {
  /** The step whose undo entry (the stored way to undo one call) is being undone. Empty before the first entry. */
  readonly stepId: string;
  /** Number of the undo entry that is being undone. An undo entry is the stored way to undo one call of the job. */
  readonly entry?: number;
  readonly retry?: RetryProgress;
  /** Number of the undo entry (the stored way to undo one call) that a person decided to leave as it is. */
  readonly leaves?: number;
  readonly askId?: string;
};

/**
 * A position of a job: the index of an instruction in the program's flow (the list of its instructions), and the progress of the step at
 * this index.
 */
export type BegunPosition = {
  readonly index: number;
  readonly progress?: StepProgress;
  readonly generation?: number;
};

/** The progress of a job that has not ended: its positions in the program, and the state of the steps there, as read from the database. */
export type Progress = {
  readonly step: StepProgress | undefined;
  /** Positions of the branches of a `parallel` step. Empty while no branch is running. */
  readonly branches: readonly BegunPosition[];
  readonly blocks: Blocks;
  readonly plan: PlanProgress | undefined;
  readonly undo: UndoProgress | undefined;
  /** When the progress of a step was last logged, in epoch milliseconds. 0 before the first entry. */
  readonly progressLoggedAt: number;
  /** Number of rows that steps made from other rows. */
  readonly rowsMade: number;
  /** The writes that a simulation did not send. */
  readonly simulated: SimulatedCalls;
};

/** Progress of a job of which no step has begun. */
export const noProgress: Progress = {
  step: undefined,
  branches: [],
  blocks: {},
  plan: undefined,
  undo: undefined,
  progressLoggedAt: 0,
  rowsMade: 0,
  simulated: {},
};
