import { request } from "node:http";
import { createSvcClient, type SvcClient, svcErrorDetails, verifyDelivery } from "@svc/sdk";
import { createTestMcpClient } from "@svc/testing/mcp-client";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// The calls with which a new project tries svc without a real app or a server: SandboxService and GetStart. The server has no webhook
// secret.

let server: TestServer;
let client: SvcClient;
let other: SvcClient;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "on", SVC_WEBHOOK_AUDIENCE: "accounts" } });
  client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  const { json: made } = await server.admin("CreateProject", { name: "other" });
  const { json } = await server.admin("CreateApiKey", {
    projectId: made.project.id,
    role: "ROLE_MEMBER",
    name: "other",
  });
  other = createSvcClient({ baseUrl: server.url, apiKey: json.key });
});
afterAll(() => server?.stop());

async function reasonOf(call: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return svcErrorDetails(error)[0]?.reason;
}

test("a new project has used nothing, and its addresses are those of the server", async () => {
  expect(await client.stats.getStart({})).toEqual(
    expect.objectContaining({ sandbox: true, mcpUrl: `${server.url}/mcp`, publicUrl: server.url }),
  );
  for (const field of ["firstEventAt", "firstCallAt", "firstJobAt", "firstAgentCallAt"] as const)
    expect((await client.stats.getStart({}))[field]).toBeUndefined();
});

test("a sample event is delivered, signed, to the sandbox inbox of its app, and only to the project that sent it", async () => {
  const { subscription: own } = await client.triggers.createSubscription({ endpointUrl: "https://example.com/own" });
  const sent = await client.sandbox.sendSampleEvent({ toAllReceivers: true });
  expect(sent.triggerSlug).toBe("calendar.events_changed");
  await until(async () => {
    const { deliveries } = await client.triggers.listDeliveries({
      eventId: sent.eventId,
      subscriptionId: sent.subscriptionId,
    });
    return deliveries[0]?.state === "delivered";
  });
  const { requests } = await client.sandbox.listInboxRequests({ inboxId: sent.inboxId });
  expect(requests).toHaveLength(1);
  const [request] = requests;
  expect(request).toMatchObject({ method: "POST", bodyBytes: request?.body.length });
  // The second sample is a new event, and uses the same subscription. Its secret is replaced here, so that the test knows it.
  const { signingSecret } = await client.triggers.rotateSubscriptionSecret({ id: sent.subscriptionId });
  const again = await client.sandbox.sendSampleEvent({ triggerSlug: sent.triggerSlug, toAllReceivers: true });
  expect(again).toMatchObject({ subscriptionId: sent.subscriptionId, inboxId: sent.inboxId });
  expect(again.eventId).not.toBe(sent.eventId);
  const received = async () => (await client.sandbox.listInboxRequests({ inboxId: sent.inboxId })).requests;
  await until(async () => (await received()).length === 2);
  const [{ headers = {}, body = "" } = {}] = await received();
  const event = await verifyDelivery(headers, body, signingSecret);
  expect(event).toMatchObject({ id: again.eventId, payload: JSON.parse(again.payloadJson) });
  expect((await other.triggers.listEvents({})).events).toEqual([]);
  expect((await client.stats.getStart({})).firstEventAt).toBeDefined();
  expect(await reasonOf(other.sandbox.listInboxRequests({ inboxId: sent.inboxId }))).toBe("INBOX_NOT_FOUND");
  await client.triggers.deleteSubscription({ id: own?.id ?? "" });
});

test("a sample that another endpoint would receive is refused, unless the caller agrees", async () => {
  const matching = { endpointUrl: "https://example.com/real", toolkitSlug: "calendar" };
  const { subscription: real } = await client.triggers.createSubscription(matching);
  await client.triggers.createSubscription({ endpointUrl: "https://example.com/else", toolkitSlug: "messaging_bot" });
  const count = async () => (await client.triggers.listEvents({})).events.length;
  const before = await count();
  const call = client.sandbox.sendSampleEvent({ triggerSlug: "calendar.events_changed" });
  expect(await reasonOf(call)).toBe("SANDBOX_SAMPLE_SHARED");
  await expect(call).rejects.toThrow("would also go to 1 other subscription");
  expect(await count()).toBe(before);
  await client.triggers.updateSubscription({ id: real?.id ?? "", active: false });
  await client.sandbox.sendSampleEvent({ triggerSlug: "calendar.events_changed" });
  expect(await count()).toBe(before + 1);
});

test("samples that are sent at once share one subscription", async () => {
  const { json: made } = await server.admin("CreateProject", { name: "at once" });
  const { json } = await server.admin("CreateApiKey", { projectId: made.project.id, role: "ROLE_MEMBER", name: "x" });
  const own = createSvcClient({ baseUrl: server.url, apiKey: json.key });
  const sent = await Promise.all(Array.from({ length: 5 }, () => own.sandbox.sendSampleEvent({})));
  expect(new Set(sent.map(({ subscriptionId }) => subscriptionId)).size).toBe(1);
  expect((await own.triggers.listSubscriptions({})).subscriptions).toHaveLength(1);
});

