import type { Id, JsonNumber, KeyId } from "@svc/core";
import type { ParkDocument } from "@svc/db/documents/jobs";
import type { JsonValue, Step } from "@svc/program";
import type { SimulatedCalls } from "./simulated.ts";

/** A call that is tried again: attempts made so far, and when the next one is due (epoch milliseconds). */
export type RetryProgress = { readonly attempts: number; readonly dueAt: number };

type CallProgress = {
  /** The token of the next page, or its number or offset; the pages fetched; a digest of the last one, which version 0.1 had not. */
  readonly page?: { readonly token: JsonValue; readonly pages: number; readonly seen?: string };
  readonly retry?: RetryProgress;
  /** The generation of its call, where an earlier attempt at the job began it. */
  readonly generation?: number;
  /** The generation whose keys the app was given, where a repeat must give the same. */
  readonly appGeneration?: number;
  /** An earlier attempt at the job left its write in doubt: it is asked about, and not sent again. */
  readonly isInDoubt?: true;
};

/** How far a step of each kind can be; of a kind that is not here there is nothing to know but that it has begun. */
type ProgressFields = {
  readonly call: CallProgress;
  readonly http: CallProgress;
  /** The ordinal of the source to go on from. */
  readonly filter: { readonly next?: number };
  readonly map: {
    /** The ordinal to go on from. */
    readonly next?: number;
    /** Ordinals from `next` on that have ended already. */
    readonly ended?: readonly number[];
    /** Rows of this state are run again. */
    readonly again?: "failed" | "unknown";
    /** Calls that are to be tried again, by `<ordinal>/<call>`. */
    readonly retries?: Readonly<Record<string, RetryProgress>>;
    /** The generation whose keys the app was given, where a repeat must give the same. */
    readonly appGeneration?: number;
    /** The generation of its calls, where an earlier attempt at the job began them. */
    readonly generation?: number;
    /** Rows of which states another attempt at the job does again, once all have ended. */
    readonly redo?: readonly ("failed" | "unknown")[];
    /** Rows in doubt are treated as done, as people answered: those that still are, become so. */
    readonly acceptsDoubt?: true;
    /** The jobs that rows run, by `<ordinal>/<call>`. */
    readonly children?: Readonly<Record<string, Id<"job">>>;
    /** Those that ended because this job did, by the same. */
    readonly endedChildren?: Readonly<Record<string, Id<"job">>>;
    /** Whether jobs that rows ran, and that are taken on, send writes in doubt again. */
    readonly resendsUnknown?: true;
  };
  readonly reduce: {
    readonly next?: number;
    /** Running totals by name. */
    readonly totals?: Readonly<Record<string, Total>>;
  };
  /** The ordinal of the source to go on from. */
  readonly compute: { readonly next?: number };
  /** Rows that were taken. */
  readonly take: { readonly next?: number };
  readonly wait: { readonly wakeAt?: number };
  readonly run: {
    /** The job that runs the skill. */
    readonly childId?: Id<"job">;
    /** The one that ended because this job did. */
    readonly endedId?: Id<"job">;
    /** The one that is to be taken on where it stopped, since this job is; whether its writes in doubt are sent again. */
    readonly retriesId?: Id<"job">;
    readonly resendsUnknown?: true;
  };
};

/** A running total of a reduction: numbers, and of texts and lists what they hold so far, in bytes also. */
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
  /** The step failed, and with it this attempt at the job; absent of one that was cut short by the job's end. */
  readonly hasFailed?: true;
  /** When it began, epoch milliseconds: `now` of its expressions, however often it is repeated. Absent in what version 0.1 wrote. */
  readonly now?: number;
};

/** How far a step is that has begun: a member for each kind of step. */
export type StepProgress = {
  readonly [Kind in Step["kind"]]: BegunStep<Kind> &
    (Kind extends keyof ProgressFields ? ProgressFields[Kind] : unknown);
}[Step["kind"]];

/** How far a step of one kind is. */
export type ProgressOf<Kind extends Step["kind"]> = Extract<StepProgress, { readonly kind: Kind }>;

/** Why a step failed: `plain` is the message without what an app said, `status` what the app answered, 0 where it did not. */
export type StepFailure = {
  readonly code: string;
  readonly message: string;
  readonly plain: string;
  readonly status: number;
};

/**
 * How far a block is whose steps are at work. Of an `until`: rounds that have begun, and when the next one may, in epoch milliseconds. Of
 * a step whose error is handled: the error, and the step in it that failed, if it was not itself. Of a `parallel`: its branches that have begun a call, those that are over before their end,
 * and what failed first. Of a step in a branch that asks: what the job is parked on when nothing else goes on.
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

/** What is known of the blocks at work, by the id of their step. */
export type Blocks = Readonly<Record<string, BlockProgress>>;

/**
 * Of a job that is simulated first, whether its plan is to be approved afterwards; of a plan that is asked for, the ask. `confirmBy`: the
 * contact who is to confirm it once that is done. `confirmed`: what a person confirmed (`confirmationOf`). `changedBy`: keys whose answers
 * or attempts changed what the job sends.
 */
export type PlanProgress = {
  readonly needsApproval?: boolean;
  readonly askId?: string;
  readonly confirmBy?: string;
  readonly confirmed?: string;
  readonly changedBy?: readonly KeyId[];
};

/** How far undoing is. */
export type UndoProgress = {
  /** The step of the entry at hand; empty before the first. */
  readonly stepId: string;
  /** The entry at hand. */
  readonly entry?: number;
  readonly retry?: RetryProgress;
  /** The entry that a person chose to leave. */
  readonly leaves?: number;
  readonly askId?: string;
};

/** A position of a job, by its place in the flow, and how far its step is. */
export type BegunPosition = {
  readonly index: number;
  readonly progress?: StepProgress;
  readonly generation?: number;
};

/** What is under way in a job. */
export type Progress = {
  readonly step: StepProgress | undefined;
  /** Where the branches of a `parallel` stand; empty while none is at work. */
  readonly branches: readonly BegunPosition[];
  readonly blocks: Blocks;
  readonly plan: PlanProgress | undefined;
  readonly undo: UndoProgress | undefined;
  /** When a step's progress was last logged, in epoch milliseconds; 0 before. */
  readonly progressLoggedAt: number;
  /** Rows that steps made of other rows. */
  readonly rowsMade: number;
  /** What the writes of a simulation would have sent. */
  readonly simulated: SimulatedCalls;
};

/** Nothing is under way. */
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
