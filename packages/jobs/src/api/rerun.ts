import { createHash } from "node:crypto";
import { askFaults } from "@svc/asks";
import { createTenantValidators, fitInput, type ToolkitSides } from "@svc/catalog";
import {
  type ConfirmRule,
  Fault,
  type Id,
  isObject,
  type KeyId,
  type ProjectId,
  parseExactJson,
  quotaFaults,
  RepeatedNameError,
  type Role,
} from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { findKeyedJob } from "@svc/db/jobs/insert";
import { loadJobProgram } from "@svc/db/jobs/load";
import { jobsForProject } from "@svc/db/jobs/repo";
import { canonicalJson, type JsonObject, type Program, parseCheckedProgram, pinsText } from "@svc/program";
import type { JobSubmission } from "../drive/start/new-jobs.ts";
import { submitJob } from "../drive/start/submit-job.ts";
import { jobSeals } from "../drive/store/seals.ts";
import { openReadable } from "../drive/store/stored-program.ts";
import { jobFaults } from "../errors.ts";
import { checkForProject } from "./check.ts";
import { checkApproval, confirmerOf } from "./confirmer.ts";
import type { JobsContext } from "./context.ts";
import { type Drift, driftOf } from "./drift.ts";
import { faultOfParams } from "./read.ts";
import { skillPrograms } from "./submit.ts";
import { faultOfMixed, isSandboxJob, sidesOfProgram, sidesOfStored } from "./toolkit-sides.ts";

/** A request to run the program of a job again as a new job: the old job, the changes, and the caller. */
export type Rerun = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly role: Role;
  /** Rules that say which calls of the calling key a person must confirm. */
  readonly confirm?: readonly ConfirmRule[] | undefined;
  /** The new input as JSON text. Empty to use the job's own input. */
  readonly inputJson: string;
  readonly params: JsonObject;
  /** True if the new job uses today's definitions of tools instead of the pinned definitions of the old job. */
  readonly repins: boolean;
  readonly idempotencyKey: string | undefined;
};

/** Result of running a job again: the new job, and how today's tools differ from the tools that the old job was pinned to. */
export type RerunResult = { readonly id: Id<"job">; readonly drift: readonly Drift[] };

const isRehearsal = "is a rehearsal: it only asked people about a standing program, and no call was made";

/**
 * Codes of the faults that prevent a rerun of a job with the tool definitions that were stored with the job. They mean that something
 * outside the program is missing now, for example an account. Other faults are ignored, because the program was accepted with these
 * definitions before.
 */
const heldCodes: ReadonlySet<string> = new Set([
  "PROGRAM_ACCOUNT_MISSING",
  "PROGRAM_CONTACT_UNKNOWN",
  "PROGRAM_SECRET_UNKNOWN",
  "PROGRAM_HOST_NOT_ALLOWED",
  "PROGRAM_ENTITY_BOUND",
  "PROGRAM_TOOL_NOT_GRANTED",
]);

/**
 * Submits the program of a job again, under the rules of SubmitJob. Returns the new job's id, and the changes of the program's tools since
 * the old job was submitted. Throws the errors of SubmitJob.
 */
export async function rerunJob(context: JobsContext, rerun: Rerun): Promise<RerunResult> {
  const { db, views } = context;
  const { jobId, projectId, idempotencyKey } = rerun;
  const job = await jobsForProject(db, projectId).find(jobId);
  if (job === undefined) throw askFaults.JOB_NOT_FOUND("id", jobId);
  const { mode } = job;
  if (mode === "rehearse") throw jobFaults.JOB_NOT_RETRYABLE(jobId, isRehearsal);
  const { tools } = await context.programs.get(db, projectId, job.programDigest);
  const drift = driftOf(tools, await views.forProject(projectId));
  const contentDigest = digestOf(rerun);
  const earlier = idempotencyKey === undefined ? undefined : await findKeyedJob(db, projectId, idempotencyKey);
  // An existing job with the same idempotency key is returned before anything is checked. SubmitJob works in the same way.
  if (earlier !== undefined) return { id: repeated(earlier, contentDigest, rerun), drift };
  const submitted = await submitJob(
    context,
    await submissionOf(context, { ...job, mode }, { ...rerun, contentDigest }),
  );
  if ("quotaReached" in submitted) throw quotaFaults.jobs(submitted.quotaReached);
  return { id: "earlier" in submitted ? repeated(submitted.earlier, contentDigest, rerun) : submitted.job.id, drift };
}

function repeated(
  { id, contentDigest: held }: { readonly id: Id<"job">; readonly contentDigest: Buffer },
  contentDigest: Buffer,
  { idempotencyKey = "" }: Rerun,
): Id<"job"> {
  if (!held.equals(contentDigest)) throw jobFaults.IDEMPOTENCY_KEY_REUSED(idempotencyKey);
  return id;
}

/** Returns a digest of the request. A repeated request with the same idempotency key must have the same digest. */
function digestOf({ jobId, inputJson, params, repins }: Rerun): Buffer {
  const input = inputJson === "" ? null : readInput(inputJson);
  return createHash("sha256")
    .update(canonicalJson(["rerun", jobId, input, params, repins]))
    .digest();
}

