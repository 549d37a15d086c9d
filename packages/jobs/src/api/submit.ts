import { createHash } from "node:crypto";
import { classToConfirm } from "@svc/catalog";
import type { SeenAccounts } from "@svc/connections";
import {
  type ConfirmRule,
  Fault,
  type Id,
  type JobBinding,
  type KeyId,
  type ProjectId,
  quotaFaults,
  type Role,
} from "@svc/core";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { findKeyedJob } from "@svc/db/jobs/insert";
import type { KeyedJob } from "@svc/db/jobs/new-job";
import { type PlanRules, readPlanRules } from "@svc/db/projects/plan-policy";
import {
  type AcceptedProgram,
  canonicalHash,
  canonicalJson,
  type JsonObject,
  type Pins,
  type ProgramNote,
  pinsText,
  readProgram,
} from "@svc/program";
import type { SkillProgram } from "../drive/start/new-jobs.ts";
import { type SubmittedJob, submitJob } from "../drive/start/submit-job.ts";
import { jobFaults } from "../errors.ts";
import { checkForProject } from "./check.ts";
import { checkApproval, confirmerOf } from "./confirmer.ts";
import type { JobsContext } from "./context.ts";
import { faultOfMixed, isSandboxJob, sidesOfProgram } from "./toolkit-sides.ts";

/** A submitted program and its caller. */
export type Submission = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly role: Role;
  /** The access scope of the caller. The job gets the same scope. Null if the caller's access is not limited. */
  readonly binding: JobBinding | null;
  readonly programJson: string;
  readonly mode: "live" | "simulate";
  readonly simulateFirst: boolean;
  readonly idempotencyKey: string | undefined;
  /**
   * Present if the job is a call of a skill (a program that the project uses as a tool). Contains the skill's slug (`skills.` and a name),
   * the slug that the caller sent, and the input.
   */
  readonly skill?: SubmittedSkill | undefined;
  /** Rules that say which calls of the key a person must confirm, in addition to the rules of the project. */
  readonly confirm?: readonly ConfirmRule[] | undefined;
  /**
   * For a job that makes one call that a person must confirm: the text of the question. If the job also needs an approval, the person's
   * answer counts as that approval.
   */
  readonly confirmText?: string | undefined;
};

/** A skill (a program used as a tool) that a caller runs as a job. `within`: the skill's slug and version, as `slug@version`. */
export type SubmittedSkill = {
  readonly slug: string;
  readonly calledAs: string;
  readonly within: string;
  readonly input: JsonObject;
};

/** The functions and settings that `submit` needs. It checks a program and stores it as a job. */
export type SubmitContext = Pick<
  JobsContext,
  "db" | "clock" | "sealer" | "views" | "meter" | "accounts" | "asks" | "engine" | "programs" | "sandboxMode"
>;

/**
 * Result of a submission: the job with the notes on its program, or the error with which SubmitJob refuses it. `stored`: present if the job
 * is new. `isSandbox`: true if the sandbox answers the job's calls; false for a job that existed before.
 */
export type SubmitResult =
  | {
      readonly id: Id<"job">;
      readonly stored?: SubmittedJob;
      readonly notes: readonly ProgramNote[];
      readonly isSandbox: boolean;
    }
  | { readonly refusal: Fault };

/**
 * Checks a whole program and stores it as a job. If a job with the same idempotency key exists, returns that job instead. If the program is
 * refused, returns the fault.
 */
