import type { ProjectPrincipal } from "@svc/core";
import { listProjects } from "@svc/db/projects/repo";
import type { Quarantine, TriggersContext } from "@svc/triggers";

/** Dependencies of the MCP tools for operators' agents. */
export type OperatorContext = TriggersContext & { readonly quarantine: Quarantine };

/**
 * True if the project is the only project of the deployment; its approvers may then see quarantined webhook posts (which svc could not turn
 * into events). False if there are others: a post may contain data of any project, so only the administrator may see it.
 */
export async function isOnlyProject({ db }: OperatorContext, { projectId }: ProjectPrincipal): Promise<boolean> {
  const projects = await listProjects(db, { after: undefined, limit: 2 });
  return projects.length === 1 && projects[0]?.id === projectId;
}
