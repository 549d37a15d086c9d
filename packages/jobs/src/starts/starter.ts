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
import { newJob, newTwin, type SkillProgram, type StandingOrigin } from "../drive/start/new-jobs.ts";
import { sealProgram } from "../drive/store/stored-program.ts";
import { createDriftReader } from "./drift.ts";

/** A program that was checked to be started again and again. */
export type StartableProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly estimate: EstimateDocument;
  /** Whether each of its jobs waits for approval first. */
  readonly needsApproval: boolean;
  readonly programJson: string;
  /** The pinned definitions as JSON text. */
  readonly pins: string;
  /** The programs of the skills that it runs. */
  readonly skills: readonly SkillProgram[];
  /** What it may not mean. */
  readonly notes: readonly ProgramNote[];
};

/** Whose program is checked: as SubmitJob would, were it submitted. */
export type StartCheck = {
  readonly projectId: ProjectId;
  readonly role: Role;
  readonly binding: Binding | null;
  readonly programJson: string;
  /** Whether each start makes what the program takes. */
  readonly isInputMade: boolean;
  /** Whether it was accepted before: what has been refused only since is let pass. Default false. */
  readonly isStored?: boolean;
};

/** What a check found: the program, its faults, or that its plan needs an approval that it could never get. */
export type CheckedStart =
  | StartableProgram
  | { readonly faults: readonly ProgramFault[]; readonly omitted: number }
  | { readonly refusal: Fault };

/** One start of a program that is kept. */
export type Start = {
  readonly id: Id<"job">;
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  /** What its job reaches of the project; null for all of it. */
  readonly binding: Binding | null;
  readonly principalChain: readonly string[];
  readonly program: Program;
  readonly programHash: string;
  readonly digest: Buffer;
  readonly estimate: EstimateDocument;
  /** The approval that the plan has, which people gave for all its starts; empty where it needs none. */
  readonly grantedId: string;
  /** Undefined for the program's own. */
  readonly input: JsonObject | undefined;
  readonly standing: StandingOrigin;
  readonly nowMs: number;
  /** When it is to begin at the earliest; by default at once. */
  readonly beginAtMs?: number;
};

/** A question to people whether a program may stand, which is a job of its own. */
export type Rehearsal = Omit<Start, "grantedId"> & {
  /** Whether its program is simulated first, on the input that is given. */
  readonly simulateFirst: boolean;
};

/** What a policy judges a plan by. */
export type HeldPlan = { readonly program: Program; readonly estimate: EstimateDocument };

/** What starts jobs of programs that stand: it makes them, and who started them stores them in a transaction of its own. */
export type JobStarter = {
  check(asked: StartCheck): Promise<CheckedStart>;
  /** Checks a call that is made beside programs as one of theirs; nothing is wrong with it where nothing is answered. */
  checkRead(asked: ReadCheck): Promise<readonly ReadFault[]>;
  /** Stores a program for its later starts, and answers by which digest they find it. */
  keep(tx: Executor, projectId: ProjectId, program: StartableProgram): Promise<Buffer>;
  /**
   * Whether the policy of a project, which may be another than when a plan was checked, has it wait for approval; asked of plans that
   * need none by their own rule.
   */
  isHeldByPolicy(tx: Executor, projectId: ProjectId): Promise<(plan: HeldPlan) => boolean>;
  /** How tools that a kept program runs on differ today from what it is pinned to; nothing where they are the same. */
  driftOf(projectId: ProjectId, digest: Buffer): Promise<readonly Drift[]>;
  /** Finds out `driftOf` of several programs in one statement. */
  lookForDrift(programs: readonly JobProgramName[]): Promise<void>;
  /** Makes the job of one start; nothing is stored. */
  make(tx: Executor, start: Start): Promise<NewJob>;
  /** Makes the job by which people are asked about a program that needs approval, and its simulation; nothing is stored. */
  rehearse(tx: Executor, rehearsal: Rehearsal): Promise<NewJob[]>;
  /** Has the engine of this node look for jobs that were stored. */
  wake(): void;
  /** Tells a driver on this node that its job is to be cancelled, as the store says already. */
  cancel(jobId: Id<"job">): void;
};

/** What the starter works with. */
export type StarterContext = Pick<
  JobsContext,
  "db" | "sealer" | "views" | "accounts" | "asks" | "engine" | "programs" | "isSandbox"
>;

/** Makes what starts jobs of programs that stand. */
export function createJobStarter(context: StarterContext): JobStarter {
  const { sealer, asks, engine, isSandbox } = context;
  const drifts = createDriftReader(context);
  return {
    check: (asked) => check(context, asked),
    checkRead: (asked) => checkRead(context, asked),
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
      const facts = { ...start, ...unnamed, mode: "live", simulateFirst: false, needsApproval: false } as const;
      return newJob({ db: tx, sealer, asks, isSandbox }, { ...facts, confirmBy }, readPins);
    },
    async rehearse(tx, rehearsal) {
      const facts = { ...rehearsal, ...unnamed, mode: "rehearse", needsApproval: true } as const;
      const main = await newJob({ db: tx, sealer, asks, isSandbox }, facts, () => pinsOf(tx, rehearsal));
      return rehearsal.simulateFirst ? [main, newTwin({ sealer, isSandbox }, facts, facts)] : [main];
    },
    wake: () => engine.wake(),
    cancel: (jobId) => engine.cancel(jobId),
  };
}

/** The pins that the program of a start was stored with. */
async function pinsOf(tx: Executor, { projectId, digest }: Pick<Start, "projectId" | "digest">): Promise<string> {
  const record = await loadJobProgram(tx, projectId, digest);
  if (record === undefined) throw new Error(`the program of a start of ${projectId} is gone from the store`);
  return record.pins;
}

/** No idempotency key is bound to a start, and the skills of its program were kept with that. */
const unnamed = { skills: [], skillSlug: "", idempotencyKey: undefined, contentDigest: Buffer.alloc(0) } as const;

async function check(
  context: StarterContext,
  { projectId, role, binding, programJson, isInputMade, isStored = false }: StartCheck,
): Promise<CheckedStart> {
  const checked = await checkForProject(context, { projectId, binding, programJson, isStored, isInputMade });
  if ("faults" in checked) return checked;
  const { program, programHash, estimate, notes } = checked;
  const needsApproval = await checkApproval(context.db, { projectId, role }, checked);
  if (needsApproval instanceof Fault) return { refusal: needsApproval };
  const [pins, skills] = [pinsText(checked), skillPrograms(checked)];
  return { program, programHash, estimate, needsApproval, programJson, pins, skills, notes };
}

/** A call that is made again and again beside a program, with the same arguments each time. */
type ReadCheck = {
  readonly projectId: ProjectId;
  readonly binding: Binding | null;
  readonly call: string;
  readonly entity: string;
  readonly args: JsonObject;
};

/** What is wrong with it; the path begins at `call`, `entity` or `args`. */
type ReadFault = { readonly path: readonly string[]; readonly message: string; readonly hint: FaultText };

/** Checks such a call as that of a program: its tool, its account and its arguments. */
async function checkRead(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts">,
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