async function submissionOf(
  context: JobsContext,
  job: ListedJob & Pick<JobSubmission, "mode">,
  rerun: Rerun & { readonly contentDigest: Buffer },
): Promise<JobSubmission> {
  const { projectId, keyId, params, idempotencyKey, contentDigest } = rerun;
  const programJson = openReadable(context.sealer, job, job);
  const program = parseCheckedProgram(programJson);
  const invalid = faultOfParams(program, params);
  if (invalid !== undefined) throw jobFaults.OVERRIDES_INVALID(invalid);
  const input = inputOf(context, job, { program, rerun });
  const pinned = await pinnedFor(context, job, { programJson, repins: rerun.repins });
  const { estimate, demandsApproval, sides } = pinned;
  const mixed = job.mode === "live" ? faultOfMixed(sides) : undefined;
  if (mixed !== undefined) throw mixed;
  const plan = { program, estimate, demandsApproval };
  const needed = job.mode === "live" && (await checkApproval(context.db, rerun, plan));
  if (needed instanceof Fault) throw needed;
  const confirmBy =
    job.mode === "live" ? await confirmerOf(context.db, { ...rerun, keyIds: [keyId] }, estimate) : undefined;
  return {
    projectId,
    keyId,
    // The new job has the access scope of the old job, whichever caller runs it again.
    binding: job.binding,
    principalChain: [`key:${keyId}`],
    programJson,
    programHash: job.programHash,
    program,
    pins: pinned.pins,
    skills: pinned.skills,
    mode: job.mode,
    simulateFirst: false,
    needsApproval: needed,
    confirmBy,
    estimate,
    input,
    params,
    skillSlug: "",
    idempotencyKey,
    contentDigest,
    isSandbox: isSandboxJob(sides, context.sandboxMode),
  };
}

type Pinned = Pick<JobSubmission, "estimate" | "pins" | "skills"> & {
  readonly demandsApproval: boolean;
  /** Toolkits (apps) that the program and its skills call, by the side that answers their calls. */
  readonly sides: ToolkitSides;
};

/**
 * Returns the pinned tool definitions for the new job, and the estimate (maximum use) computed from them. Throws PROGRAM_FAULTY if
 * something that the program needs, for example an account, is missing in the project.
 */
async function pinnedFor(
  context: JobsContext,
  job: ListedJob,
  { programJson, repins }: { readonly programJson: string; readonly repins: boolean },
): Promise<Pinned> {
  const { projectId, programDigest, estimate, binding } = job;
  const checked = await checkForProject(context, { projectId, programJson, binding, isStored: true, within: [] });
  if ("faults" in checked) {
    const faults = repins ? checked.faults : checked.faults.filter(({ code }) => heldCodes.has(code));
    if (faults.length > 0) throw jobFaults.PROGRAM_FAULTY(faults, repins ? checked.omitted : 0, programJson.length);
  }
  const demandsApproval = job.planApprovalId !== "" || (!("faults" in checked) && checked.demandsApproval);
  if (repins && !("faults" in checked)) {
    const pins = pinsText(checked);
    const sides = sidesOfProgram(checked, context.sandboxMode);
    return { estimate: checked.estimate, pins, skills: skillPrograms(checked), demandsApproval, sides };
  }
  const record = await loadJobProgram(context.db, projectId, programDigest);
  if (record === undefined) throw new Error(`the program of ${job.id} is missing in the database`);
  const { pins } = record;
  const sides = await sidesOfStored(context.db, { projectId, pins }, context.sandboxMode);
  // The programs of the skills need not be stored, because they were stored with the old job.
  return { estimate, pins, skills: [], demandsApproval, sides };
}

/** Returns the input of the new job, or undefined to use the program's own input. */
function inputOf(
  { sealer }: JobsContext,
  { id, projectId, input: held }: ListedJob,
  { program, rerun }: { readonly program: Program; readonly rerun: Rerun },
): JsonObject | undefined {
  const { inputSchema } = program;
  if (rerun.inputJson === "")
    return held === null ? undefined : jobSeals(sealer, projectId, id).openObject("input", held);
  const given = readInput(rerun.inputJson);
  if (inputSchema === undefined)
    throw jobFaults.PROGRAM_ARGUMENT_INVALID("is given, but the program declares no inputSchema");
  const { value, faults } = fitInput(inputSchema, createTenantValidators()(inputSchema), given);
  const [fault] = faults;
  if (fault !== undefined)
    throw jobFaults.PROGRAM_ARGUMENT_INVALID(`${fault.pointer === "" ? "" : `at ${fault.pointer} `}${fault.message}`);
  return value as JsonObject;
}

const inputBytesMax = 262_144;

function readInput(text: string): JsonObject {
  if (Buffer.byteLength(text) > inputBytesMax)
    throw jobFaults.PROGRAM_ARGUMENT_INVALID(`exceeds ${inputBytesMax} bytes`);
  let value: unknown;
  try {
    value = parseExactJson(text, { hasUniqueNames: true });
  } catch (error) {
    if (error instanceof RepeatedNameError) throw jobFaults.PROGRAM_ARGUMENT_INVALID("repeats a name in an object");
    value = undefined;
  }
  if (!isObject(value))
    throw jobFaults.PROGRAM_ARGUMENT_INVALID('is not a JSON object, such as {"calendar": "primary"}');
  return value as JsonObject;
}
