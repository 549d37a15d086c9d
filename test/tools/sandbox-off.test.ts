import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { callTool, connect, writeDeployment } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// A server with the sandbox and one with real apps share a database, as if the sandbox had been switched off and on again.

let app: Provider;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
let sandbox: TestServer;
let real: TestServer;

beforeAll(async () => {
  app = await startProvider();
  deployment = await writeDeployment({ search_ingestion: { provider_base_url: app.url } });
  sandbox = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  real = await startTestServer({
    variables: {
      SVC_DATABASE_URL: sandbox.database.url,
      SVC_DEPLOYMENT: deployment.path,
      SVC_SANDBOX: "off",
    },
  });
});
afterAll(async () => {
  await real?.stop();
  await sandbox?.stop();
  await app.close();
  await deployment[Symbol.asyncDispose]();
});
beforeEach(() => {
  app.reset();
  app.answer = (_seen, res) => reply(res, { items: [] });
});

const tool = "search_ingestion.list_destinations";

async function accountsOf(server: TestServer, entityId: string) {
  const { json } = await server.call("svc.v1.ConnectionsService/ListConnections", { entityId });
  const accounts = json.accounts as { id: string; state: string; sandbox: boolean }[];
  return accounts.map(({ id, state, sandbox: made }) => ({ id, state, made })).sort((a, b) => +b.made - +a.made);
}

test("an account made in the sandbox is not used for real calls: nothing is sent, and the answer says why", async () => {
  const entityId = "ann";
  const { account } = await connect(sandbox, "search_ingestion", { entityId });
  expect(account).toMatchObject({ state: "active", sandbox: true });
  expect(await callTool(sandbox, tool, {}, { entityId })).toMatchObject({ outcome: "ok", sandbox: true });
  for (const named of [{ entityId }, { entityId, connectedAccountId: account.id }]) {
    expect(await callTool(real, tool, {}, named)).toMatchObject({
      outcome: "no_account",
      sandbox: false,
      message: expect.stringContaining('the account of entity "ann" was made in the sandbox'),
    });
  }
  expect([app.connections, app.seen]).toEqual([0, []]);
});

test("a real account outlives whatever is connected in the sandbox, whose calls do not see its credential", async () => {
  const entityId = "bob";
  const { account: kept } = await connect(real, "search_ingestion", { entityId, apiKey: "real-key" });
  expect(await callTool(sandbox, tool, {}, { entityId })).toMatchObject({
    outcome: "no_account",
    message: expect.stringContaining("was made outside the sandbox"),
  });
  const { account: made } = await connect(sandbox, "search_ingestion", { entityId });
  const both = [
    { id: made.id, state: "active", made: true },
    { id: kept.id, state: "active", made: false },
  ];
  expect(await accountsOf(real, entityId)).toEqual(both);
  expect(await accountsOf(sandbox, entityId)).toEqual(both);
  expect((await callTool(sandbox, tool, {}, { entityId })).outcome).toBe("ok");
  expect(app.seen).toEqual([]);
  expect((await callTool(real, tool, {}, { entityId })).outcome).toBe("ok");
  expect(JSON.stringify(app.seen[0]?.headers)).toContain("real-key");
});

test("behind a proxy on its own machine the service lets no tenant's toolkit read what listens on loopback", async () => {
  const proxied = await startTestServer({
    variables: {
      SVC_DATABASE_URL: sandbox.database.url,
      SVC_DEPLOYMENT: deployment.path,
      SVC_SANDBOX: "off",
      SVC_PUBLIC_URL: "https://svc.example.com",
    },
  });
  try {
    const slug = "metrics";
    const definitionJson = JSON.stringify({
      toolkit: {
        slug,
        name: "Metrics",
        description: "A toolkit of our own that leads to the service itself, for tests.",
        version: "0.1.0",
        category: "scheduling",
        baseUrl: proxied.url,
        auth: [{ type: "none" }],
      },
      tools: {
        read: {
          kind: "action",
          class: "read",
          description: "Reads what the service tells of itself, one page of plain text.",
          intents: ["read the metrics", "what does it do", "show its numbers"],
          input: { type: "object", additionalProperties: false, properties: {} },
          output: { type: "object", properties: {} },
          request: { method: "GET", path: "/metrics" },
        },
      },
    });
    const published = await proxied.call("svc.v1.CatalogService/PublishToolkit", { definitionJson });
    expect(published.code, JSON.stringify(published.json)).toBe("ok");
    const request = { toolkitSlug: slug, entityId: "ann", scheme: "none" };
    const connected = await proxied.call("svc.v1.ConnectionsService/InitiateConnection", request);
    expect(connected.code).toBe("invalid_argument");
    expect(connected.json.message).toContain("leads to a loopback address");
    // The account exists, since it was connected while that was allowed, but its address is still refused. The other node learns of the
    // toolkit a moment later.
    const connect = async () => (await real.call("svc.v1.ConnectionsService/InitiateConnection", request)).code;
    await expect.poll(connect, { timeout: 20_000 }).toBe("ok");
    expect(await callTool(proxied, `${slug}.read`)).toMatchObject({ outcome: "unreachable", providerStatus: 0 });
    expect((await callTool(proxied, tool, {}, { entityId: "bob" })).outcome).toBe("unreachable");
  } finally {
    await proxied.stop();
  }
});
