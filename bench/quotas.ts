import { benchAdminToken, callServer } from "./server.ts";
import type { System } from "./system.ts";

/** Raises quotas of the one project, by their names in its policy: what is measured is not what a project may have by default. Version 0.1 has none. */
export async function raiseQuotas({ port }: System, quotas: Readonly<Record<string, number>>): Promise<void> {
  const listed = await callServer(port, "AdminService/ListProjects", {}, benchAdminToken);
  const [project] = (listed as { projects: { id: string }[] }).projects;
  const policy = { projectId: project?.id, quotas };
  await callServer(port, "AdminService/SetProjectPolicy", policy, benchAdminToken).catch((error: unknown) => {
    if (!String(error).includes('field \\"quotas\\" is unknown')) throw error;
  });
}
