import { askPort } from "@svc/asks";
import { fillInput } from "@svc/catalog";
import type { Fault } from "@svc/core";
import { skillsForProject } from "@svc/db/skills/repo";
import type { JsonObject } from "@svc/program";
import { parseCheckedProgram, readSkillName } from "@svc/program";
import type { CodeAnswer, CodeCall, CodeCaller } from "@svc/tools";
import type { JobsContext } from "../api/context.ts";
import { submit } from "../api/submit.ts";
import { openReadable } from "../drive/stored-program.ts";
import { skillToolSlug } from "./toolkit.ts";

/** What calling skills works with. */
export type SkillContext = Pick<JobsContext, "db" | "clock" | "sealer" | "views" | "accounts" | "engine" | "programs">;

/**
 * Makes the caller of skills: a call submits a job of the skill's program, with the arguments as its input and on the definitions
 * of today, and answers the job's id. A plan that cannot be submitted now is not callable, and its faults are told.
 */
export function createSkillCaller(context: SkillContext): CodeCaller {
  return (call) => callSkill(context, call);
}

async function callSkill(context: SkillContext, call: CodeCall): Promise<CodeAnswer> {
  const { caller, tool, args } = call;
  const { projectId, keyId, role = "member", binding = null, confirm } = caller;
  const named = readSkillName(tool.slug);
  const skill = named && (await skillsForProject(context.db, projectId).find(named));
  if (skill === undefined || keyId === undefined) {
    return { outcome: "not_callable", message: `${tool.slug} is a skill that this caller cannot begin` };
  }
  const programJson = openReadable(context.sealer, { projectId, programDigest: skill.programDigest }, skill);
  const { inputSchema } = parseCheckedProgram(programJson);
  const input = (inputSchema === undefined ? args : fillInput(inputSchema, args)) as JsonObject;
  const submitted = await submit(
    { ...context, asks: askPort },
    {
      projectId,
      keyId,
      role,
      binding,
      confirm,
      programJson,
      mode: "live",
      simulateFirst: false,
      idempotencyKey: undefined,
      skill: { slug: skillToolSlug(skill.slug), calledAs: tool.slug, within: `${skill.slug}@${skill.version}`, input },
    },
  );
  if ("refusal" in submitted) return refused(call, submitted.refusal);
  return { outcome: "ok", value: { job_id: submitted.id } };
}

/** What SubmitJob would refuse is an outcome of the call: nothing was begun. */
function refused({ tool }: CodeCall, { details, message }: Fault): CodeAnswer {
  const lacksAccounts = details.every(({ reason }) => reason === "PROGRAM_ACCOUNT_MISSING");
  const outcome = lacksAccounts ? "no_account" : "not_callable";
  return { outcome, message: `${tool.slug} cannot be begun now: ${message}` };
}
