import { adminToken, call } from "@svc/testing/server-process";

/** Creates a project as the administrator, and returns a key of it. */
export async function createProjectKey(server: { url: string }, name: string): Promise<string> {
  type Project = { project: { id: string } };
  const { project } = await call<Project>(server, "AdminService/CreateProject", { name }, adminToken);
  const made = { projectId: project.id, name, role: "ROLE_APPROVER" };
  const { key } = await call<{ key: string }>(server, "AdminService/CreateApiKey", made, adminToken);
  return key;
}
