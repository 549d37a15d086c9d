import type { SagaDocument } from "@svc/db/documents/programs";
import type { JsonValue, Step } from "@svc/program";
import type { Flow } from "./flow.ts";
import {
  type BegunPosition,
  type Blocks,
  noProgress,
  type PlanProgress,
  type Progress,
  type RetryProgress,
  type StepProgress,
  type Total,
  type UndoProgress,
} from "./progress.ts";
import type { SimulatedCalls } from "./simulated.ts";
import type { JobStatus } from "./statuses.ts";

/** Progress as it is sealed in `jobs.progress`; of version 0.1, `LegacyProgress`. */
type StoredProgress = {
  readonly version: 2;
  /** What has begun; of several positions, all. */
  readonly positions: readonly BegunPosition[];
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
