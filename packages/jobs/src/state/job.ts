import type { Id, JobBinding, KeyId, ProjectId, StandingRunId } from "@svc/core";
import type { ChildDocument, ParkDocument, UsedDocument } from "@svc/db/documents/jobs";
import type { EstimateDocument, SagaDocument } from "@svc/db/documents/programs";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import type { JsonObject, JsonValue, PinnedSkills, PinnedTools, Program, RunScope } from "@svc/program";
import type { Flow } from "./flow.ts";
import type { Blocks, PlanProgress, StepProgress, UndoProgress } from "./progress.ts";
import type { SimulatedCalls } from "./simulated.ts";
import type { JobStatus } from "./statuses.ts";

/**
 * A program in memory, ready to run: the program itself, its flat list of steps, and the tool and skill definitions that were stored with
 * it.
 */
export type LoadedProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly flow: Flow;
  readonly tools: PinnedTools;
  /** The skills that the program runs, by the program's names for them. */
  readonly skills: PinnedSkills;
  /** True if any value of the program's input or of its calls' answers is marked as sensitive. */
  readonly hasSensitive: boolean;
  /** True if version 0.1 stored the program. Rules that have changed since that version then apply in their old form. */
  readonly isOld: boolean;
};

/** The facts about a job that never change, such as its project and its program. */
export type JobFacts = {
  readonly id: Id<"job">;
  readonly projectId: ProjectId;
  /** The key that submitted the job. For a later attempt, the key that began that attempt. */
  readonly keyId: KeyId;
  /** The access scope of the caller who submitted the job. Null if the caller may use the whole project. */
  readonly binding: JobBinding | null;
  readonly isSimulated: boolean;
  /** True for an approval dry run: a job that asks people for approval of the program of a schedule, and does not run that program. */
  readonly isRehearsal: boolean;
  /** For a simulation run: the live job that it belongs to. Null for any other job. */
  readonly simulatedFrom: Id<"job"> | null;
  /** The parent job that runs this job as a skill, and the part of the parent's limits that this job may use. Null for a submitted job. */
  readonly parent: (ChildDocument & { readonly jobId: Id<"job"> }) | null;
  readonly standingProgramId: string;
  /**
   * The run of a standing program (a program that starts jobs on a schedule or event) that started this job. Null if a caller submitted the
   * job.
   */
  readonly standingRunId: StandingRunId | null;
  /**
   * Value from which the idempotency keys that apps receive with calls are computed. It is the job's id, or a value that all jobs for one
   * due time or event of a standing program (a schedule) share.
   */
  readonly callSeed: string;
  /**
   * End of the backup from which the job was restored, in epoch milliseconds. Null if the job was not restored. The original job may have
   * continued after the backup. So it is not known if writes without an idempotency key were executed, and a person must decide about each
   * of them.
   */
  readonly restoredFrom: number | null;
  /** The span that stored the job, as a W3C `traceparent`. Null if there is none. */
  readonly traceparent: string | null;
  /** Number of the job's present attempt, from 1. Each retry of an ended job begins the next attempt. */
  readonly attempt: number;
  /**
   * The callers on whose behalf the program acts: the caller that submitted the job, and the caller that began the job's current attempt.
   * svc records them as the cause of the program's actions.
   */
  readonly principalChain: readonly string[];
  /** The keys and programs that caused the submission of the job, in order. */
  readonly submitChain: readonly string[];
  readonly estimate: EstimateDocument;
  readonly loaded: LoadedProgram;
  /** Time of the submission, in epoch milliseconds. */
  readonly createdAt: number;
  readonly input: JsonObject;
};

/**
 * Place of a job in the list of its program's instructions (`index`). `progress`: progress of the step there; undefined if the step has not
 * begun. `generation`: only for a branch of a `parallel` step; a number that grows when the branch makes its calls again.
 */
export type Position = {
  readonly index: number;
  readonly progress: StepProgress | undefined;
  readonly generation?: number;
};

/** The data of a step that has begun or was skipped: its place in the order of steps, its receipt (counts and times), and its value. */
export type StepEntry = {
  /** Number of the step in the order in which steps began. Steps are shown in this order. */
  readonly ordinal: number;
  readonly receipt: StepReceiptDocument;
  /** The value that `steps.<id>` refers to. Undefined if the step made no value. */
  readonly value: JsonValue | undefined;
};

