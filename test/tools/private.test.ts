import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/server-process";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { addProject, callTool, connect, readAccount, type TestProject, writeDeployment } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// The shared calendar is bound to `app`. The private calendar, which hides it, sends to `mine`.

let app: Provider;
let mine: Provider;
let server: TestServer;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
let projects = 0;

beforeAll(async () => {
  [app, mine] = [await startProvider(), await startProvider()];
  deployment = await writeDeployment({
    calendar: {
      provider_base_url: app.url,
      auth_url: `${app.url}/authorize`,
      token_url: `${app.url}/token`,
      scope_base: "https://scopes.deployment.example",
      oauth: { client_id_env: "CALENDAR_ID", client_secret_env: "CALENDAR_SECRET" },
    },
  });
  server = await startTestServer({
    variables: {
      SVC_DEPLOYMENT: deployment.path,
      SVC_SANDBOX: "off",
      CALENDAR_ID: "deployed-client",
      CALENDAR_SECRET: "deployed-secret",
    },
  });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([app.close(), mine.close()]);
  await deployment[Symbol.asyncDispose]();
});
beforeEach(() => {
  mine.reset();
  app.reset();
  app.answer = ({ path }, res) =>
    path === "/token" ? reply(res, { access_token: "shared-token", token_type: "bearer" }) : reply(res, { items: [] });
  mine.answer = (_seen, res) => reply(res, { items: [{ id: "private" }] });
});

/** Returns the definition of a project's own calendar. `baseUrl` replaces the address of the app. */
function definition({ baseUrl = `${mine.url}/own`, slug = "calendar", toolkit = {} } = {}): string {
  return JSON.stringify({
    toolkit: {
      slug,
      name: "Own calendar",
      description: "A calendar of our own that hides the shared one, for tests of private toolkits.",
      version: "0.1.0",
      category: "scheduling",
      baseUrl,
      auth: [{ type: "api_key", placement: "header", name: "X-Own", value: "{{credential.key}}" }],
      ...toolkit,
    },
    tools: {
      list_events: {
        kind: "action",
        class: "read",
        description: "Lists the events of the calendar of our own, one page, in no particular order.",
        intents: ["what is planned", "show my week", "list what comes up"],
        input: { type: "object", additionalProperties: false, properties: {} },
        output: {
          type: "object",
          properties: { items: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } } },
        },
        request: { method: "GET", path: "/events" },
      },
    },
  });
}

const newProject = () => addProject(server, `project-${++projects}`);

async function publish({ approver }: TestProject, definitionJson = definition()): Promise<void> {
  const answer = await server.call("svc.v1.CatalogService/PublishToolkit", { definitionJson }, { bearer: approver });
  expect(answer.status, JSON.stringify(answer.json)).toBe(200);
}

async function remove({ approver }: TestProject, slug = "calendar"): Promise<void> {
  const answer = await server.call("svc.v1.CatalogService/DeleteToolkit", { slug }, { bearer: approver });
  expect(answer.status, JSON.stringify(answer.json)).toBe(200);
}

/** Connects the shared calendar, whose app is `app`. */
async function connectShared({ member }: TestProject): Promise<string> {
  const { account, authorizeUrl } = await connect(server, "calendar", { bearer: member, scheme: "oauth2" });
  const browser = openBrowser();
  const started = new URL((await browser.open(authorizeUrl)).location);
  expect(started.origin).toBe(app.url);
  const state = encodeURIComponent(started.searchParams.get("state") ?? "");
  expect((await browser.open(`${server.url}/oauth/callback?code=c&state=${state}`)).status).toBe(200);
  return account.id;
}

const connectOwn = ({ member }: TestProject, apiKey = "own-key") =>
  connect(server, "calendar", { bearer: member, scheme: "api_key", apiKey });
const callShared = ({ member }: TestProject) =>
  callTool(server, "calendar.list_events", { calendar_id: "primary" }, { bearer: member });
const callOwn = ({ member }: TestProject, changes = {}) =>
  callTool(server, "calendar.list_events", {}, { bearer: member, ...changes });

