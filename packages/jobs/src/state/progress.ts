import type { Id, JsonNumber, KeyId } from "@svc/core";
import type { ParkDocument } from "@svc/db/documents/jobs";
import type { JsonValue, Step } from "@svc/program";
import type { SimulatedCalls } from "./simulated.ts";

/** A call that is to be retried: its attempts so far, and the time of the next one (epoch milliseconds). */
export type RetryProgress = { readonly attempts: number; readonly dueAt: number };

type CallProgress = {
  /** Token, number or offset of the next page; the number of pages fetched; a digest of the last page, which version 0.1 did not store. */
  readonly page?: { readonly token: JsonValue; readonly pages: number; readonly seen?: string };
  readonly retry?: RetryProgress;
  /** The generation of its call, if an earlier attempt of the job began it. */
  readonly generation?: number;
  /** The generation in the keys that the app received, if a repeat must use the same. */
  readonly appGeneration?: number;
  /** Set if an earlier attempt of the job left its write in doubt: a person is asked, and it is not sent again. */
  readonly isInDoubt?: true;
};

/** Progress of a step of each kind. For a kind that is not listed, it is only known that it has begun. */
type ProgressFields = {
  readonly call: CallProgress;
  readonly http: CallProgress;
  /** Ordinal of the source row to continue from. */
  readonly filter: { readonly next?: number };
  readonly map: {
    /** Ordinal to continue from. */
    readonly next?: number;
    /** Ordinals from `next` on that have already ended. */
    readonly ended?: readonly number[];
    /** State of the rows that are run again. */
    readonly again?: "failed" | "unknown";
    /** Calls to be retried, by `<ordinal>/<call>`. */
    readonly retries?: Readonly<Record<string, RetryProgress>>;
    /** The generation in the keys that the app received, if a repeat must use the same. */
    readonly appGeneration?: number;
    /** The generation of its calls, if an earlier attempt of the job began them. */
    readonly generation?: number;
    /** States of rows that another attempt of the job runs again after all rows have ended. */
    readonly redo?: readonly ("failed" | "unknown")[];
    /** Set if people decided to treat rows in doubt as done: those still in doubt become so. */
    readonly acceptsDoubt?: true;
    /** Child jobs of rows, by `<ordinal>/<call>`. */
    readonly children?: Readonly<Record<string, Id<"job">>>;
    /** Child jobs that ended because this job did, by the same key. */
    readonly endedChildren?: Readonly<Record<string, Id<"job">>>;
    /** Set if retried child jobs of rows send writes in doubt again. */
    readonly resendsUnknown?: true;
  };
  readonly reduce: {
    readonly next?: number;
    /** Running totals by name. */
    readonly totals?: Readonly<Record<string, Total>>;
  };
  /** Ordinal of the source row to continue from. */
  readonly compute: { readonly next?: number };
  /** Number of rows that were taken. */
  readonly take: { readonly next?: number };
  readonly wait: { readonly wakeAt?: number };
  readonly run: {
    /** The child job that runs the skill. */
    readonly childId?: Id<"job">;
    /** The child job that ended because this job did. */
    readonly endedId?: Id<"job">;
    /** The child job to retry where it stopped, and whether its writes in doubt are sent again. */
    readonly retriesId?: Id<"job">;
    readonly resendsUnknown?: true;
  };
};

/** A running total of a reduction: numbers; for texts and lists their present contents, with their size in bytes. */
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
  /** Set if the step failed and ended this attempt of the job. Absent if the job's end interrupted it. */
  readonly hasFailed?: true;
  /**
   * When it began, in epoch milliseconds: the value of `now` in its expressions, however often it is repeated. Absent in records of version
   * 0.1.
   */
  readonly now?: number;
};

/** Progress of a step that has begun: a member for each kind of step. */
export type StepProgress = {
  readonly [Kind in Step["kind"]]: BegunStep<Kind> &
    (Kind extends keyof ProgressFields ? ProgressFields[Kind] : unknown);
}[Step["kind"]];

/** Progress of a step of one kind. */
export type ProgressOf<Kind extends Step["kind"]> = Extract<StepProgress, { readonly kind: Kind }>;

/**
 * The reason of a step's failure. `plain`: the message without the app's words. `status`: the app's HTTP status, 0 if it did not answer.
 */
export type StepFailure = {
  readonly code: string;
  readonly message: string;
  readonly plain: string;
  readonly status: number;
};

/**
 * Progress of a block whose steps are at work. For an `until`: the rounds begun, and when the next may begin, in epoch milliseconds. For a
 * step whose error is handled: the error, and the inner step that failed, if it was another. For a `parallel`: the branches that have begun
 * a call, those that ended early, and the first failure. For a step in a branch that asks: the park of the job if nothing else can
 * continue.
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

/** State of the blocks at work, by the id of their step. */
export type Blocks = Readonly<Record<string, BlockProgress>>;

/**
 * Progress of a plan. For a job with a simulation run: whether its plan needs approval afterwards. For a plan that is asked about: the ask.
 * `confirmBy`: the contact who confirms it afterwards. `confirmed`: what a person confirmed (`confirmationOf`). `changedBy`: keys whose
 * answers or attempts changed what the job sends.
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
  /** The step of the present entry. Empty before the first. */
  readonly stepId: string;
  /** The present entry. */
  readonly entry?: number;
  readonly retry?: RetryProgress;
  /** The entry that a person chose to leave. */
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
  /** Positions of the branches of a `parallel`. Empty while none is at work. */
  readonly branches: readonly BegunPosition[];
  readonly blocks: Blocks;
  readonly plan: PlanProgress | undefined;
  readonly undo: UndoProgress | undefined;
  /** When a step's progress was last logged, in epoch milliseconds. 0 before that. */
  readonly progressLoggedAt: number;
  /** Number of rows that steps made from other rows. */
  readonly rowsMade: number;
  /** The unsent writes of a simulation. */
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
