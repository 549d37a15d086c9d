import { benchAdminToken, callServer } from "./server.ts";
import type { System } from "./system.ts";

/**
 * Raises quotas of the only project, by their names in its policy, because a benchmark exceeds the default quotas. Version 0.1 has no
 * quotas.
 */
export async function raiseQuotas({ port }: System, quotas: Readonly<Record<string, number>>): Promise<void> {
  const listed = await callServer(port, "AdminService/ListProjects", {}, benchAdminToken);
  const [project] = (listed as { projects: { id: string }[] }).projects;
  const policy = { projectId: project?.id, quotas };
  await callServer(port, "AdminService/SetProjectPolicy", policy, benchAdminToken).catch((error: unknown) => {
    if (!String(error).includes('field \\"quotas\\" is unknown')) throw error;
  });
}
