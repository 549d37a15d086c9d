import { ConnectError } from "@connectrpc/connect";
import { applyDefaults } from "@svc/catalog";
import { skillsForProject } from "@svc/db";
import { ErrorDetailSchema } from "@svc/gen/errors";
import type { CodeAnswer, CodeCall, CodeCaller } from "@svc/tools";
import { askPort } from "../asks/port.ts";
import type { JsonObject } from "../program/program.ts";
import { parseCheckedProgram } from "../program/read-program.ts";
import type { JobsContext } from "../service/context.ts";
import { submit } from "../service/submit.ts";
import { skillNameOf } from "./toolkit.ts";

/** What calling skills works with. */
export type SkillContext = Pick<JobsContext, "db" | "clock" | "sealer" | "views" | "accounts" | "engine">;

/**
 * Makes the caller of skills: a call submits a job of the skill's program, with the arguments as its input and on the definitions
 * of today, and answers the job's id. A plan that cannot be submitted now is not callable, and its faults are told.
 */
export function createSkillCaller(context: SkillContext): CodeCaller {
  return async (call) => {
    try {
      return await callSkill(context, call);
    } catch (error) {
      return refused(call, error);
    }
  };
}

async function callSkill(context: SkillContext, { caller, tool, args }: CodeCall): Promise<CodeAnswer> {
  const { projectId, keyId, role = "member" } = caller;
  const skill = await skillsForProject(context.db, projectId).find(skillNameOf(tool.slug) ?? "");
  if (skill === undefined || keyId === undefined) {
    return { outcome: "not_callable", message: `${tool.slug} is a skill that this caller cannot begin` };
  }
  const { inputSchema } = parseCheckedProgram(skill.program);
  const input = (inputSchema === undefined ? args : applyDefaults(inputSchema, args)) as JsonObject;
  const jobId = await submit(
    { ...context, asks: askPort },
    {
      projectId,
      keyId,
      role,
      programJson: skill.program,
      mode: "live",
      simulateFirst: false,
      idempotencyKey: undefined,
      skill: { slug: tool.slug, input },
    },
  );
  return { outcome: "ok", value: { job_id: jobId } };
}

/** What SubmitJob would refuse is an outcome of the call: nothing was begun. Anything else is a fault of the service. */
function refused({ tool }: CodeCall, error: unknown): CodeAnswer {
  if (!(error instanceof ConnectError)) throw error;
  const reasons = error.findDetails(ErrorDetailSchema).map(({ reason }) => reason);
  if (reasons.length === 0) throw error;
  const outcome = reasons.every((reason) => reason === "PROGRAM_ACCOUNT_MISSING") ? "no_account" : "not_callable";
  return { outcome, message: `${tool.slug} cannot be begun now: ${error.rawMessage}` };
}
