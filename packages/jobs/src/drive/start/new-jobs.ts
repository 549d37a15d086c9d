import type { AskPort, PreparedAsk } from "@svc/asks";
import type { SeenAccounts } from "@svc/connections";
import {
  createId,
  currentTrace,
  type Id,
  type JobBinding,
  type KeyId,
  type ProjectId,
  type Sealer,
  type StandingProgramId,
  type StandingRunId,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { EstimateDocument, SagaDocument } from "@svc/db/documents/programs";
import { putJobPrograms } from "@svc/db/jobs/children";
import type { NewJob } from "@svc/db/jobs/new-job";
import type { JobMode } from "@svc/db/schema/words";
import { type JsonObject, type Pins, type Program, programDigest, readPins } from "@svc/program";
import type { JobQuestion } from "../../state/change.ts";
import { noUse } from "../../state/counts.ts";
import type { StoredOverrides } from "../../state/job.ts";
import { noProgress, type PlanProgress } from "../../state/progress.ts";
import type { JobStatus } from "../../state/statuses.ts";
import { sealProgress } from "../../state/stored-progress.ts";
import { destructiveOf } from "../../steps/plan-text.ts";
import { confirmQuestion, planQuestion } from "../../steps/questions.ts";
import { parkOn } from "../ask/put-question.ts";
import { type JobSeals, jobSeals } from "../store/seals.ts";
import { sealProgram } from "../store/stored-program.ts";

/** A checked program that a caller submits, with all data from which its job is made. */
export type JobSubmission = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  /** The job's access scope in its project. Null if the job may use the whole project. */
  readonly binding: JobBinding | null;
  readonly principalChain: readonly string[];
  /** The program text as submitted. */
  readonly programJson: string;
  readonly programHash: string;
  readonly program: Program;
  /**
   * The definitions of the program's tools at the time of the submission, as JSON text. The job keeps using them if a tool changes later.
   */
  readonly pins: string;
  /** The programs of the skills that the job runs. */
  readonly skills: readonly SkillProgram[];
  readonly mode: "live" | "simulate";
  readonly simulateFirst: boolean;
  readonly needsApproval: boolean;
  /**
   * The contact who must confirm the job before it begins. If the job's program also needs an approval, this contact is asked after the
   * approval. Default: a confirmation is not needed.
   */
  readonly confirmBy?: string | undefined;
  /**
   * The text of the question to the contact `confirmBy`, who must confirm the job. Default: a text that states the maximum number of calls
   * and rows of the program.
   */
  readonly confirmText?: string | undefined;
  readonly estimate: EstimateDocument;
  /** The input that a caller of a skill gives. Undefined if the program has its own input. */
  readonly input: JsonObject | undefined;
  /** Values of params that replace those of the program. Default: none. */
  readonly params?: JsonObject | undefined;
  readonly skillSlug: string;
  /** For a job of a standing program (a schedule): the standing program and its run. */
  readonly standing?: StandingOrigin | undefined;
  readonly idempotencyKey: string | undefined;
  /** SHA-256 of the content that the idempotency key is bound to. Without a key it may be empty. */
  readonly contentDigest: Buffer;
  /** True if the sandbox answers the calls of the job instead of the apps. The job's log then says so. */
  readonly isSandbox: boolean;
  /** The accounts that the check of the program has looked up. They are used when the job's first call is prepared. Default: none. */
  readonly seen?: SeenAccounts | undefined;
};

/**
 * The schedule that started a job, and the run of this schedule. `runId`: null for an approval dry run. `callSeed`: if set, the idempotency
 * keys for apps are made from it and not from the job's id.
 */
export type StandingOrigin = {
  readonly programId: StandingProgramId;
  readonly runId: StandingRunId | null;
  readonly callSeed: Buffer | null;
  /** Time of the backup from which the schedule's run was restored, in epoch milliseconds. Null if the run was not restored. */
  readonly restoredFrom: number | null;
};

/** The program of a skill that a job runs. `pins`: the definitions of its tools, stored with the job. */
export type SkillProgram = Pick<JobSubmission, "programJson" | "programHash" | "pins">;

/** Dependencies of creating jobs. */
export type NewJobsContext = {
  readonly db: Executor;
  readonly sealer: Sealer;
  readonly asks: AskPort;
};

type Identified = { readonly id: Id<"job">; readonly digest: Buffer; readonly nowMs: number };

