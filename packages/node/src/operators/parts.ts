import type { ProjectPrincipal } from "@svc/core";
import { listProjects } from "@svc/db/projects/repo";
import type { Quarantine, TriggersContext } from "@svc/triggers";

/** What tools of operators' agents work with. */
export type OperatorContext = TriggersContext & { readonly quarantine: Quarantine };

/**
 * Whether a project is the only one of its deployment. Posts that are held back belong to none, and what a post has within may be another
 * project's: with others beside it, they are the administrator's alone.
 */
export async function isOnlyProject({ db }: OperatorContext, { projectId }: ProjectPrincipal): Promise<boolean> {
  const projects = await listProjects(db, { after: undefined, limit: 2 });
  return projects.length === 1 && projects[0]?.id === projectId;
}
