import type { ProjectPrincipal } from "@svc/core";
import { listProjects } from "@svc/db/projects/repo";
import type { ListedTool } from "@svc/tools";
import type { Quarantine, TriggersContext } from "@svc/triggers";

/** What tools of operators' agents work with. */
export type OperatorContext = TriggersContext & { readonly quarantine: Quarantine };

/** Annotations of a tool that reads. */
export const reads: ListedTool["annotations"] = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
/** Annotations of a tool that sends again. */
export const sends: ListedTool["annotations"] = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };

/** The schema of a tool that takes texts. */
export function textsSchema(properties: Readonly<Record<string, string>>, required: readonly string[]) {
  const described = Object.entries(properties).map(([name, description]) => [name, { type: "string", description }]);
  return {
    type: "object",
    additionalProperties: false,
    required: [...required],
    properties: Object.fromEntries(described),
  } as const;
}

/**
 * Whether a project is the only one of its deployment. Posts that are held back belong to none, and what a post has within may be another
 * project's: with others beside it, they are the administrator's alone.
 */
export async function isOnlyProject({ db }: OperatorContext, { projectId }: ProjectPrincipal): Promise<boolean> {
  const projects = await listProjects(db, { after: undefined, limit: 2 });
  return projects.length === 1 && projects[0]?.id === projectId;
}