test("each of the two calendars meets its own account alone, in whichever order they come", async () => {
  const project = await newProject();
  const sharedId = await connectShared(project);
  expect((await callShared(project)).outcome).toBe("ok");
  app.seen.length = 0;

  await publish(project);
  expect((await callOwn(project)).outcome).toBe("no_account");
  expect((await callOwn(project, { entityId: "", connectedAccountId: sharedId })).outcome).toBe("no_account");
  const { account } = await connectOwn(project);
  expect(account.toolkitOwnerProjectId).toBe(project.id);
  expect(JSON.parse((await callOwn(project)).resultJson)).toEqual({ items: [{ id: "private" }] });
  expect((await readAccount(server, sharedId, project.member)).state).toBe("active");
  expect(app.seen).toEqual([]);
  const [sent] = mine.seen;
  expect([sent?.path, sent?.headers["x-own"], sent?.headers.authorization]).toEqual([
    "/own/events",
    "own-key",
    undefined,
  ]);

  await remove(project);
  mine.seen.length = 0;
  expect((await callShared(project)).outcome).toBe("ok");
  expect(app.seen.at(-1)?.headers).toMatchObject({ authorization: "Bearer shared-token" });
  expect(app.seen.at(-1)?.headers["x-own"]).toBeUndefined();
  expect(mine.seen).toEqual([]);
});

test("no value of the deployment reaches a private definition, neither in its text nor in its requests", async () => {
  const project = await newProject();
  for (const toolkit of [
    { baseUrl: "{{deployment.provider_base_url}}/x" },
    { baseUrl: "https://{{deployment.provider_base_url}}/x" },
    { description: "A calendar at {{deployment.auth_url}}, for tests of private toolkits." },
    {
      auth: [{ type: "api_key", placement: "header", name: "X", value: "{{deployment.scope_base}}{{credential.key}}" }],
    },
    {
      auth: [
        {
          type: "oauth2",
          authorizeUrl: "{{deployment.auth_url}}",
          tokenUrl: "{{deployment.token_url}}",
          defaultScopes: [],
          refresh: true,
        },
      ],
    },
    { webhook: { scheme: "token_query", parameter: "token", secretEnv: "SVC_WEBHOOK_SECRET_CALENDAR" } },
  ]) {
    const answer = await server.call(
      "svc.v1.CatalogService/PublishToolkit",
      { definitionJson: definition({ toolkit }) },
      { bearer: project.approver },
    );
    expect([answer.code, answer.reason]).toEqual(["invalid_argument", "DEFINITION_INVALID"]);
    expect(JSON.stringify(answer.json)).not.toMatch(/deployed-client|deployed-secret|scopes\.deployment\.example/);
    expect(JSON.stringify(answer.json)).not.toContain(app.url);
  }
});

test("the deployment's OAuth client is not lent to a private toolkit of the same slug", async () => {
  const project = await newProject();
  const oauth = {
    type: "oauth2",
    authorizeUrl: "https://mine.example.com/authorize",
    tokenUrl: "https://mine.example.com/token",
    defaultScopes: [],
    refresh: true,
  };
  await publish(project, definition({ toolkit: { auth: [oauth] } }));
  const answer = await server.call(
    "svc.v1.ConnectionsService/InitiateConnection",
    { toolkitSlug: "calendar", entityId: "ann", scheme: "oauth2" },
    { bearer: project.approver },
  );
  expect([answer.code, answer.reason]).toEqual(["failed_precondition", "TOOLKIT_NOT_CONNECTABLE"]);
  expect(answer.json.message).toContain("the project has no OAuth client for it");
  const { json } = await server.call(
    "svc.v1.CatalogService/GetToolkit",
    { slug: "calendar", projectId: project.id },
    { bearer: project.member },
  );
  expect(json.toolkit).toMatchObject({ connectable: false, ownerProjectId: project.id });
});

test("a client that a project holds for its own toolkit is never sent to the deployment's address", async () => {
  const project = await newProject();
  const tokenUrl = `${mine.url.replace("http:", "https:")}/token`;
  await publish(project, definition({ toolkit: { auth: [{ type: "client_credentials", tokenUrl }] } }));
  const set = await server.call(
    "svc.v1.ConnectionsService/SetProjectCredential",
    { toolkitSlug: "calendar", clientId: "own-client", clientSecret: "own-secret" },
    { bearer: project.approver },
  );
  expect(set.status, JSON.stringify(set.json)).toBe(200);
  // The app does not speak TLS, so the token request fails.
  expect(await callOwn(project, { entityId: "" })).toMatchObject({ outcome: "account_unusable", providerStatus: 0 });
  expect(mine.connections).toBeGreaterThan(0);
  expect([app.connections, app.seen, mine.seen]).toEqual([0, [], []]);
});

