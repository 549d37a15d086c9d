import { sidesOf, type ToolkitSides } from "@svc/catalog";
import {
  type Binding,
  Fault,
  type FaultText,
  type Id,
  type KeyId,
  keysOfChain,
  type ProjectId,
  type Role,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { putJobPrograms } from "@svc/db/jobs/children";
import { type JobProgramName, loadJobProgram } from "@svc/db/jobs/load";
import type { NewJob } from "@svc/db/jobs/new-job";
import { readPlanApproval } from "@svc/db/projects/plan-policy";
import {
  type JsonObject,
  needsPlanApproval,
  type Program,
  type ProgramFault,
  type ProgramNote,
  pinsText,
  programDigest,
} from "@svc/program";
import { checkForProject } from "../api/check.ts";
import { checkApproval, confirmerOf } from "../api/confirmer.ts";
import type { JobsContext } from "../api/context.ts";
import type { Drift } from "../api/drift.ts";
import { skillPrograms } from "../api/submit.ts";
import {
  type CalledToolkits,
  faultOfMixed,
  isSandboxJob,
  sidesOfProgram,
  sidesOfStored,
} from "../api/toolkit-sides.ts";
import { newJob, newTwin, type PinsReader, type SkillProgram, type StandingOrigin } from "../drive/start/new-jobs.ts";
import { sealProgram } from "../drive/store/stored-program.ts";
import { createDriftReader } from "./drift.ts";

/** A checked program with everything that is needed to start it as a job, any number of times. */
export type StartableProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly estimate: EstimateDocument;
  /** True if each job of the program waits for approval before it begins. */
  readonly needsApproval: boolean;
  readonly programJson: string;
  /**
   * The pinned definitions as JSON text: the definitions of the program's tools, as they were when the program was checked. The program
   * runs on these definitions.
   */
  readonly pins: string;
  /** The programs of the skills that the program runs. */
  readonly skills: readonly SkillProgram[];
  /** Notes on parts of the program that may not do what its author intends. */
  readonly notes: readonly ProgramNote[];
};

/** A program to check, and the caller for whom it is checked. The rules are those of the API call SubmitJob. */
export type StartCheck = {
  readonly projectId: ProjectId;
  readonly role: Role;
  readonly binding: Binding | null;
  readonly programJson: string;
  /** True if each start makes its own input for the program. The program then need not contain an input. */
  readonly isInputMade: boolean;
  /** Slugs of the tools that the schedule itself calls, for example to find new rows. Default: none. */
  readonly calls?: readonly string[];
  /** True if the program was accepted earlier. Faults of newer rules are then ignored. Default false. */
  readonly isStored?: boolean;
};

/**
 * Result of a check: the checked program, its faults, or a refusal. A refusal is an error such as that the program needs an approval which
 * it can never get.
 */
export type CheckedStart =
  | StartableProgram
  | { readonly faults: readonly ProgramFault[]; readonly omitted: number }
  | { readonly refusal: Fault };

/** A request to start the stored program of a schedule once, as a job. */
export type Start = {
  readonly id: Id<"job">;
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  /** The access scope of the job in the project. Null if the job may use the whole project. */
  readonly binding: Binding | null;
  readonly principalChain: readonly string[];
  readonly program: Program;
  readonly programHash: string;
  readonly digest: Buffer;
  readonly estimate: EstimateDocument;
  /**
   * Id of the approval that people gave once for all starts of this program, for example for all runs of a schedule. Empty if the program
   * needs no approval.
   */
  readonly grantedId: string;
  /** The input of the job. Undefined to use the program's own input. */
  readonly input: JsonObject | undefined;
  readonly standing: StandingOrigin;
  readonly nowMs: number;
  /** Earliest time at which the job starts. Default: at once. */
  readonly beginAtMs?: number;
};

/**
 * A job that asks people if a schedule may become active, with a simulation run before it if `simulateFirst` is true. The job executes
 * nothing of the schedule's program.
 */
export type ApprovalDryRun = Omit<Start, "grantedId"> & {
  /** True to simulate the program with the given input before people are asked for approval. */
  readonly simulateFirst: boolean;
};

/** A program, with its estimate (what it may use at most). From both, the project's policy decides if people must approve the program. */
export type HeldPlan = { readonly program: Program; readonly estimate: EstimateDocument };

