import type { SagaDocument } from "@svc/db/documents/programs";
import type { JobStepRecord } from "@svc/db/jobs/record";
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

/** Progress in the form that is stored encrypted in `jobs.progress`. Version 0.1 stored `LegacyProgress` instead. */
type StoredProgress = {
  readonly version: 2;
  /** Positions of the job in its program. Only positions at which the step has begun are stored. */
  readonly positions: readonly BegunPosition[];
  /** Progress of the running blocks (steps that contain other steps). The field is absent while no block is running. */
  readonly blocks?: Blocks;
  readonly plan?: PlanProgress;
  readonly undo?: UndoProgress;
  /**
   * Time when a step's progress was last logged, in epoch milliseconds. Absent before the first such log entry, and in records of version
   * 0.1.
   */
  readonly progressLoggedAt?: number;
  /** Number of rows that steps have made by converting rows of earlier steps. Absent if no step has made such rows yet. */
  readonly rowsMade?: number;
  /** Writes that a simulated job did not send. Absent before its first write. */
  readonly simulated?: SimulatedCalls;
};

/** Progress of a job whose step had just begun, as some versions before 0.2 stored it. It lacks the time when the step began. */
type BegunProgress = { readonly version: 3 };

/**
 * Empty bytes: how the progress is stored if the job has one position, its step has just begun, and nothing else is in progress. The job's
 * other columns and the step's receipt say everything. Most commits store this form. To encrypt a document each time would take longer than
 * all other work of storing the progress.
 */
const begunBytes = Buffer.alloc(0);

/** Progress as version 0.1 stored it: one record for any kind of work, without the kind. */
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

/**
 * The fields of a job that are needed to read progress which version 0.1 stored. That version did not store the kind of the step, so svc
 * finds the kind with these fields.
 */
export type ProgressOwner = {
  readonly status: JobStatus;
  readonly saga: SagaDocument;
  readonly index: number;
  readonly flow: Flow;
  /** The stored steps of the job, with their receipts. */
  readonly steps: readonly Pick<JobStepRecord, "stepId" | "receipt">[];
};

/**
 * Returns a job's progress from the column `jobs.progress`. `open`: decrypts a value of the job that is encrypted for the column. Throws an
 * Error if a newer version of svc stored the value.
 */
export function openProgress(
  stored: Uint8Array | null,
  owner: ProgressOwner,
  open: (place: string, sealed: Uint8Array) => JsonValue,
): Progress {
  if (stored === null) return noProgress;
  if (stored.byteLength > 0) return readProgress(open("progress", stored), owner);
  const step = begunStep(owner.flow, owner.index);
  const receipt = owner.steps.find(({ stepId }) => stepId === step?.stepId)?.receipt;
  if (step === undefined || receipt === undefined) throw new Error("the step that a job has begun has no receipt");
  return { ...noProgress, step: { ...step, now: receipt.startedAt } };
}

/** Returns a job's progress from its stored form of any earlier version. Throws an Error if a newer version of svc stored it. */
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

/** The parts of a running job's state that are stored, encrypted, in the column `jobs.progress`. */
export type StoredPosition = Omit<Progress, "step" | "branches"> & {
  readonly positions: readonly {
    readonly index: number;
    readonly progress: StepProgress | undefined;
    readonly generation?: number;
  }[];
};

/**
 * Returns the progress that a step has when it has just begun. `index` is its position in the program's list of instructions. Undefined if
 * the instruction there is not a step.
 */
function begunStep({ instructions }: Flow, index: number): StepProgress | undefined {
  const instruction = instructions[index];
  if (instruction?.kind !== "step") return undefined;
  return { kind: instruction.step.kind, stepId: instruction.step.id } as StepProgress;
}

/** Data for the short form of a job's stored progress: the job's program and its steps. */
type BegunJob = {
  readonly loaded: { readonly flow: Flow };
  readonly steps: ReadonlyMap<string, Pick<JobStepRecord, "receipt">>;
};

/**
 * Returns a job's progress, encrypted with `seal`, for the column `jobs.progress`. Returns null if there is nothing to store. `begun`: a
 * step that has only begun, which is stored in a shorter form.
 */
export function sealProgress(
  underway: StoredPosition,
  seal: (place: string, value: unknown) => Buffer,
  begun?: BegunJob,
): Buffer | null {
  const progress = storedProgress(underway);
  if (progress === undefined) return null;
  const isShort = begun !== undefined && Object.keys(progress).length === 2 && isOnlyBegun(underway, begun);
  return isShort ? begunBytes : seal("progress", progress);
}

/** Returns a job's progress as the object that is stored. Returns undefined if there is nothing to store. */
export function storedProgress(underway: StoredPosition): StoredProgress | undefined {
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
  return begun.length === 0 && Object.keys(document).length === 2 ? undefined : document;
}

/** True if the job is at one step that has only begun. Its progress then says nothing more than the program and the step's receipt. */
function isOnlyBegun({ positions }: StoredPosition, { loaded: { flow }, steps }: BegunJob): boolean {
  const [position, ...others] = positions;
  if (position?.progress === undefined || position.generation !== undefined || others.length > 0) return false;
  const { kind, stepId, now, ...rest } = position.progress;
  const begun = begunStep(flow, position.index);
  if (begun?.kind !== kind || begun.stepId !== stepId || now === undefined) return false;
  // If a step has begun again, its receipt keeps the time of the first start, but `now` in its expressions is a later time.
  return steps.get(stepId)?.receipt.startedAt === now && Object.values(rest).every((value) => value === undefined);
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

/** Returns an object without its undefined fields. */
function present<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
