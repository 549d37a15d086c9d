import { benchAdminToken, callServer } from "./server.ts";
import type { System } from "./system.ts";

/** Raises quotas of the one project, by their names in its policy: what is measured is not what a project may have by default. */
export async function raiseQuotas({ port }: System, quotas: Readonly<Record<string, number>>): Promise<void> {
  const listed = await callServer(port, "AdminService/ListProjects", {}, benchAdminToken);
  const [project] = (listed as { projects: { id: string }[] }).projects;
  await callServer(port, "AdminService/SetProjectPolicy", { projectId: project?.id, quotas }, benchAdminToken);
}