/** Creates the jobs of standing programs (which start jobs on a schedule or event). The caller stores these jobs in its own transaction. */
export type JobStarter = {
  check(asked: StartCheck): Promise<CheckedStart>;
  /**
   * Checks a call that a standing program repeats (a poll). The rules are those for a call in a program. Returns the faults of the call;
   * empty if there are none.
   */
  checkRead(asked: ReadCheck): Promise<readonly ReadFault[]>;
  /**
   * Returns PROGRAM_MIXES_SANDBOX if a tool, with its present definition, and the stored program `digest` call real apps and apps that the
   * sandbox plays. Returns undefined if they do not.
   */
  findMixedRead(projectId: ProjectId, digest: Buffer, toolSlug: string): Promise<Fault | undefined>;
  /** Stores a program, so that it can be started later. Returns the digest that identifies the stored program. */
  keep(tx: Executor, projectId: ProjectId, program: StartableProgram): Promise<Buffer>;
  /**
   * Returns a function that is true if the project's current policy requires approval of a plan (a program and the calls that it may make).
   * It is used for plans whose program does not itself require approval.
   */
  isHeldByPolicy(tx: Executor, projectId: ProjectId): Promise<(plan: HeldPlan) => boolean>;
  /** Returns the differences between the present tools of a stored program and its pinned definitions. Empty if there are none. */
  driftOf(projectId: ProjectId, digest: Buffer): Promise<readonly Drift[]>;
  /**
   * Reads the tool definitions that several programs were stored with, in one statement. A later call of `driftOf` for one of these
   * programs then needs no statement.
   */
  lookForDrift(programs: readonly JobProgramName[]): Promise<void>;
  /** Returns the new job for one start. Stores nothing. */
  make(tx: Executor, start: Start): Promise<NewJob>;
  /**
   * Returns the new job that asks people to approve a program. With `simulateFirst`, also returns a second job, which simulates the program
   * before people are asked. The caller stores the jobs.
   */
  rehearse(tx: Executor, rehearsal: ApprovalDryRun): Promise<NewJob[]>;
  /** Makes this node's engine claim stored jobs. */
  wake(): void;
  /**
   * Notifies the driver (the code that runs the job's steps) on this node, if any, that its job is to be cancelled. The request must
   * already be stored.
   */
  cancel(jobId: Id<"job">): void;
};

/** The functions and data with which jobs of schedules are created, such as the tool catalog and the accounts. */
export type StarterContext = Pick<
  JobsContext,
  "db" | "sealer" | "views" | "meter" | "accounts" | "asks" | "engine" | "programs" | "sandboxMode"
>;

/** Creates the object that makes the jobs of standing programs (which start jobs on a schedule or event). */
export function createJobStarter(context: StarterContext): JobStarter {
  const { sealer, asks, engine } = context;
  const drifts = createDriftReader(context);
  return {
    check: (asked) => check(context, asked),
    checkRead: (asked) => checkRead(context, asked),
    async findMixedRead(projectId, digest, toolSlug) {
      const { db, sandboxMode } = context;
      if (sandboxMode !== "on") return undefined;
      const pins = await pinsOf(db, { projectId, digest });
      const sides = await sidesOfStored(db, { projectId, pins }, sandboxMode);
      return faultOfMixed(await withSidesOf(context, projectId, sides, [toolSlug]));
    },
    async keep(tx, projectId, { skills, ...own }) {
      const records = [own, ...skills].map(({ programJson, programHash, pins }) => {
        const digest = programDigest(programJson, pins);
        const sealedProgram = sealProgram(sealer, { projectId, programDigest: digest }, programJson);
        return { projectId, digest, program: null, sealedProgram, programHash, pins };
      });
      await putJobPrograms(tx, records);
      return programDigest(own.programJson, own.pins);
    },
    async isHeldByPolicy(tx, projectId) {
      const minimum = await readPlanApproval(tx, projectId);
      return ({ program, estimate }) => needsPlanApproval(program, estimate, minimum);
    },
    driftOf: drifts.driftOf,
    lookForDrift: drifts.look,
    async make(tx, start) {
      const readPins = () => pinsOf(tx, start);
      const confirmBy = await confirmerOf(tx, { ...start, keyIds: keysOfChain(start.principalChain) }, start.estimate);
      const isSandbox = await isSandboxStart(context, tx, start.projectId, readPins);
      const own = { ...start, ...unnamed, isSandbox };
      const facts = { ...own, mode: "live", simulateFirst: false, needsApproval: false } as const;
      return newJob({ db: tx, sealer, asks }, { ...facts, confirmBy }, readPins);
    },
    async rehearse(tx, rehearsal) {
      const readPins = () => pinsOf(tx, rehearsal);
      const isSandbox = await isSandboxStart(context, tx, rehearsal.projectId, readPins);
      const facts = { ...rehearsal, ...unnamed, isSandbox, mode: "rehearse", needsApproval: true } as const;
      const main = await newJob({ db: tx, sealer, asks }, facts, readPins);
      return rehearsal.simulateFirst ? [main, newTwin({ sealer }, facts, facts)] : [main];
    },
    wake: () => engine.wake(),
    cancel: (jobId) => engine.cancel(jobId),
  };
}

