import type { Id, JobBinding, KeyId, ProjectId, StandingRunId } from "@svc/core";
import type { ChildDocument, ParkDocument, UsedDocument } from "@svc/db/documents/jobs";
import type { EstimateDocument, SagaDocument } from "@svc/db/documents/programs";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import type { JsonObject, JsonValue, PinnedSkills, PinnedTools, Program, RunScope } from "@svc/program";
import type { Flow } from "./flow.ts";
import type { Blocks, PlanProgress, StepProgress, UndoProgress } from "./progress.ts";
import type { SimulatedCalls } from "./simulated.ts";
import type { JobStatus } from "./statuses.ts";

/** A program ready to run, with its pinned definitions by tool slug. */
export type LoadedProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly flow: Flow;
  readonly tools: PinnedTools;
  /** The skills that it runs, by its names for them. */
  readonly skills: PinnedSkills;
  /** True if any of its inputs or reads is sensitive. */
  readonly hasSensitive: boolean;
  /** True if version 0.1 stored it: rules that changed since apply in their old form. */
  readonly isOld: boolean;
};

/** The parts of a job that never change. */
export type JobFacts = {
  readonly id: Id<"job">;
  readonly projectId: ProjectId;
  /** The key that submitted it or, for a later attempt, that began this one. */
  readonly keyId: KeyId;
  /** The access scope of its submitter. Null: the whole project. */
  readonly binding: JobBinding | null;
  readonly isSimulated: boolean;
  /** True for an approval dry run: people are asked about a standing program's plan, and nothing of it runs. */
  readonly isRehearsal: boolean;
  /** The live job that this simulation run belongs to. */
  readonly simulatedFrom: Id<"job"> | null;
  /** The parent that runs it as a skill, and the part of the parent's limits it may use. Null for a submitted job. */
  readonly parent: (ChildDocument & { readonly jobId: Id<"job"> }) | null;
  readonly standingProgramId: string;
  /** Its run of a standing program. Null if there is none. */
  readonly standingRunId: StandingRunId | null;
  /** Seed of the keys of its calls at apps: its id, or a value that every job of the same occurrence of a standing program shares. */
  readonly callSeed: string;
  /**
   * End of the backup from which it was restored, if the original store may have continued it: writes without a key known to the app are
   * then in doubt. Epoch milliseconds; usually null.
   */
  readonly restoredFrom: number | null;
  /** From 1. */
  readonly attempt: number;
  /** The causes of what the program does by itself: the submitter, and the caller that began this attempt. */
  readonly principalChain: readonly string[];
  /** The submitter. */
  readonly submitChain: readonly string[];
  readonly estimate: EstimateDocument;
  readonly loaded: LoadedProgram;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly input: JsonObject;
};

/**
 * A job's position in its program's flow, and the progress of the step there, undefined if it has not begun. In a branch of a `parallel`
 * the position has its own generation: new calls in one branch do not affect those of the others.
 */
export type Position = {
  readonly index: number;
  readonly progress: StepProgress | undefined;
  readonly generation?: number;
};

/** A step that has begun or was skipped. */
export type StepEntry = {
  /** Steps are shown in the order in which they began. */
  readonly ordinal: number;
  readonly receipt: StepReceiptDocument;
  /** The value of `steps.<id>`. Undefined for a step that made none. */
  readonly value: JsonValue | undefined;
};

/** When a job expires (epoch milliseconds), or the time left while its clock is stopped (milliseconds). */
type Deadline = { readonly atMs: number } | { readonly leftMs: number };

/** The names that references can use. A skipped step has no value, and its set is empty. */
export type JobScope = RunScope & Required<Pick<RunScope, "steps" | "rows">>;

/** A request to end or to pause a job, and its cause. */
export type JobRequest = { readonly atMs: number; readonly chain: readonly string[] };

/** State of a running job. It is immutable: changes are given as a `Change`, and only `apply` makes the next state. */
export type JobState = StoredState & DerivedState;

/** Values derived from the rest of the state. */
export type DerivedState = {
  /** The names that references can use now. */
  readonly scope: JobScope;
  /** Steps whose set is unknown because they failed and their error was handled. */
  readonly lostSets: ReadonlySet<string>;
};

/** A job as its rows contain it. */
export type StoredState = JobFacts & {
  readonly status: JobStatus;
  /** One position; at a `parallel`, one for each of its branches, in their order. */
  readonly positions: readonly Position[];
  /** State of the blocks at work, by the id of their step. */
  readonly blocks: Blocks;
  /** Set while the plan is simulated or asked about. */
  readonly plan: PlanProgress | undefined;
  /** Set while the job is being undone. */
  readonly undo: UndoProgress | undefined;
  /** By id, in the order in which they began. */
  readonly steps: ReadonlyMap<string, StepEntry>;
  readonly params: JsonObject;
  /** Arguments from answers that replace the program's, by step. */
  readonly stepArgs: Readonly<Record<string, JsonObject>>;
  /** Number that grows when calls are to be made again: calls of another generation are different calls. */
  readonly generation: number;
  readonly used: UsedDocument;
  /** Number of rows that steps made from other rows, over all sets. Fetched rows are counted in `used`. */
  readonly rowsMade: number;
  /** For a simulation: its first writes. */
  readonly simulated: SimulatedCalls;
  readonly saga: SagaDocument;
  readonly park: ParkDocument | null;
  readonly planApprovalId: string;
  readonly deadline: Deadline;
  readonly lastError: string;
  readonly finishedAt: number | null;
  /** Number of the last log entry that this driver knows. */
  readonly lastSeq: number;
  readonly cancel: JobRequest | undefined;
  /** Set while it is paused or is to be paused. */
  readonly pause: JobRequest | undefined;
  /** When a step's progress was last logged by any driver, in epoch milliseconds. 0 before that and after the job's end. */
  readonly progressLoggedAt: number;
};

/** Changes to a job by answers, as sealed in `jobs.overrides`. */
export type StoredOverrides = {
  /** Values of params by name. */
  readonly params: JsonObject;
  /** Arguments by step id. */
  readonly stepArgs: JobState["stepArgs"];
};

/** Returns the changes to a job by answers: params that differ from the program's, and arguments of steps. */
export function overridesOf({
  params,
  stepArgs,
  loaded,
}: Pick<JobState, "params" | "stepArgs" | "loaded">): StoredOverrides {
  const { params: own } = loaded.program;
  const changed = Object.entries(params).filter(([name, value]) => !Object.hasOwn(own, name) || own[name] !== value);
  return { params: Object.fromEntries(changed), stepArgs };
}