test("references of a private calendar's accounts neither take nor lose those of the shared one", async () => {
  const [owner, other] = [await newProject(), await newProject()];
  const sharedId = await connectShared(other);
  await publish(owner);
  const { account } = await connectOwn(owner);
  const set = (id: string, { approver }: TestProject) =>
    server.call(
      "svc.v1.ConnectionsService/SetAccountReferences",
      { id, references: ["channel-1"] },
      { bearer: approver },
    );
  expect((await set(account.id, owner)).json.account.references).toEqual(["channel-1"]);
  expect((await set(sharedId, other)).json.account.references).toEqual(["channel-1"]);
  const third = await newProject();
  const thirdId = await connectShared(third);
  expect((await set(thirdId, third)).reason).toBe("REFERENCE_TAKEN");
});

test("another project sees neither the toolkit nor its accounts nor its calls: every call answers as for what is missing", async () => {
  const [owner, stranger] = [await newProject(), await newProject()];
  await publish(owner, definition({ slug: "own_calendar" }));
  const { json: connected } = await server.call(
    "svc.v1.ConnectionsService/InitiateConnection",
    { toolkitSlug: "own_calendar", entityId: "ann", apiKey: "k" },
    { bearer: owner.member },
  );
  const made = await callTool(server, "own_calendar.list_events", {}, { bearer: owner.member });
  expect(made.outcome).toBe("ok");
  mine.seen.length = 0;

  const theirs = { id: connected.account.id as string, callId: made.callId, slug: "own_calendar" };
  const absent = {
    id: "acc_01h455vb4pex5vsknk084sn02q",
    callId: "call_01h455vb4pex5vsknk084sn02q",
    // This slug is equally unlike every existing one, so both refusals suggest the same slugs.
    slug: "our_calendar",
  };
  const requests = (of: typeof theirs): [string, object][] => [
    ["CatalogService/GetToolkit", { slug: of.slug }],
    ["CatalogService/GetToolkit", { slug: of.slug, projectId: stranger.id }],
    ["CatalogService/GetTool", { slug: `${of.slug}.list_events`, projectId: stranger.id }],
    ["CatalogService/GetToolkitConnectSpec", { slug: of.slug, projectId: stranger.id }],
    ["CatalogService/ListTools", { toolkitSlug: of.slug, projectId: stranger.id }],
    ["CatalogService/DeleteToolkit", { slug: of.slug }],
    ["ConnectionsService/InitiateConnection", { toolkitSlug: of.slug, entityId: "ann", apiKey: "k" }],
    ["ConnectionsService/GetConnection", { id: of.id }],
    ["ConnectionsService/DeleteConnection", { id: of.id }],
    ["ConnectionsService/SetAccountReferences", { id: of.id, references: ["r"] }],
    ["ConnectionsService/ListConnections", { toolkitSlug: of.slug }],
    ["ConnectionsService/SetProjectCredential", { toolkitSlug: of.slug, clientId: "a", clientSecret: "b" }],
    ["ConnectionsService/DeleteProjectCredential", { toolkitSlug: of.slug }],
    ["ConnectionsService/PutToolkitClient", { toolkitSlug: of.slug, clientId: "a" }],
    ["ConnectionsService/DeleteToolkitClient", { toolkitSlug: of.slug }],
    ["ToolsService/DescribeTool", { slug: `${of.slug}.list_events` }],
    ["ToolsService/CallTool", { toolSlug: `${of.slug}.list_events`, entityId: "ann" }],
    ["ToolsService/CallTool", { toolSlug: `${of.slug}.list_events`, connectedAccountId: of.id }],
    ["ToolsService/SearchTools", { query: "events of the calendar", toolkitSlug: of.slug }],
    ["ToolsService/ListToolCalls", { toolSlug: `${of.slug}.list_events` }],
    ["ToolsService/GetToolCall", { id: of.callId }],
  ];
  const ask = async (of: typeof theirs) => {
    const answers: unknown[] = [];
    for (const [method, body] of requests(of)) {
      const { status, json } = await server.call(`svc.v1.${method}`, body, { bearer: stranger.approver });
      const text = JSON.stringify(json, (key, value) => (key === "value" ? undefined : value));
      answers.push([
        method,
        status,
        text.replaceAll(of.id, "ID").replaceAll(of.callId, "CALL").replaceAll(of.slug, "SLUG"),
      ]);
    }
    return answers;
  };
  expect(await ask(theirs)).toEqual(await ask(absent));
  // An account of a shared tool gives no access to the private one either.
  const crossed = await callTool(
    server,
    "calendar.list_events",
    { calendar_id: "primary" },
    { bearer: stranger.member, entityId: "", connectedAccountId: theirs.id },
  );
  expect(crossed.outcome).toBe("no_account");
  expect(mine.seen).toEqual([]);
  expect((await readAccount(server, theirs.id, owner.member)).state).toBe("active");
});