test("an inbox answers any request with 200 and keeps the newest 50, each with the beginning of its body", async () => {
  const { inboxId, url } = await client.sandbox.createInbox({});
  for (let number = 0; number < 52; number++)
    expect((await fetch(url, { method: "PUT", body: String(number) })).status).toBe(200);
  const sizes = [8_192, 300_000];
  for (const size of sizes) expect((await fetch(url, { method: "POST", body: "é".repeat(size / 2) })).status).toBe(200);
  const { requests } = await client.sandbox.listInboxRequests({ inboxId });
  expect(requests).toHaveLength(50);
  expect(requests.slice(0, 3).map(({ method, bodyBytes }) => [method, bodyBytes])).toEqual([
    ["POST", 300_000],
    ["POST", 8_192],
    ["PUT", 2],
  ]);
  expect(requests[0]?.body).toBe("é".repeat(4_096));
  expect(requests[2]?.body).toBe("51");
  expect(requests.at(-1)?.body).toBe("4");
});

test("an inbox shows the body of a GET", async () => {
  const { inboxId, url } = await client.sandbox.createInbox({});
  const status = await new Promise((answered, failed) => {
    const sent = request(url, { method: "GET", headers: { "content-length": "300000" } }, (res) => {
      res.resume();
      answered(res.statusCode);
    });
    sent.on("error", failed).end("x".repeat(300_000));
  });
  expect(status).toBe(200);
  const { requests } = await client.sandbox.listInboxRequests({ inboxId });
  expect(requests).toMatchObject([{ method: "GET", body: "x".repeat(8_192), bodyBytes: 300_000 }]);
});

test("an address that svc did not make is no inbox", async () => {
  const { inboxId, url } = await client.sandbox.createInbox({});
  const forged = `${inboxId.slice(0, -4)}AAAA`;
  for (const id of [forged, "", "x", `${inboxId}=`])
    expect((await fetch(url.replace(inboxId, id), { method: "POST" })).status).toBe(404);
  expect(await reasonOf(client.sandbox.listInboxRequests({ inboxId: forged }))).toBe("INBOX_NOT_FOUND");
});

test("sandbox accounts are connected once, with a key, with OAuth, and with variables", async () => {
  const toolkitSlugs = ["messaging_bot", "calendar", "vector_db", "notes_wiki"];
  const { accounts } = await client.sandbox.connectSandboxAccounts({ entityId: "demo", toolkitSlugs });
  expect(accounts.map(({ toolkitSlug, state, sandbox }) => [toolkitSlug, state, sandbox])).toEqual(
    toolkitSlugs.map((slug) => [slug, "active", true]),
  );
  expect(accounts[1]?.scheme).toBe("oauth2");
  const { accounts: again } = await client.sandbox.connectSandboxAccounts({ entityId: "demo", toolkitSlugs });
  expect(again.map(({ id }) => id)).toEqual(accounts.map(({ id }) => id));
  const called = await client.tools.callTool({ toolSlug: "calendar.list_calendars", entityId: "demo" });
  expect(called.outcome).toBe("ok");
  expect((await client.stats.getStart({})).firstCallAt).toBeDefined();
});

test("an account whose consent fails is no success", async () => {
  const { sql } = server.database.db;
  await sql.unsafe(`create function refuse_active() returns trigger language plpgsql as $$ begin
    raise exception 'held' using errcode = 'unique_violation', constraint = 'account_references_key'; end $$;
    create trigger refuse_active before update on connected_accounts for each row when (new.state = 'active')
    execute function refuse_active()`);
  try {
    const call = client.sandbox.connectSandboxAccounts({ entityId: "eve", toolkitSlugs: ["calendar"] });
    expect(await reasonOf(call)).toBe("SANDBOX_CONSENT_FAILED");
  } finally {
    await sql.unsafe("drop trigger refuse_active on connected_accounts; drop function refuse_active");
  }
});

test("a refusal names what is wrong", async () => {
  const { sandbox } = client;
  const connect = (entityId: string, toolkitSlugs: string[]) =>
    reasonOf(sandbox.connectSandboxAccounts({ entityId, toolkitSlugs }));
  expect(await connect("", ["calendar"])).toBe("ENTITY_ID_INVALID");
  expect(await connect("ada", [])).toBe("TOOLKIT_SLUGS_INVALID");
  expect(await connect("ada", ["calendar", "nope"])).toBe("TOOLKIT_NOT_FOUND");
  expect(await reasonOf(sandbox.sendSampleEvent({ triggerSlug: "calendar.nope" }))).toBe("TRIGGER_NOT_FOUND");
});

test("the first call of an agent is recorded once", async () => {
  const agent = createTestMcpClient(server);
  await agent.request("tools/list");
  expect((await client.stats.getStart({})).firstAgentCallAt).toBeUndefined();
  await agent.call("search_tools", { query: "send a message" });
  await until(async () => (await client.stats.getStart({})).firstAgentCallAt !== undefined);
  expect((await other.stats.getStart({})).firstAgentCallAt).toBeUndefined();
});

test("without the sandbox every call says so", async () => {
  const real = await startTestServer({ variables: { SVC_SANDBOX: "off" } });
  try {
    const { sandbox, stats } = createSvcClient({ baseUrl: real.url, apiKey: real.key });
    expect((await stats.getStart({})).sandbox).toBe(false);
    const reasons = await Promise.all([
      reasonOf(sandbox.sendSampleEvent({})),
      reasonOf(sandbox.createInbox({})),
      reasonOf(sandbox.listInboxRequests({ inboxId: "x" })),
      reasonOf(sandbox.connectSandboxAccounts({ entityId: "ada", toolkitSlugs: ["calendar"] })),
    ]);
    expect(reasons).toEqual(Array(4).fill("SANDBOX_OFF"));
  } finally {
    await real.stop();
  }
});
