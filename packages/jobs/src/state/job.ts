import type { Id, JobBinding, KeyId, ProjectId, StandingRunId } from "@svc/core";
import type { ChildDocument, ParkDocument, UsedDocument } from "@svc/db/documents/jobs";
import type { EstimateDocument, SagaDocument } from "@svc/db/documents/programs";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import type { JsonObject, JsonValue, PinnedSkills, PinnedTools, Program, RunScope } from "@svc/program";
import type { Flow } from "./flow.ts";
import type { Blocks, PlanProgress, StepProgress, UndoProgress } from "./progress.ts";
import type { SimulatedCalls } from "./simulated.ts";
import type { JobStatus } from "./statuses.ts";

/** A program ready to run, with the definitions it is pinned to by tool slug. */
export type LoadedProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly flow: Flow;
  readonly tools: PinnedTools;
  /** The skills that it runs, by the names that it has for them. */
  readonly skills: PinnedSkills;
  /** Whether anything that it takes or reads is sensitive. */
  readonly hasSensitive: boolean;
  /** Whether version 0.1 stored it: what ends otherwise since ends as it did then. */
  readonly isOld: boolean;
};

/** What of a job never changes. */
export type JobFacts = {
  readonly id: Id<"job">;
  readonly projectId: ProjectId;
  /** The key that submitted it or, of a later attempt, that began this one. */
  readonly keyId: KeyId;
  /** What it reaches, as whoever submitted it was bound; null for all of its project. */
  readonly binding: JobBinding | null;
  readonly isSimulated: boolean;
  /** People are asked about its plan for a standing program, and nothing of it is run. */
  readonly isRehearsal: boolean;
  /** The live job whose twin this is. */
  readonly simulatedFrom: Id<"job"> | null;
  /** The job that runs it as a skill, and what it may use of that one's limits; null for one that was submitted. */
  readonly parent: (ChildDocument & { readonly jobId: Id<"job"> }) | null;
  readonly standingProgramId: string;
  /** The run of the standing program that it is; null without one. */
  readonly standingRunId: StandingRunId | null;
  /** What the keys of its calls at apps are made of: its id, or what any job of the same occurrence of a standing program would have. */
  readonly callSeed: string;
  /**
   * The end of the backup that it stands as of, where the store that the backup was taken of may have gone on with it: writes without a
   * key that the app knows are in doubt. Epoch milliseconds; null as a rule.
   */
  readonly restoredFrom: number | null;
  /** From 1. */
  readonly attempt: number;
  /** Who causes what the program does by itself: who submitted it, and who began this attempt. */
  readonly principalChain: readonly string[];
  /** Who submitted it. */
  readonly submitChain: readonly string[];
  readonly estimate: EstimateDocument;
  readonly loaded: LoadedProgram;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly input: JsonObject;
};

/**
 * Where a job stands in its program's flow, and how far the step there is; undefined while it has not begun. In a branch of a `parallel`
 * the position has a generation of its own: what makes the calls of one branch new calls leaves those of the others.
 */
export type Position = {
  readonly index: number;
  readonly progress: StepProgress | undefined;
  readonly generation?: number;
};

/** A step that has begun, or was skipped. */
export type StepEntry = {
  /** Steps are told in the order in which they began. */
  readonly ordinal: number;
  readonly receipt: StepReceiptDocument;
  /** What `steps.<id>` names; undefined for a step that made nothing. */
  readonly value: JsonValue | undefined;
};

/** When a job expires, or, while its clock stands still, how much time it has left; epoch milliseconds, milliseconds. */
type Deadline = { readonly atMs: number } | { readonly leftMs: number };

/** What references may name: a skipped step has no value, and its set is empty. */
export type JobScope = RunScope & Required<Pick<RunScope, "steps" | "rows">>;

/** A request to end or to pause a job, and who made it. */
export type JobRequest = { readonly atMs: number; readonly chain: readonly string[] };

/**
 * What is known of a job while it is driven. A value: whoever wants it changed says so in a `Change`, and `apply` alone makes the
 * next one of it.
 */
export type JobState = StoredState & Following;

/** What follows from the rest. */
export type Following = {
  /** What references may name now. */
  readonly scope: JobScope;
  /** Steps whose set is not known, since they failed and their error was handled. */
  readonly lostSets: ReadonlySet<string>;
};

/** A job as its rows have it. */
export type StoredState = JobFacts & {
  readonly status: JobStatus;
  /** One; at a `parallel`, one for each of its branches, in their order. */
  readonly positions: readonly Position[];
  /** What is known of the blocks at work, by the id of their step. */
  readonly blocks: Blocks;
  /** While the plan is simulated or asked for. */
  readonly plan: PlanProgress | undefined;
  /** While what was done is undone. */
  readonly undo: UndoProgress | undefined;
  /** By id, in the order in which they began. */
  readonly steps: ReadonlyMap<string, StepEntry>;
  readonly params: JsonObject;
  /** Arguments that answers put in place of the program's, by step. */
  readonly stepArgs: Readonly<Record<string, JsonObject>>;
  /** Grows whenever calls are to be made anew: those of another generation are other calls. */
  readonly generation: number;
  readonly used: UsedDocument;
  /** Rows that steps made of other rows, over all sets; those that were fetched stand in `used`. */
  readonly rowsMade: number;
  /** Of a simulation: what its first writes would have sent. */
  readonly simulated: SimulatedCalls;
  readonly saga: SagaDocument;
  readonly park: ParkDocument | null;
  readonly planApprovalId: string;
  readonly deadline: Deadline;
  readonly lastError: string;
  readonly finishedAt: number | null;
  /** The last entry of the log, as far as this driver knows. */
  readonly lastSeq: number;
  readonly cancel: JobRequest | undefined;
  /** While it is to be paused, or is. */
  readonly pause: JobRequest | undefined;
  /** When a step's progress was last logged, by whichever driver, in epoch milliseconds; 0 before, and once the job has ended. */
  readonly progressLoggedAt: number;
};

/** What answers changed of a job, as it is sealed in `jobs.overrides`. */
export type StoredOverrides = {
  /** Values of params by name. */
  readonly params: JsonObject;
  /** Arguments by step id. */
  readonly stepArgs: JobState["stepArgs"];
};

/** What answers changed of a job: the params that are not the program's own any more, and arguments of steps. */
export function overridesOf({
  params,
  stepArgs,
  loaded,
}: Pick<JobState, "params" | "stepArgs" | "loaded">): StoredOverrides {
  const { params: own } = loaded.program;
  const changed = Object.entries(params).filter(([name, value]) => !Object.hasOwn(own, name) || own[name] !== value);
  return { params: Object.fromEntries(changed), stepArgs };
}