/**
 * True if the sandbox answers the calls of a job that a schedule starts. Reads the stored tool definitions only if some toolkits (apps) are
 * played and others are not.
 */
async function isSandboxStart(
  { sandboxMode }: StarterContext,
  tx: Executor,
  projectId: ProjectId,
  readPins: PinsReader,
): Promise<boolean> {
  if (sandboxMode !== "on") return sandboxMode === "force";
  return isSandboxJob(await sidesOfStored(tx, { projectId, pins: await readPins() }, sandboxMode), sandboxMode);
}

/** Returns the tool definitions that were stored with the program which is about to be started. */
async function pinsOf(tx: Executor, { projectId, digest }: Pick<Start, "projectId" | "digest">): Promise<string> {
  const record = await loadJobProgram(tx, projectId, digest);
  if (record === undefined) throw new Error(`the program of a start of ${projectId} is missing in the database`);
  return record.pins;
}

/**
 * Values that every job started by a schedule has. Such a job has no idempotency key. The skills of its program are empty here, because
 * they are already stored with the program.
 */
const unnamed = { skills: [], skillSlug: "", idempotencyKey: undefined, contentDigest: Buffer.alloc(0) } as const;

async function check(
  context: StarterContext,
  { projectId, role, binding, programJson, isInputMade, calls = [], isStored = false }: StartCheck,
): Promise<CheckedStart> {
  const checked = await checkForProject(context, { projectId, binding, programJson, isStored, isInputMade });
  if ("faults" in checked) return checked;
  const mixed = await faultOfMixedStart(context, projectId, { ...checked, calls });
  if (mixed !== undefined) return { refusal: mixed };
  const { program, programHash, estimate, notes } = checked;
  const needsApproval = await checkApproval(context.db, { projectId, role }, checked);
  if (needsApproval instanceof Fault) return { refusal: needsApproval };
  const [pins, skills] = [pinsText(checked), skillPrograms(checked)];
  return { program, programHash, estimate, needsApproval, programJson, pins, skills, notes };
}

/** Returns PROGRAM_MIXES_SANDBOX if a schedule and its program call real apps and apps that the sandbox plays; otherwise undefined. */
async function faultOfMixedStart(
  context: StarterContext,
  projectId: ProjectId,
  { calls, ...called }: CalledToolkits & { readonly calls: readonly string[] },
): Promise<Fault | undefined> {
  return faultOfMixed(await withSidesOf(context, projectId, sidesOfProgram(called, context.sandboxMode), calls));
}

/** Returns the sides with the toolkits of further tools added. `calls`: slugs of these tools, whose present definitions count. */
async function withSidesOf(
  { views, sandboxMode }: StarterContext,
  projectId: ProjectId,
  { played, live }: ToolkitSides,
  calls: readonly string[],
): Promise<ToolkitSides> {
  const { toolkits } = await views.forProject(projectId);
  const own = calls.flatMap((slug) => toolkits.get(slug.split(".")[0] ?? "") ?? []);
  const besides = sidesOf(own, sandboxMode);
  return { played: [...besides.played, ...played], live: [...besides.live, ...live] };
}

/**
 * A single tool call that a standing program (which starts jobs on a schedule or event) makes regularly with the same arguments, to find
 * new rows.
 */
type ReadCheck = {
  readonly projectId: ProjectId;
  readonly binding: Binding | null;
  readonly call: string;
  readonly entity: string;
  readonly args: JsonObject;
};

/**
 * An error of the call that a schedule's poll repeats with the same arguments. `path` begins with `call`, `entity` or `args`, the part of
 * the call that has the error.
 */
type ReadFault = { readonly path: readonly string[]; readonly message: string; readonly hint: FaultText };

/**
 * Checks a read call that a standing program (a schedule) makes regularly with the same arguments. Applies the rules for calls in programs
 * to the tool, the account and the arguments. Returns the errors of the call.
 */
async function checkRead(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts" | "meter">,
  { projectId, binding, call, entity, args }: ReadCheck,
): Promise<readonly ReadFault[]> {
  const step = { id: "read", call, entity, args };
  const programJson = JSON.stringify({ version: 1, title: "Read", steps: [step] });
  const checked = await checkForProject(context, { projectId, binding, programJson, isStored: false });
  if (!("faults" in checked)) return [];
  return checked.faults.map(({ pointer, message, hint }) => {
    const [, , ...path] = pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    return { path, message, hint };
  });
}
