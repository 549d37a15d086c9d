import { Fault, type ProjectPrincipal } from "@svc/core";
import type { EnterAction } from "@svc/node";
import type { AuditedAction, AuditLog } from "./log.ts";

/** How the audit log calls the end of what rejected: the code of its fault, or `internal`. */
export function outcomeOf(error: unknown): string {
  return error instanceof Fault ? error.code : "internal";
}

/**
 * Does what a person does on a page of the service, with no call of the contract, entered in the audit log as a call is: before it is done,
 * with its outcome after it. `outcome` tells of what was done and came to nothing all the same; by default it is `ok`.
 */
export async function auditAction<Result>(
  audit: AuditLog,
  deed: AuditedAction,
  work: () => Promise<Result>,
  outcome: (result: Result) => string = () => "ok",
): Promise<Result> {
  const id = await audit.enter(deed);
  try {
    const result = await work();
    await audit.end(id, { outcome: outcome(result) });
    return result;
  } catch (error) {
    await audit.end(id, { outcome: outcomeOf(error) });
    throw error;
  }
}

/** Makes what enters the deeds of a caller who is no call of the API, as `enterCalls` does those that are. */
export function actionAuditor(log: AuditLog, actor: ProjectPrincipal): EnterAction {
  return ({ action, subject, entityId = "" }, act) =>
    auditAction(log, { actor, action, projectId: actor.projectId, subject, entityId }, act);
}
