import { askMcp, letIn, registerAgent } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
/** Keys of the project: the member's that gives grants, another member's; and one of another project. */
const keys = { giver: "", other: "", foreign: "" };
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
  const { project } = (await svc.admin("CreateProject", { name: "other" })).json;
  const make = async (name: string, owner: string) =>
    (await svc.admin("CreateApiKey", { projectId: owner, role: "ROLE_MEMBER", name })).json.key;
  keys.giver = await make("giver", projectId);
  keys.other = await make("other", projectId);
  keys.foreign = await make("foreign", project.id);
});
afterAll(() => svc.stop());

const call = (method: string, body: object, bearer: string) =>
  svc.call(`svc.v1.GrantsService/${method}`, body, { bearer });

async function give(): Promise<{ id: string; accessToken: string }> {
  const agent = await registerAgent(svc.url);
  const answer = await letIn({ url: svc.url, key: keys.giver }, agent, { toolkit: ["calendar", "sales_crm"] });
  const { json } = await agent.change(answer.get("code") ?? "");
  const listed = await call("ListGrants", { pageSize: 1 }, keys.giver);
  return { id: listed.json.grants[0].id, accessToken: json.access_token };
}

test("a grant is listed as it was given, narrowed and never widened, and ended with its tokens", async () => {
  const { id, accessToken } = await give();
  const { grants } = (await call("ListGrants", {}, keys.other)).json;
  expect(grants[0]).toMatchObject({
    ...{ id, clientName: "Test agent", clientOrigin: "http://127.0.0.1:7777", entityId: "ada", active: true },
    ...{ accessClasses: ["read", "write"], toolkitSlugs: ["calendar", "sales_crm"] },
  });
  expect(JSON.stringify(grants)).not.toContain("svca");
  const narrowed = await call("UpdateGrant", { id, accessClasses: ["read"], toolkitSlugs: ["calendar"] }, keys.giver);
  expect(narrowed.json.grant).toMatchObject({ accessClasses: ["read"], toolkitSlugs: ["calendar"] });
  for (const wider of [{ accessClasses: ["write"] }, { toolkitSlugs: ["sales_crm"] }, { accessClasses: ["all"] }])
    expect(await call("UpdateGrant", { id, ...wider }, keys.giver)).toMatchObject({
      status: 400,
      reason: "GRANT_WIDENED",
    });
  const write = { slug: "calendar.create_event", arguments: {}, dry_run: true };
  const refused = await askMcp(svc.url, accessToken, "tools/call", { name: "call_tool", arguments: write });
  expect(refused.status).toBe(403);
  const ended = await call("RevokeGrant", { id }, svc.key);
  expect(ended.json.grant).toMatchObject({ active: false, endedAt: expect.any(String) });
  expect((await askMcp(svc.url, accessToken, "tools/list")).status).toBe(401);
  expect((await call("RevokeGrant", { id }, svc.key)).json.grant.endedAt).toBe(ended.json.grant.endedAt);
  expect(await call("UpdateGrant", { id, accessClasses: ["read"] }, svc.key)).toMatchObject({ reason: "GRANT_ENDED" });
});

test("a grant is its giver's and the approvers' to change; to another project it is none", async () => {
  const { id } = await give();
  for (const method of ["UpdateGrant", "RevokeGrant"]) {
    expect(await call(method, { id }, keys.other)).toMatchObject({ status: 403, reason: "GRANT_NOT_YOURS" });
    expect(await call(method, { id }, keys.foreign)).toMatchObject({ status: 404, reason: "GRANT_NOT_FOUND" });
  }
  expect((await call("ListGrants", {}, keys.foreign)).json.grants).toEqual([]);
  expect((await call("RevokeGrant", { id }, keys.giver)).status).toBe(200);
});
