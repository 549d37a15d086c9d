import { adminToken, call } from "@svc/testing/server-process";

/** A project in addition to `default`, with a member's key. */
export type AttackProject = { readonly projectId: string; readonly key: string };

/** Creates a project with a key. `quotas`: the quotas to set. */
export async function createAttackProject(
  server: { url: string },
  name: string,
  quotas: Readonly<Record<string, number>> = {},
): Promise<AttackProject> {
  const admin = <Answer>(method: string, body: object) =>
    call<Answer>(server, `AdminService/${method}`, body, adminToken);
  const { project } = await admin<{ project: { id: string } }>("CreateProject", { name });
  const projectId = project.id;
  if (Object.keys(quotas).length > 0) await admin("SetProjectPolicy", { projectId, quotas });
  const { key } = await admin<{ key: string }>("CreateApiKey", { projectId, role: "ROLE_APPROVER", name });
  return { projectId, key };
}