/** The data from which a new job is made, apart from its program, which is already stored. */
export type NewJobFacts = Omit<JobSubmission, "programJson" | "pins" | "mode"> &
  Identified & {
    readonly mode: JobMode;
    /** For a job that a schedule started: the id of the approval of the schedule's version. */
    readonly grantedId?: string | undefined;
    /** Earliest time at which the job starts. Default: at once. */
    readonly beginAtMs?: number | undefined;
  };

/**
 * Returns the pinned tool definitions of a program as JSON text. Called only if a person must approve or confirm the program before it
 * runs, because the question names the destructive tools.
 */
export type PinsReader = () => Promise<string>;

/** Returns a new job for a checked program. Stores nothing. */
export async function newJob(context: NewJobsContext, submission: NewJobFacts, readPins: PinsReader): Promise<NewJob> {
  const { id, nowMs, program, simulateFirst, needsApproval, confirmBy, mode, beginAtMs = nowMs } = submission;
  const asksNow = (needsApproval || confirmBy !== undefined) && !simulateFirst && mode !== "simulate";
  const status: JobStatus = simulateFirst ? "simulating" : asksNow ? "pending_plan_approval" : "queued";
  const question = asksNow ? await questionOf(submission, readPins) : undefined;
  const prepared = question && (await preparePlanAsk(context, submission, question));
  const { deadlineMs } = program.limits;
  const seals = jobSeals(context.sealer, submission.projectId, id);
  const plan = planOf(submission, prepared);
  const base = baseRow(submission, submission);
  return {
    job: {
      ...base,
      input: submission.input === undefined ? null : seals.seal("input", submission.input),
      status,
      planApprovalId: prepared?.approvalId || submission.grantedId || "",
      park: prepared && question ? parkOn(question, { requestId: prepared.id, nowMs }) : null,
      progress: sealProgress({ ...noProgress, positions: [], plan }, seals.seal),
      overrides: sealedOverrides(submission, seals),
      idempotencyKey: submission.idempotencyKey ?? null,
      deadlineAt: status === "queued" ? nowMs + deadlineMs : null,
      deadlineLeftMs: status === "queued" ? null : deadlineMs,
    },
    events: [submitted(submission, status), ...(prepared?.events ?? [])],
    tasks: status === "queued" ? [runTask(submission, id, beginAtMs)] : (prepared?.tasks ?? []),
    also: alsoOf(context, submission, prepared),
  };
}

/**
 * Returns the data about the steps that a job must pass before it may run: a simulation run, an approval, or a confirmation. Returns
 * undefined if the job may run at once.
 */
function planOf(
  { simulateFirst, needsApproval, confirmBy }: NewJobFacts,
  prepared: PreparedAsk | undefined,
): PlanProgress | undefined {
  const confirmed = confirmBy === undefined ? {} : { confirmBy };
  if (prepared !== undefined) return { askId: prepared.id, ...(needsApproval && confirmed) };
  return simulateFirst ? { needsApproval, ...confirmed } : undefined;
}

/**
 * Returns a function that stores what belongs to a new job in the job's own transaction: its ask (question to a person), and the programs
 * of its skills (programs that are used as tools). Returns undefined if the job has neither an ask nor skills.
 */
function alsoOf(
  { sealer }: Pick<NewJobsContext, "sealer">,
  { projectId, skills }: Pick<JobSubmission, "projectId" | "skills">,
  prepared: PreparedAsk | undefined,
): NewJob["also"] {
  if (prepared === undefined && skills.length === 0) return undefined;
  return async (tx) => {
    await putJobPrograms(
      tx,
      skills.map(({ programJson, programHash, pins }) => {
        const digest = programDigest(programJson, pins);
        const sealedProgram = sealProgram(sealer, { projectId, programDigest: digest }, programJson);
        return { projectId, digest, program: null, sealedProgram, programHash, pins };
      }),
    );
    await prepared?.write(tx);
  };
}

function sealedOverrides({ params = {} }: Pick<JobSubmission, "params">, { seal }: JobSeals): Buffer | null {
  if (Object.keys(params).length === 0) return null;
  const changed: StoredOverrides = { params, stepArgs: {} };
  return Buffer.from(seal("overrides", changed));
}

/**
 * Returns the simulation run of a job that was submitted with `simulateFirst`. The simulation run is a separate job, which runs before the
 * live one. Stores nothing.
 */
