import type { Fault, ProjectId, Role } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { contactsForProject } from "@svc/db/contacts/repo";
import { readPlanApproval } from "@svc/db/projects/plan-policy";
import type { Program } from "@svc/program";
import { gateOf, needsPlanApproval, type ProgramEstimate } from "@svc/program";
import { jobFaults } from "../errors.ts";

type Plan = {
  readonly program: Program;
  readonly estimate: ProgramEstimate;
  /** Whether a skill in it would need one by its own rule. */
  readonly demandsApproval: boolean;
  /** Where a skill in it asks for an approval in mid-run, such as `skills/tidy`. */
  readonly skillGate?: string | undefined;
};

/**
 * Whether a live run of a plan needs approval, by the program's own rule and the project's policy. A fault, APPROVER_ROLE_REQUIRED or
 * APPROVER_MISSING, when it does and could never get it, and where one of its points is an approval that it could never get.
 */
export async function checkApproval(
  db: Executor,
  { projectId, role }: { projectId: ProjectId; role: Role },
  { program, estimate, demandsApproval, skillGate }: Plan,
): Promise<boolean | Fault> {
  const minimum = await readPlanApproval(db, projectId);
  const needed = demandsApproval || needsPlanApproval(program, estimate, minimum);
  if (role !== "approver") {
    const gate = gateOf(program) ?? skillGate;
    if (!needed) return gate === undefined ? false : jobFaults.GATE_FOR_APPROVERS(gate);
    const isOwnRule = needsPlanApproval(program, estimate, "never");
    return jobFaults.APPROVER_ROLE_REQUIRED(isOwnRule ? "program" : demandsApproval ? "skill" : "policy");
  }
  if (!needed) return false;
  const { escalation } = program.approval;
  const contacts = contactsForProject(db, projectId);
  const asked = escalation.length === 0 ? await contacts.listApprovers() : await contacts.findMany(escalation);
  return asked.some(({ isApprover }) => isApprover) || jobFaults.APPROVER_MISSING();
}
