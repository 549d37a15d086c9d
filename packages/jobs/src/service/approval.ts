import type { ProjectId, Role } from "@svc/core";
import { contactsForProject, type Executor, findProject } from "@svc/db";
import { approverMissing, approverRoleRequired } from "../errors.ts";
import { needsPlanApproval, type ProgramEstimate } from "../program/estimate.ts";
import type { PlanApproval, Program } from "../program/program.ts";

type Plan = { readonly program: Program; readonly estimate: ProgramEstimate };

/**
 * Whether a live run of a plan needs approval, by the program's own rule and the project's policy. Throws APPROVER_ROLE_REQUIRED and
 * APPROVER_MISSING when it does and could never get it.
 */
export async function checkApproval(
  db: Executor,
  { projectId, role }: { projectId: ProjectId; role: Role },
  { program, estimate }: Plan,
): Promise<boolean> {
  const minimum = (await findProject(db, projectId))?.planApproval ?? "never";
  if (!needsPlanApproval(program, estimate, minimum as PlanApproval)) return false;
  if (role !== "approver") throw approverRoleRequired();
  const { escalation } = program.approval;
  const contacts = contactsForProject(db, projectId);
  const asked = escalation.length === 0 ? await contacts.listApprovers() : await contacts.findMany(escalation);
  if (!asked.some(({ isApprover }) => isApprover)) throw approverMissing();
  return true;
}