/** Deadline of a job. `atMs`: when it expires, in epoch milliseconds. `leftMs`: time left while its clock is stopped, in milliseconds. */
type Deadline = { readonly atMs: number } | { readonly leftMs: number };

/** The values that references and expressions in a program can use. A skipped step has no value, and its set (list of rows) is empty. */
export type JobScope = RunScope & Required<Pick<RunScope, "steps" | "rows">>;

/** A request to cancel or to pause a job. `atMs`: time of the request. `chain`: the keys and programs that caused it. */
export type JobRequest = { readonly atMs: number; readonly chain: readonly string[] };

/**
 * State of a running job. It is immutable: the code of a step returns a `Change`, and the function `apply` creates the next state from it.
 */
export type JobState = StoredState & DerivedState;

/** Values that are not stored but computed from the stored state of a job. They are needed to run the job's next steps. */
export type DerivedState = {
  /** The values that expressions of the program can read at this point of the job, such as its params and results of steps. */
  readonly scope: JobScope;
  /** Ids of the steps whose sets may lack rows, because an error of the step or of an enclosing block was handled. */
  readonly lostSets: ReadonlySet<string>;
};

/** The state of a job as its database rows contain it, without values that are computed from them. */
export type StoredState = JobFacts & {
  readonly status: JobStatus;
  /**
   * Positions of the job in its program. Usually there is one position. Inside a `parallel` step, there is one for each branch, in the
   * order of the branches.
   */
  readonly positions: readonly Position[];
  /**
   * State of each running step that contains steps (for example `if` or `parallel`), by step id. Steps that have ended are not included.
   */
  readonly blocks: Blocks;
  /**
   * Progress of simulating and approving the job. Afterwards, it is present only if a person confirmed the job or a key changed what the
   * job sends.
   */
  readonly plan: PlanProgress | undefined;
  /** Progress of undoing the job's calls. Undefined if the job is not being undone. */
  readonly undo: UndoProgress | undefined;
  /** The steps by id, in the order in which they began. */
  readonly steps: ReadonlyMap<string, StepEntry>;
  readonly params: JsonObject;
  /** Arguments that people changed in their answers to questions, by step. They replace the program's arguments. */
  readonly stepArgs: Readonly<Record<string, JsonObject>>;
  /**
   * Number of the job's current round of calls. It grows when steps must call again, for example after a person's decision. It is a part of
   * the keys by which repeated calls are recognized, so a call of a new round is not taken for a repeat.
   */
  readonly generation: number;
  readonly used: UsedDocument;
  /** Number of rows that steps of the job made from existing rows. Rows that calls returned are counted in `used`. */
  readonly rowsMade: number;
  /** Writes that a simulated job did not send, by step: the number of all, and the contents of the first. */
  readonly simulated: SimulatedCalls;
  readonly saga: SagaDocument;
  readonly park: ParkDocument | null;
  readonly planApprovalId: string;
  readonly deadline: Deadline;
  readonly lastError: string;
  readonly finishedAt: number | null;
  /** Sequence number of the last log entry of the job that this node knows. */
  readonly lastSeq: number;
  readonly cancel: JobRequest | undefined;
  /** Present while the job is paused or a pause is requested. */
  readonly pause: JobRequest | undefined;
  /** Time at which the progress of a step was last logged, in epoch milliseconds. 0 before the first entry and after the job's end. */
  readonly progressLoggedAt: number;
};

/**
 * Inputs and call arguments of a job that people changed in answers to its questions, in the form that is stored encrypted in
 * `jobs.overrides`.
 */
export type StoredOverrides = {
  /** Values that people gave to params of the program in place of the program's own values, by name of the param. */
  readonly params: JsonObject;
  /** Arguments from people's answers that replace those of the program, by step id. */
  readonly stepArgs: JobState["stepArgs"];
};

/** Returns the changes that answers made to a job: params that differ from those of the program, and arguments of steps. */
export function overridesOf({
  params,
  stepArgs,
  loaded,
}: Pick<JobState, "params" | "stepArgs" | "loaded">): StoredOverrides {
  const { params: own } = loaded.program;
  const changed = Object.entries(params).filter(([name, value]) => !Object.hasOwn(own, name) || own[name] !== value);
  return { params: Object.fromEntries(changed), stepArgs };
}