test("published again with another address, the toolkit's accounts are of no use until they are connected anew", async () => {
  const project = await newProject();
  await publish(project);
  const { account } = await connectOwn(project);
  expect((await callOwn(project)).outcome).toBe("ok");
  mine.seen.length = 0;
  await publish(project, definition({ baseUrl: `${app.url}/moved` }));
  const refused = await callOwn(project);
  expect(refused).toMatchObject({ outcome: "account_unusable", providerStatus: 0 });
  expect(refused.message).toContain("connect again");
  expect([mine.seen, app.seen]).toEqual([[], []]);
  await connectOwn(project, "second-key");
  expect((await callOwn(project)).outcome).toBe("ok");
  expect(app.seen.at(-1)).toMatchObject({ path: "/moved/events", headers: { "x-own": "second-key" } });
  expect((await readAccount(server, account.id, project.member)).state).toBe("superseded");
});

test("a node that has not heard of the new address yet sends the new key nowhere but there", async () => {
  const stale = await startTestServer({
    variables: { SVC_DATABASE_URL: server.database.url, SVC_DEPLOYMENT: deployment.path, SVC_SANDBOX: "off" },
  });
  const project = await newProject();
  await publish(project);
  await connectOwn(project, "old-key");
  const callStale = () => callTool(stale, "calendar.list_events", {}, { bearer: project.member });
  expect((await callStale()).outcome).toBe("ok");
  await publish(project, definition({ baseUrl: `${app.url}/moved` }));
  await connectOwn(project, "new-key");
  mine.seen.length = 0;
  await until(async () => (await callStale()).outcome === "ok", 2_000, "the other node's view");
  expect(mine.seen.filter(({ headers }) => headers["x-own"] === "new-key")).toEqual([]);
  expect(app.seen.at(-1)?.headers["x-own"]).toBe("new-key");
  await remove(project);
  const gone = await callStale();
  expect(gone.outcome).not.toBe("ok");
  await stale.stop();
});

test("a change that moves nothing leaves the accounts alone; another placement does not", async () => {
  const project = await newProject();
  await publish(project);
  await connectOwn(project);
  await publish(project, definition({ toolkit: { name: "Renamed calendar", version: "0.2.0" } }));
  expect((await callOwn(project)).outcome).toBe("ok");
  const auth = [{ type: "api_key", placement: "header", name: "X-Other", value: "{{credential.key}}" }];
  await publish(project, definition({ toolkit: { auth } }));
  expect((await callOwn(project)).outcome).toBe("account_unusable");
});

test("deleting a toolkit revokes its accounts, and a new one of the same slug does not get them back", async () => {
  const project = await newProject();
  await publish(project);
  const { account } = await connectOwn(project);
  await remove(project);
  expect((await readAccount(server, account.id, project.member)).state).toBe("revoked");
  const kept = await server.database.db.sql`select id from connected_accounts
    where state = 'revoked' and credential is not null`;
  expect([...kept]).toEqual([]);
  await publish(project);
  expect((await callOwn(project)).outcome).toBe("no_account");
  const named = await callOwn(project, { entityId: "", connectedAccountId: account.id });
  expect(named.outcome).toBe("account_unusable");
  expect(mine.seen).toEqual([]);
});
