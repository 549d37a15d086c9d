import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { addProject, connect, readAccount, writeDeployment } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// TestConnection over HTTP: its read passes the same checks as any tool call.

let app: Provider;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
let svc: TestServer;

beforeAll(async () => {
  app = await startProvider();
  deployment = await writeDeployment({
    search_ingestion: { provider_base_url: app.url },
    sales_crm: { provider_base_url: app.url },
  });
  svc = await startTestServer({ variables: { SVC_DEPLOYMENT: deployment.path, SVC_SANDBOX: "off" } });
});
afterAll(async () => {
  await svc?.stop();
  await app.close();
  await deployment[Symbol.asyncDispose]();
});
beforeEach(() => app.reset());

const toolSlug = "search_ingestion.list_transformations";

async function connected(entityId: string, changes: object = {}): Promise<string> {
  return (await connect(svc, "search_ingestion", { entityId, apiKey: "wrong-key", ...changes })).account.id;
}

async function tried(id: string, bearer: string = svc.key) {
  const answer = await svc.call("svc.v1.ConnectionsService/TestConnection", { id }, { bearer });
  if (answer.status !== 200) return `${answer.code} ${answer.reason}`;
  const { outcome, providerStatus, message } = answer.json;
  return { outcome, providerStatus, message };
}

test("a wrong key is refused by the app's 401: one GET with the credential, and calls are refused from then on", async () => {
  const id = await connected("wrong");
  app.answer = (_seen, res) => reply(res, { message: "bad key" }, { status: 401 });
  expect(await tried(id)).toMatchObject({ outcome: "refused", providerStatus: 401 });
  expect(app.seen).toMatchObject([{ method: "GET", path: "/1/transformations" }]);
  expect(JSON.stringify(app.seen[0]?.headers)).toContain("wrong-key");
  expect(await readAccount(svc, id)).toMatchObject({ state: "expired" });
  const call = { toolSlug, entityId: "wrong" };
  expect((await svc.call("svc.v1.ToolsService/CallTool", call)).json.outcome).toBe("account_unusable");
});

test("an app that fails, hangs up or is not there leaves the account as it is, and says that nothing is known", async () => {
  const id = await connected("away");
  const answers: Provider["answer"][] = [
    (_seen, res) => reply(res, {}, { status: 503, headers: { "retry-after": "30" } }),
    (_seen, res) => void res.socket?.destroy(),
    (_seen, res) => reply(res, {}, { status: 429, headers: { "retry-after": "30" } }),
  ];
  for (const answer of answers) {
    app.answer = answer;
    const result = await tried(id);
    expect(result).toMatchObject({ outcome: "unknown", message: expect.stringContaining("nothing is known") });
    expect(await readAccount(svc, id)).toMatchObject({ state: "active", lastError: "" });
  }
});

test("a paused limit and the binding of a key hold the read as they hold a call", async () => {
  const id = await connected("held");
  const put = (limit: object) => svc.call("svc.v1.ToolsService/PutCallLimit", { limit });
  await put({ name: "stop", toolkitSlug: "search_ingestion", paused: true });
  expect(await tried(id)).toBe("resource_exhausted CALL_LIMIT_PAUSED");
  await svc.call("svc.v1.ToolsService/DeleteCallLimit", { name: "stop" });
  const keyOf = async (binding: object) => {
    const { projects } = (await svc.admin("ListProjects", {})).json;
    const projectId = projects.find(({ name }: { name: string }) => name === "default").id;
    const body = { projectId, role: "ROLE_MEMBER", name: JSON.stringify(binding), ...binding };
    return (await svc.admin("CreateApiKey", body)).json.key as string;
  };
  expect(await tried(id, await keyOf({ accessClasses: ["write"] }))).toBe("permission_denied TOOL_NOT_GRANTED");
  expect(await tried(id, await keyOf({ toolkitSlugs: ["sales_crm"] }))).toBe("not_found CONNECTION_NOT_FOUND");
  expect(await tried(id, await keyOf({ entityId: "bob" }))).toBe("not_found CONNECTION_NOT_FOUND");
  expect(app.seen).toEqual([]);
  expect(await tried(id, await keyOf({ entityId: "held" }))).toMatchObject({ outcome: "works" });
  const other = await addProject(svc, "theirs");
  expect(await tried(id, other.member)).toBe("not_found CONNECTION_NOT_FOUND");
  expect(app.seen).toHaveLength(1);
});

test("the read is in the ledger with its key, and its entity's hidden credential is in no answer", async () => {
  const id = await connected("logged");
  const answer = await svc.call("svc.v1.ConnectionsService/TestConnection", { id });
  expect(answer.json).toMatchObject({ outcome: "works", toolSlug });
  const { calls } = (await svc.call("svc.v1.ToolsService/ListToolCalls", { connectedAccountId: id })).json;
  expect(calls).toMatchObject([{ id: answer.json.callId, toolSlug, entityId: "logged", outcome: "ok" }]);
  expect(JSON.stringify([answer.json, calls])).not.toContain("wrong-key");
});

test("an account of a toolkit without a read that takes no arguments cannot be tested, and says so", async () => {
  const { account } = await connect(svc, "bank_link", { entityId: "ada", apiKey: "k" });
  expect(await tried(account.id)).toBe("failed_precondition CONNECTION_NOT_TESTABLE");
});
