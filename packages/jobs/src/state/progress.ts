import type { Id, JsonNumber } from "@svc/core";
import type { ParkDocument, SagaDocument } from "@svc/db";
import type { JsonValue, Step } from "@svc/program";
import type { Flow } from "./flow.ts";
import type { SimulatedCalls } from "./simulated.ts";
import type { JobStatus } from "./statuses.ts";

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
 * contact who is to confirm it once that is done.
 */
export type PlanProgress = {
  readonly needsApproval?: boolean;
  readonly askId?: string;
  readonly confirmBy?: string;
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

/** Progress as it is sealed in `jobs.progress`; of version 0.1, `LegacyProgress`. */
type StoredProgress = {
  readonly version: 2;
  /** What has begun; of several positions, all. */
  readonly positions: readonly {
    readonly index: number;
    readonly progress?: StepProgress;
    readonly generation?: number;
  }[];
  /** Absent while no block is at work. */
  readonly blocks?: Blocks;
  readonly plan?: PlanProgress;
  readonly undo?: UndoProgress;
  /** Absent until a step's progress is logged, and in what version 0.1 wrote. */
  readonly progressLoggedAt?: number;
  /** Absent until a step makes rows of others. */
  readonly rowsMade?: number;
  /** Absent until a simulated job comes to a write. */
  readonly simulated?: SimulatedCalls;
};

/** Of the step at the job's one position it is known that it has begun, and nothing else: so begins each. */
type BegunProgress = { readonly version: 3 };

/** Version 0.1 kept one record for whatever was under way, without saying what it was. */
type LegacyProgress = {
  readonly version?: undefined;
  readonly stepId: string;
  readonly askId?: string;
  readonly page?: { readonly token: JsonValue; readonly pages: number };
  readonly next?: number;
  readonly again?: "failed" | "unknown";
  readonly appGeneration?: number;
  readonly retries?: Readonly<Record<string, RetryProgress>>;
  readonly ended?: readonly number[];
  readonly needsApproval?: boolean;
  readonly wakeAt?: number;
  readonly leaves?: number;
  readonly totals?: Readonly<Record<string, Total>>;
};

/** What is under way in a job. */
export type Progress = {
  readonly step: StepProgress | undefined;
  /** Where the branches of a `parallel` stand; empty while none is at work. */
  readonly branches: StoredProgress["positions"];
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

/** What of a job tells what a record of version 0.1 is about. */
export type ProgressOwner = {
  readonly status: JobStatus;
  readonly saga: SagaDocument;
  readonly index: number;
  readonly flow: Flow;
};

/** Reads what is under way, in the form of any version. Throws an Error for a form that is newer than this one. */
export function readProgress(stored: JsonValue, owner: ProgressOwner): Progress {
  const document = stored as unknown as StoredProgress | BegunProgress | LegacyProgress;
  if (document.version === undefined) return readLegacy(document, owner);
  if (document.version === 3) return { ...noProgress, step: begunStep(owner.flow, owner.index) };
  const { version }: { readonly version: number } = document;
  if (version !== 2) throw new Error(`the progress of a job has version ${version}; this service knows 3`);
  const { positions, blocks = {}, plan, undo, progressLoggedAt = 0, rowsMade = 0, simulated = {} } = document;
  const step = positions.find(({ index }) => index === owner.index)?.progress;
  const branches = positions.length > 1 ? positions : [];
  return { step, branches, blocks, plan, undo, progressLoggedAt, rowsMade, simulated };
}

/** Where a job stands, as far as that is stored. */
export type Underway = Omit<Progress, "step" | "branches"> & {
  readonly positions: readonly {
    readonly index: number;
    readonly progress: StepProgress | undefined;
    readonly generation?: number;
  }[];
};

/** The step at a place of a flow, as it begins. */
function begunStep({ instructions }: Flow, index: number): StepProgress | undefined {
  const instruction = instructions[index];
  if (instruction?.kind !== "step") return undefined;
  return { kind: instruction.step.kind, stepId: instruction.step.id } as StepProgress;
}

/**
 * What is stored of progress; undefined when nothing is under way, no progress was logged, and no row was made or write simulated. `flow`
 * is the job's, where it is at hand: most steps are stored as they begin, and that takes no words.
 */
export function storedProgress(underway: Underway, flow?: Flow): StoredProgress | BegunProgress | undefined {
  const { positions, blocks, plan, undo, progressLoggedAt, rowsMade, simulated } = underway;
  const begun = positions.flatMap(({ index, progress, generation }) => {
    if (progress === undefined && positions.length === 1) return [];
    return [{ index, ...(progress && { progress }), ...(generation !== undefined && { generation }) }];
  });
  const document = {
    version: 2,
    positions: begun,
    ...(Object.keys(blocks).length > 0 && { blocks }),
    ...(plan && { plan }),
    ...(undo && { undo }),
    ...(progressLoggedAt > 0 && { progressLoggedAt }),
    ...(rowsMade > 0 && { rowsMade }),
    ...(Object.keys(simulated).length > 0 && { simulated }),
  } as const;
  if (Object.keys(document).length > 2) return document;
  if (begun.length === 0) return undefined;
  return flow !== undefined && isOnlyBegun(underway, flow) ? { version: 3 } : document;
}

function isOnlyBegun({ positions }: Underway, flow: Flow): boolean {
  const [position, ...others] = positions;
  if (position?.progress === undefined || position.generation !== undefined || others.length > 0) return false;
  const { kind, stepId, ...rest } = position.progress;
  const begun = begunStep(flow, position.index);
  return begun?.kind === kind && begun.stepId === stepId && Object.values(rest).every((value) => value === undefined);
}

function readLegacy(legacy: LegacyProgress, { status, saga, index, flow }: ProgressOwner): Progress {
  if (status === "simulating" || status === "pending_plan_approval") {
    const { needsApproval, askId } = legacy;
    return { ...noProgress, plan: present({ needsApproval, askId }) };
  }
  if (status === "compensating" || saga.state === "stuck") {
    const { stepId, next: entry, leaves, askId } = legacy;
    return { ...noProgress, undo: { stepId, ...present({ entry, leaves, askId, retry: legacy.retries?.["undo"] }) } };
  }
  const instruction = flow.instructions[index];
  const kind =
    instruction?.kind === "step" && instruction.step.id === legacy.stepId ? instruction.step.kind : undefined;
  return { ...noProgress, step: kind && legacyStep(kind, legacy) };
}

function legacyStep(kind: Step["kind"], legacy: LegacyProgress): StepProgress {
  const { stepId, askId, page, next, again, appGeneration, retries, ended, wakeAt, totals } = legacy;
  switch (kind) {
    case "call":
      return { kind, stepId, ...present({ page, askId, retry: retries?.["call"] }) };
    case "filter":
      return { kind, stepId, ...present({ next }) };
    case "map":
      return { kind, stepId, ...present({ next, ended, again, retries, appGeneration, askId }) };
    case "reduce":
      return { kind, stepId, ...present({ next, totals }) };
    case "judge":
      return { kind, stepId, ...present({ askId }) };
    case "wait":
      return { kind, stepId, ...present({ wakeAt }) };
    default:
      return { kind, stepId } as StepProgress;
  }
}

/** An object without its undefined fields. */
function present<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