export async function submit(context: SubmitContext, submission: Submission): Promise<SubmitResult> {
  const { projectId, programJson, idempotencyKey, keyId, binding, skill } = submission;
  const earlier = idempotencyKey === undefined ? undefined : await findKeyedJob(context.db, projectId, idempotencyKey);
  // An existing job with the same idempotency key is returned before any check, because tools, accounts or contacts may have changed since.
  if (earlier !== undefined) return repeated(earlier, submission);
  const within = skill === undefined ? [] : [skill.within];
  const isLive = submission.mode === "live";
  const seen: SeenAccounts = new Map();
  // The check of the program and the read of the plan rules run at the same time. The check stores the accounts that it looked up in
  // `seen`. The plan of the job's first call uses them again.
  const [checked, known] = await Promise.all([
    checkForProject(context, { projectId, programJson, binding, within, isStored: skill !== undefined, seen }),
    isLive ? readPlanRules(context.db, projectId, [keyId]) : undefined,
  ]);
  if ("faults" in checked)
    return { refusal: jobFaults.PROGRAM_FAULTY(checked.faults, checked.omitted, programJson.length) };
  const { program, programHash, estimate, notes } = checked;
  const sides = sidesOfProgram(checked, context.sandboxMode);
  const mixed = isLive ? faultOfMixed(sides) : undefined;
  if (mixed !== undefined) return { refusal: mixed };
  const isSandbox = isSandboxJob(sides, context.sandboxMode);
  // A simulation sends no write, so it needs neither approval nor confirmation.
  const pins = pinsText(checked);
  const asked = { ...submission, keyIds: [keyId], known };
  const needsApproval = await approvalOf(context, asked, checked);
  const confirmBy = isLive ? await confirmerOf(context.db, asked, classesToConfirm(estimate, checked.pins)) : undefined;
  if (needsApproval instanceof Fault) return { refusal: needsApproval };
  const submitted = await submitJob(context, {
    ...submission,
    program,
    programHash,
    estimate,
    needsApproval,
    confirmBy,
    pins,
    skills: skillPrograms(checked),
    input: skill?.input,
    skillSlug: skill?.slug ?? "",
    seen,
    isSandbox,
    principalChain: [`key:${keyId}`, ...(skill === undefined ? [] : [`skill:${skill.calledAs}`])],
    contentDigest: idempotencyKey === undefined ? noDigest : contentDigest(submission, programHash),
  });
  if ("quotaReached" in submitted) return { refusal: quotaFaults.jobs(submitted.quotaReached) };
  if ("earlier" in submitted) return repeated(submitted.earlier, submission);
  return { id: submitted.job.id, stored: submitted, notes, isSandbox };
}

async function approvalOf(
  { db }: SubmitContext,
  submission: Submission & { readonly known: PlanRules | undefined },
  plan: Parameters<typeof checkApproval>[2],
): Promise<boolean | Fault> {
  const isAskedOtherwise = submission.mode !== "live" || submission.confirmText !== undefined;
  return isAskedOtherwise ? false : checkApproval(db, submission, plan);
}

/** Returns the programs of all skills that a program runs, at any depth. They are stored with its job. */
export function skillPrograms({ skills }: AcceptedProgram): readonly SkillProgram[] {
  return [...skills.values()].flatMap(({ programJson, accepted }) => {
    const { programHash } = accepted;
    return [{ programJson, programHash, pins: pinsText(accepted) }, ...skillPrograms(accepted)];
  });
}

function repeated({ id, contentDigest: held }: KeyedJob, submission: Submission): SubmitResult {
  const hash = hashOf(submission.programJson);
  if (hash !== undefined && held.equals(contentDigest(submission, hash))) return { id, notes: [], isSandbox: false };
  return { refusal: jobFaults.IDEMPOTENCY_KEY_REUSED(submission.idempotencyKey ?? "") };
}

/** Returns the hash of a program text, or undefined if the text is not a program. */
export function hashOf(programJson: string): string | undefined {
  const read = readProgram(programJson);
  return "document" in read ? canonicalHash(read.document) : undefined;
}

/**
 * Stored as the digest of a submission without an idempotency key. Digests are compared only for submissions with the same key, so this one
 * is never compared.
 */
const noDigest = Buffer.alloc(0);

/** Returns the digest of a submission's content. A repeated submission with the same idempotency key must have the same digest. */
function contentDigest({ mode, simulateFirst, skill, binding }: Submission, programHash: string): Buffer {
  const called = skill === undefined ? null : [skill.calledAs, skill.input];
  return createHash("sha256")
    .update(
      canonicalJson([programHash, mode, simulateFirst, called, ...(binding === null ? [] : [bindingDigest(binding)])]),
    )
    .digest();
}

/**
 * Returns the caller's access scope as JSON. This JSON is one part of the request digest, which is compared when an idempotency key is used
 * again. So a caller with another scope does not get this job with the same key.
 */
function bindingDigest({ entityId, accessClasses, toolkitSlugs, accountId }: JobBinding): JsonObject {
  const account = accountId === undefined ? {} : { accountId };
  return { entityId, accessClasses: [...accessClasses], toolkitSlugs: [...toolkitSlugs], ...account };
}

/**
 * Returns the access classes that decide if a person must confirm a program before it runs. These are the classes of the program's calls.
 * `destructive` is added if a tool's definition demands a confirmation as for a destructive tool, although its own class is lower.
 */
function classesToConfirm(
  { accessClasses }: Pick<EstimateDocument, "accessClasses">,
  pins: Pins,
): Pick<EstimateDocument, "accessClasses"> {
  const actions = Object.values(pins).flatMap(({ definition }) => definition.actions);
  const isRaised = actions.some((action) => action.class !== classToConfirm(action));
  return { accessClasses: isRaised ? [...accessClasses, "destructive"] : accessClasses };
}
