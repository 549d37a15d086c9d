import { Fault, type ProjectPrincipal } from "@svc/core";
import type { EnterAction } from "@svc/node";
import type { AuditedAction, AuditLog } from "./log.ts";

/**
 * Returns the outcome that the audit log shows for an action that failed with this error: the code of the error if it has one, or else
 * `internal`.
 */
export function outcomeOf(error: unknown): string {
  return error instanceof Fault ? error.code : "internal";
}

/**
 * Executes an action that a person takes on a page of the service, and returns the result. Such an action is not an API call, but it is
 * recorded like one: before it is executed, and with its outcome afterwards. `outcome`: returns the outcome that a result means. Without
 * it, the outcome is `ok`.
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

/**
 * Returns a function that runs an action of the person or program `actor` and records it in the audit log. It is for actions that are not
 * API calls; `enterCalls` does the same for API calls.
 */
export function actionAuditor(log: AuditLog, actor: ProjectPrincipal): EnterAction {
  return ({ action, subject, entityId = "" }, act) =>
    auditAction(log, { actor, action, projectId: actor.projectId, subject, entityId }, act);
}
