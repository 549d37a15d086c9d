import type { Id, JsonNumber, KeyId } from "@svc/core";
import type { ParkDocument } from "@svc/db/documents/jobs";
import type { JsonValue, Step } from "@svc/program";
import type { SimulatedCalls } from "./simulated.ts";

/** A call that is to be retried. `attempts`: attempts so far. `dueAt`: time of the next attempt, in epoch milliseconds. */
export type RetryProgress = { readonly attempts: number; readonly dueAt: number };

type CallProgress = {
  /**
   * `token`: token, number or offset of the next page. `pages`: number of pages fetched. `seen`: digest of the last page; version 0.1 did
   * not store it.
   */
  readonly page?: { readonly token: JsonValue; readonly pages: number; readonly seen?: string };
  readonly retry?: RetryProgress;
  /** The generation of the step's call, if an earlier attempt of the job began that call. */
  readonly generation?: number;
  /** The generation in the key that the app received. Present if a repeat of the call must use the same key. */
  readonly appGeneration?: number;
  /** Present if an earlier attempt of the job left the step's write in doubt. A person is asked, and the write is not sent again. */
  readonly isInDoubt?: true;
};

/** Progress fields of each kind of step. For a kind that is not listed, only the fact that the step has begun is stored. */
type ProgressFields = {
  readonly call: CallProgress;
  readonly http: CallProgress;
  /** Ordinal of the source row to continue from. */
  readonly filter: { readonly next?: number };
  readonly map: {
    /** Ordinal of the row to continue from. */
    readonly next?: number;
    /** Ordinals of rows at or after `next` that have already ended. */
    readonly ended?: readonly number[];
    /** State of the rows that are run again. */
    readonly again?: "failed" | "unknown";
    /** Calls that are to be retried, by `<ordinal>/<call>`. */
    readonly retries?: Readonly<Record<string, RetryProgress>>;
    /** The generation in the keys that the app received. Present if a repeat of the calls must use the same keys. */
    readonly appGeneration?: number;
    /** The generation of the step's calls, if an earlier attempt of the job began them. */
    readonly generation?: number;
    /** States of rows that another attempt of the job runs again. They run after all rows have ended. */
    readonly redo?: readonly ("failed" | "unknown")[];
    /** Present if people decided to treat rows in doubt as done. The rows that are still in doubt then become ok. */
    readonly acceptsDoubt?: true;
    /** Child jobs of rows, by `<ordinal>/<call>`. */
    readonly children?: Readonly<Record<string, Id<"job">>>;
    /** Child jobs that ended because this job ended, by `<ordinal>/<call>`. */
    readonly endedChildren?: Readonly<Record<string, Id<"job">>>;
    /** Present if retried child jobs of rows send their writes in doubt again. */
    readonly resendsUnknown?: true;
  };
  readonly reduce: {
    readonly next?: number;
    /** Running totals by name. */
    readonly totals?: Readonly<Record<string, Total>>;
  };
  /** Ordinal of the source row to continue from. */
  readonly compute: { readonly next?: number };
  /** Number of rows that the step has taken from the list. */
  readonly take: { readonly next?: number };
  readonly wait: { readonly wakeAt?: number };
  readonly run: {
    /** The child job that runs the skill. */
    readonly childId?: Id<"job">;
    /** The child job that ended because this job ended. */
    readonly endedId?: Id<"job">;
    /** `retriesId`: the child job to retry where it stopped. `resendsUnknown`: present if the writes in doubt of this child are sent again. */
    readonly retriesId?: Id<"job">;
    readonly resendsUnknown?: true;
  };
};

/** A running total of a reduction (a value over rows): numbers, or for texts and lists their present contents and size in bytes. */
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
  /** The ask whose decision the step waits for. */
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

/** Why a step failed. `plain`: the message without text from the app. `status`: the app's HTTP status, 0 if the app did not answer. */
export type StepFailure = {
  readonly code: string;
  readonly message: string;
  readonly plain: string;
  readonly status: number;
};

/**
 * Progress of a block whose steps are running. For an `until`: the rounds begun, and when the next round may begin, in epoch milliseconds.
 * For a step whose error is being handled: the error, and the inner step that failed, if it was another step. For a `parallel`: the
 * branches that have begun a call, the branches that ended early, and the first failure. For a step in a branch that asks a question: the
 * park that the job gets if nothing else can continue.
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

/** State of the running blocks, by step id. */
export type Blocks = Readonly<Record<string, BlockProgress>>;

/**
 * Progress of a plan. For a job with a simulation run: whether the plan needs approval after the simulation. For a plan that people are
 * asked about: the ask. `confirmBy`: the contact who must confirm the job after that. `confirmed`: what a person confirmed (see
 * `confirmationOf`). `changedBy`: keys whose answers or attempts changed what the job sends.
 */
export type PlanProgress = {
  readonly needsApproval?: boolean;
  readonly askId?: string;
  readonly confirmBy?: string;
  readonly confirmed?: string;
  readonly changedBy?: readonly KeyId[];
};

/** Progress of undoing. */
export type UndoProgress = {
  /** The step of the undo entry that is being undone. Empty before the first entry. */
  readonly stepId: string;
  /** Number of the undo entry that is being undone. */
  readonly entry?: number;
  readonly retry?: RetryProgress;
  /** Number of the undo entry that a person chose to leave. */
  readonly leaves?: number;
  readonly askId?: string;
};

/** A position of a job: its index in the flow, and the progress of its step. */
export type BegunPosition = {
  readonly index: number;
  readonly progress?: StepProgress;
  readonly generation?: number;
};

/** The work in progress of a job. */
export type Progress = {
  readonly step: StepProgress | undefined;
  /** Positions of the branches of a `parallel`. Empty while no branch is running. */
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

/** Nothing is in progress. */
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
