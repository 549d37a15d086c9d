import type { Fault, ProjectId, Role } from "@svc/core";
import { contactsForProject, type Executor, readPlanApproval } from "@svc/db";
import type { Program } from "@svc/program";
import { needsPlanApproval, type ProgramEstimate } from "@svc/program";
import { approverMissing, approverRoleRequired } from "../errors.ts";

type Plan = {
  readonly program: Program;
  readonly estimate: ProgramEstimate;
  /** Whether a skill in it would need one by its own rule. */
  readonly demandsApproval: boolean;
};

/**
 * Whether a live run of a plan needs approval, by the program's own rule and the project's policy. A fault, APPROVER_ROLE_REQUIRED or
 * APPROVER_MISSING, when it does and could never get it.
 */
export async function checkApproval(
  db: Executor,
  { projectId, role }: { projectId: ProjectId; role: Role },
  { program, estimate, demandsApproval }: Plan,
): Promise<boolean | Fault> {
  const minimum = await readPlanApproval(db, projectId);
  if (!demandsApproval && !needsPlanApproval(program, estimate, minimum)) return false;
  if (role !== "approver") return approverRoleRequired();
  const { escalation } = program.approval;
  const contacts = contactsForProject(db, projectId);
  const asked = escalation.length === 0 ? await contacts.listApprovers() : await contacts.findMany(escalation);
  return asked.some(({ isApprover }) => isApprover) || approverMissing();
}
