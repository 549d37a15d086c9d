import type { Project, SvcAdminClient } from "@svc/sdk";
import { collectPages } from "../../command/client.ts";
import { CommandError } from "../../command/error.ts";

/** The id of the project that a user names by id or by name. Rejects with CommandError when no project has that name. */
export async function findProjectId(client: SvcAdminClient, idOrName: string): Promise<string> {
  return idOrName.startsWith("prj_") ? idOrName : (await findProject(client, idOrName)).id;
}

/** The project that a user names by id or by name. Rejects with CommandError when there is none. */
export async function findProject(client: SvcAdminClient, idOrName: string): Promise<Project> {
  const found = await listProjects(client);
  const project = found.find(({ id, name }) => id === idOrName || name === idOrName);
  if (project !== undefined) return project;
  throw new CommandError(`there is no project "${idOrName}"; \`svc projects list\` shows those there are`);
}

/** Every project of the deployment, newest first. */
function listProjects({ admin }: SvcAdminClient): Promise<Project[]> {
  return collectPages(async (pageToken) => {
    const { projects, nextPageToken } = await admin.listProjects({ pageSize: 500, pageToken });
    return { items: projects, nextPageToken };
  });
}