export function newTwin(
  context: Pick<NewJobsContext, "sealer">,
  submission: Omit<NewJobFacts, keyof Identified>,
  { id, digest, nowMs }: Identified,
): NewJob {
  const twinId = createId("job", nowMs);
  const seals = jobSeals(context.sealer, submission.projectId, twinId);
  return {
    job: {
      ...baseRow({ ...submission, mode: "simulate" }, { id: twinId, digest, nowMs }),
      simulatedFrom: id,
      input: submission.input === undefined ? null : seals.seal("input", submission.input),
      status: "queued",
      deadlineAt: nowMs + submission.program.limits.deadlineMs,
    },
    events: [submitted({ ...submission, mode: "simulate" }, "queued")],
    tasks: [runTask(submission, twinId, nowMs)],
  };
}

function baseRow(submission: Omit<NewJobFacts, keyof Identified>, { id, digest, nowMs }: Identified) {
  return {
    id,
    projectId: submission.projectId,
    mode: submission.mode,
    skillSlug: submission.skillSlug,
    standingProgramId: submission.standing?.programId ?? "",
    standingRunId: submission.standing?.runId ?? null,
    callSeed: submission.standing?.callSeed ?? null,
    restoredFrom: submission.standing?.restoredFrom ?? null,
    traceparent: currentTrace() ?? null,
    programDigest: digest,
    params: {},
    stepArgs: {},
    keyId: submission.keyId,
    binding: submission.binding,
    principalChain: [...submission.principalChain],
    // A digest is compared only if an idempotency key is repeated. Without a key it stays empty.
    contentDigest: submission.idempotencyKey === undefined ? Buffer.alloc(0) : submission.contentDigest,
    estimate: submission.estimate,
    used: noUse,
    saga: sagaOf(submission),
    createdAt: nowMs,
    updatedAt: nowMs,
  };
}

function sagaOf({ program }: Pick<JobSubmission, "program">): SagaDocument {
  return { state: program.sagaOn.length > 0 ? "armed" : "none", entries: 0, done: 0, failed: 0 };
}

async function questionOf(submission: NewJobFacts, readPins: PinsReader): Promise<JobQuestion> {
  const { program, estimate, mode, needsApproval, confirmBy, confirmText } = submission;
  const destructive = estimate.destructiveMax === 0 ? [] : destructiveByPins(program, await readPins());
  const plan = { program, estimate, destructive, isRehearsal: mode === "rehearse" };
  const isConfirmed = !needsApproval && confirmBy !== undefined;
  return isConfirmed ? confirmQuestion(plan, confirmBy, confirmText) : planQuestion(plan);
}

function preparePlanAsk(
  { db, asks }: Pick<NewJobsContext, "db" | "asks">,
  { id, nowMs, projectId, keyId, principalChain, program, standing }: NewJobFacts,
  question: JobQuestion,
): Promise<PreparedAsk> {
  return asks.prepare(db, {
    ...question,
    jobId: id,
    projectId,
    keyId,
    approvers: program.approval.escalation,
    standingProgramId: standing?.programId ?? "",
    principalChain,
    nowMs,
  });
}

/**
 * Returns the first entry of a job's log, `job-submitted`. It does not contain the hash of the job's program, which is stored with the
 * program. svc adds the hash when the log is read.
 */
function submitted(
  { mode, skillSlug, isSandbox }: Pick<NewJobFacts, "mode" | "skillSlug" | "isSandbox">,
  status: JobStatus,
) {
  const payload = { mode, status, ...(skillSlug !== "" && { skillSlug }), ...(isSandbox && { sandbox: true }) };
  return { type: "job-submitted", stepId: "", payload: JSON.stringify(payload), principalChain: null };
}

function runTask({ projectId }: Pick<JobSubmission, "projectId">, jobId: Id<"job">, dueAt: number) {
  return { jobId, kind: "run" as const, subject: "", projectId, dueAt };
}

/**
 * Returns the destructive tools and skills that a program calls. Reads this from the tool definitions that were stored with the program
 * when it was accepted. Calls that undo others are left out.
 */
function destructiveByPins(program: Pick<Program, "steps">, pinsJson: string): readonly string[] {
  const { pins, skills } = readPins(pinsJson);
  return destructiveOf(program, { isDestructive: (slug) => isDestructivePin(pins, slug), skills });
}

/** True if the pinned definition of a tool says that the tool is destructive. */
function isDestructivePin(pins: Pins, slug: string): boolean {
  const { actions = [] } = pins[slug.split(".")[0] ?? ""]?.definition ?? {};
  return actions.some((action) => action.slug === slug && action.class === "destructive");
}
