import type { ProjectPrincipal } from "@svc/core";
import type { EnterDeed } from "@svc/node";
import { type AuditLog, outcomeOf } from "./log.ts";

/** Makes what enters the deeds of a caller who is no call of the API, as `enterCalls` does those that are. */
export function enterDeeds(log: AuditLog, actor: ProjectPrincipal): EnterDeed {
  return async ({ action, subject, entityId = "" }, act) => {
    const id = await log.enter({ actor, action, projectId: actor.projectId, subject, entityId });
    try {
      const result = await act();
      await log.end(id, { outcome: "ok" });
      return result;
    } catch (error) {
      await log.end(id, { outcome: outcomeOf(error) });
      throw error;
    }
  };
}
