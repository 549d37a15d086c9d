import type { ProjectPrincipal } from "@svc/core";
import type { EnterDeed } from "@svc/node";
import { asDeed } from "./as-deed.ts";
import type { AuditLog } from "./log.ts";

/** Makes what enters the deeds of a caller who is no call of the API, as `enterCalls` does those that are. */
export function enterDeeds(log: AuditLog, actor: ProjectPrincipal): EnterDeed {
  return ({ action, subject, entityId = "" }, act) =>
    asDeed(log, { actor, action, projectId: actor.projectId, subject, entityId }, act);
}
