import { type ConfirmRule, confirmingRule, type Fault, type KeyId, type ProjectId, type Role } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { contactsForProject } from "@svc/db/contacts/repo";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { type PlanRules, readConfirmRules, readPlanApproval } from "@svc/db/projects/plan-policy";
import { gateOf, needsPlanApproval, type Program, type ProgramEstimate } from "@svc/program";
import { jobFaults } from "../errors.ts";

/** Who runs a program: the project and its keys. `confirm`: further rules that say which calls a person must confirm. */
type Planner = {
  readonly projectId: ProjectId;
  readonly keyIds: readonly KeyId[];
  readonly confirm?: readonly ConfirmRule[] | undefined;
  /** The confirmation rules for `keyIds`, if they were already read. If undefined, they are read from the database. */
  readonly known?: PlanRules | undefined;
};

/**
 * Returns the contact who must confirm a program before it runs, by the rules of the project or of one of the keys. Returns undefined if
 * none of the rules applies to the program's calls. The rules are checked a second time before the job makes a call (`ConfirmGate`).
 */
export async function confirmerOf(
  db: Executor,
  { projectId, keyIds, confirm = [], known }: Planner,
  { accessClasses }: Pick<EstimateDocument, "accessClasses">,
): Promise<string | undefined> {
  const worst = accessClasses.at(-1) ?? "read";
  if (worst === "read") return undefined;
  const rules = known?.rules ?? (await readConfirmRules(db, projectId, keyIds));
  return confirmingRule([...confirm, ...rules], worst)?.contact;
}

type Plan = {
  readonly program: Program;
  readonly estimate: ProgramEstimate;
  /**
   * True if the program runs a skill (a program used as a tool) whose own `approval` rule demands that a person approves the program first.
   */
  readonly demandsApproval: boolean;
  /** The first skill of the program that can ask for an approval while it runs, for example `skills/tidy`. Undefined if there is none. */
  readonly skillGate?: string | undefined;
};

/**
 * Returns true if a person must approve a program before it runs for real (not as a simulation). The program's own rule or the project's
 * policy can require this. Returns false if no approval is needed. Returns APPROVER_ROLE_REQUIRED, GATE_FOR_APPROVERS or APPROVER_MISSING
 * if the program needs an approval that it can never get.
 */
export async function checkApproval(
  db: Executor,
  { projectId, role, known }: { projectId: ProjectId; role: Role } & Pick<Planner, "known">,
  { program, estimate, demandsApproval, skillGate }: Plan,
): Promise<boolean | Fault> {
  const minimum = known?.planApproval ?? (await readPlanApproval(db, projectId));
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
