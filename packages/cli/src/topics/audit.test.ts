import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";

let server: TestServer;
let projectId: string;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  const { json } = await server.admin("ListProjects");
  projectId = json.projects[0].id;
});
afterAll(() => server.stop());

function svc(...argv: string[]) {
  return runTestCommand(["audit", ...argv], { SVC_URL: server.url, SVC_ADMIN_TOKEN: server.adminToken });
}

async function json(...argv: string[]) {
  return JSON.parse((await svc("list", ...argv, "--json")).printed.join("\n"));
}

/** Waits until every entry of the audit log has its position in the chain. */
const placed = () => until(async () => (await json()).every(({ position }: { position: number }) => position > 0));

test("who did what is listed, narrowed by project, actor, action and time", async () => {
  const { json: made } = await server.admin("CreateApiKey", {
    projectId,
    role: "ROLE_MEMBER",
    name: "Ada's",
    entityId: "ada",
  });
  await server.call("svc.v1.SecretsService/PutSecret", { name: "billing_token", value: "a-secret-of-audits" });
  await server.call("svc.v1.SecretsService/DeleteSecret", { name: "missing_token" });
  const key = made.apiKey.id;
  const [mine] = await json("--action", "AdminService.CreateApiKey");
  expect(mine).toMatchObject({ projectId, actor: "admin", subject: key, outcome: "ok" });
  expect(mine.entityDigest).toMatch(/^[0-9a-f]{64}$/);
  const own = await json("--project", projectId);
  expect(own.map(({ action, outcome, subject }: Record<string, string>) => [action, subject, outcome])).toEqual([
    ["SecretsService.DeleteSecret", "missing_token", "not_found"],
    ["SecretsService.PutSecret", "billing_token", "ok"],
    ["AdminService.CreateApiKey", key, "ok"],
  ]);
  expect(JSON.stringify(own)).not.toMatch(/Ada|a-secret-of-audits|"ada"/);
  const [{ actor }] = own;
  expect(actor).toMatch(/^key_/);
  expect((await json("--actor", actor)).length).toBe(2);
  expect((await json("--actor", key)).length).toBe(0);
  expect((await json("--until", "1h")).length).toBe(0);
  expect((await json("--since", "1h", "--limit", "2")).length).toBe(2);
  const { printed } = await svc();
  expect(printed[0]).toMatch(/^AT +PROJECT +ACTOR +ACTION +SUBJECT +OUTCOME$/);
  expect(printed).toContainEqual(expect.stringMatching(/admin +AdminService.CreateApiKey +key_\w+ +ok$/));
});

test("a destructive call is entered as it is sent, and one that is held is not", async () => {
  const account = { toolkitSlug: "sales_crm", entityId: "ada" };
  expect((await server.call("svc.v1.ConnectionsService/InitiateConnection", account)).status).toBe(200);
  const send = {
    toolSlug: "sales_crm.delete_deal",
    entityId: "ada",
    argumentsJson: '{"deal_id":987654321}',
  };
  const held = await server.call("svc.v1.ToolsService/CallTool", send);
  expect(held.json.outcome).toBe("held");
  expect(await json("--action", "ToolCall.Send")).toEqual([]);
  const sent = await server.call("svc.v1.ToolsService/CallTool", {
    ...send,
    argumentsJson: send.argumentsJson.replace("{", '{"confirm":true,'),
  });
  expect(sent.json.outcome).toBe("ok");
  await placed();
  const [event, ...more] = await json("--action", "ToolCall.Send");
  expect(more).toEqual([]);
  expect(event).toMatchObject({ subject: "sales_crm.delete_deal", outcome: "sent", toolCallId: sent.json.callId });
  const [connected] = await json("--action", "ConnectionsService.InitiateConnection");
  expect(event.entityDigest).toBe(connected.entityDigest);
  expect(JSON.stringify(await json())).not.toContain("987654321");
});

test("verify says that nothing was changed, and names what was, with exit code 1", async () => {
  await server.admin("CreateProject", { name: "other" });
  await placed();
  const whole = await svc("verify", "--heads");
  expect(whole).toMatchObject({
    code: 0,
    noted: [expect.stringMatching(/^\d+ events in \d chains: unchanged$/)],
  });
  expect(whole.printed).toContainEqual(expect.stringMatching(new RegExp(`^${projectId} \\d+ [0-9a-f]{64}$`)));
  const { sql } = server.database.db;
  await sql.unsafe("alter table audit_events disable trigger user");
  const [row] = await sql.unsafe<{ position: number }[]>(
    "update audit_events set outcome = 'ok' where action = 'SecretsService.DeleteSecret' returning position",
  );
  const { code, printed, noted } = await svc("verify");
  expect([code, printed.length]).toEqual([1, 1]);
  expect(printed[0]).toMatch(new RegExp(`^changed ${projectId} ${row?.position} aud_\\w+ the event at position`));
  expect(noted.join()).toContain("the audit log was changed");
  const [fault] = JSON.parse((await svc("verify", "--json")).printed.join("\n"));
  expect(fault).toMatchObject({ kind: "changed", projectId, position: row?.position });
});
