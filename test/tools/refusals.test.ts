import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { shippedToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { addProject, callTool, connect, readAccount, type TestProject, writeDeployment } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// Every refusal of InitiateConnection and of CallTool, and every outcome except `timeout`, which takes 30 seconds.

let app: Provider;
let server: TestServer;
let other: TestProject;
let folder: string;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;

/** A shared toolkit with every scheme that an entity can have, a variable, a webhook and an account reference. */
const desk = {
  slug: "desk",
  name: "Desk",
  description: "Tickets of a help desk with every scheme there is, for tests of refusals.",
  version: "0.1.0",
  category: "work-tracking",
  baseUrl: "{{deployment.provider_base_url}}/{{account.tenant}}",
  auth: [
    { type: "api_key", placement: "header", name: "X-Desk", value: "{{credential.key}}" },
    { type: "basic" },
    { type: "none" },
    {
      type: "oauth2",
      authorizeUrl: "{{deployment.auth_url}}",
      tokenUrl: "{{deployment.token_url}}",
      defaultScopes: [],
      refresh: true,
    },
    { type: "client_credentials", tokenUrl: "{{deployment.token_url}}" },
  ],
  account: [{ name: "tenant", description: "Name of your tenant.", example: "acme", pattern: "^[a-z]+$" }],
  identify: { tool: "get_me", path: "id" },
  webhook: { scheme: "token_query", parameter: "token", secretEnv: "SVC_WEBHOOK_SECRET_DESK" },
};
const getMe = {
  kind: "action",
  class: "read",
  description: "Reads who the account of the desk belongs to, for tests of refusals and probes.",
  intents: ["who am I at the desk", "whose account is this", "read my own profile"],
  input: { type: "object", additionalProperties: false, properties: {} },
  output: { type: "object", properties: { id: { type: "string" } } },
  request: { method: "GET", path: "/me" },
};
/** A shared toolkit whose only scheme needs no credentials, and whose host is a variable of the account. */
const ownServer = {
  slug: "own_server",
  name: "Own server",
  description: "A server of one's own without authentication, for tests of refusals.",
  version: "0.1.0",
  category: "search-and-data",
  baseUrl: "https://{{account.host}}",
  auth: [{ type: "none" }],
  account: [{ name: "host", description: "Host name of your server.", example: "server.example.com" }],
};
const readServer = {
  ...getMe,
  description: "Reads the state of the server of one's own, for tests of refusals and hosts.",
  intents: ["is the server up", "state of my server", "does it answer"],
};

async function writeToolkit(toolkit: { slug: string }, tools: Record<string, object>): Promise<void> {
  // Written as JSON, because JSON is also YAML.
  await mkdir(join(folder, toolkit.slug, "tools"), { recursive: true });
  await writeFile(join(folder, toolkit.slug, "toolkit.yaml"), JSON.stringify(toolkit));
  for (const [name, tool] of Object.entries(tools)) {
    await writeFile(join(folder, toolkit.slug, "tools", `${name}.yaml`), JSON.stringify(tool));
  }
}

beforeAll(async () => {
  app = await startProvider();
  folder = await mkdtemp(join(tmpdir(), "svc-toolkits-"));
  await writeToolkit(desk, { get_me: getMe });
  await writeToolkit(ownServer, { read: readServer });
  deployment = await writeDeployment({
    desk: { provider_base_url: app.url },
    search_ingestion: { provider_base_url: app.url },
    calendar: {
      provider_base_url: app.url,
      auth_url: `${app.url}/authorize`,
      token_url: `${app.url}/token`,
      scope_base: "https://scopes.example.com",
      oauth: { client_id_env: "CALENDAR_ID", client_secret_env: "CALENDAR_SECRET" },
    },
    scheduling: { provider_base_url: app.url, oauth: { client_id_env: "UNSET_ID", client_secret_env: "UNSET_SECRET" } },
  });
  server = await startTestServer({
    variables: {
      SVC_TOOLKITS: `${shippedToolkits},${folder}`,
      SVC_DEPLOYMENT: deployment.path,
      SVC_SANDBOX: "off",
      CALENDAR_ID: "client",
      CALENDAR_SECRET: "secret",
    },
  });
  other = await addProject(server, "other");
  await connect(server, "search_ingestion", { apiKey: "k" });
});
afterAll(async () => {
  await server?.stop();
  await app.close();
  await deployment[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  app.reset();
  app.answer = (_seen, res) => reply(res, { id: "me" });
});

/** Returns the code, the reason and the field of a refusal. If it has several details, the first one counts. */
function refusalOf({ code, reason, field }: TestAnswer): string {
  return [code, reason, field].join(" ").trim();
}

function initiate(body: object, bearer = server.key): Promise<TestAnswer> {
  const usual = {
    toolkitSlug: "desk",
    entityId: "ann",
    scheme: "api_key",
    apiKey: "k",
    accountVariables: { tenant: "acme" },
  };
  return server.call("svc.v1.ConnectionsService/InitiateConnection", { ...usual, ...body }, { bearer });
}

describe("InitiateConnection", () => {
  test.each<[string, object]>([
    ["not_found TOOLKIT_NOT_FOUND toolkitSlug", { toolkitSlug: "nope" }],
    ["not_found TOOLKIT_NOT_FOUND toolkitSlug", { toolkitSlug: "" }],
    ["invalid_argument ENTITY_ID_INVALID entityId", { entityId: "" }],
    ["invalid_argument ENTITY_ID_INVALID entityId", { entityId: "x".repeat(201) }],
    ["invalid_argument ENTITY_ID_INVALID entityId", { entityId: "a\u0007b" }],
    ["invalid_argument SCHEME_REQUIRED scheme", { scheme: "" }],
    ["invalid_argument SCHEME_NOT_DECLARED scheme", { scheme: "API_KEY" }],
    ["invalid_argument SCHEME_NOT_DECLARED scheme", { toolkitSlug: "calendar", accountVariables: {} }],
    ["invalid_argument SCHEME_HELD_BY_PROJECT scheme", { scheme: "client_credentials" }],
    ["invalid_argument ACCOUNT_VARIABLE_MISSING accountVariables.tenant", { accountVariables: {} }],
    ["invalid_argument ACCOUNT_VARIABLE_MISSING accountVariables.tenant", { accountVariables: { tenant: "" } }],
    [
      "invalid_argument ACCOUNT_VARIABLE_UNKNOWN accountVariables.more",
      { accountVariables: { tenant: "a", more: "b" } },
    ],
    ["invalid_argument ACCOUNT_VARIABLE_INVALID accountVariables.tenant", { accountVariables: { tenant: "A/B" } }],
    [
      "invalid_argument ACCOUNT_VARIABLE_INVALID accountVariables.host",
      { toolkitSlug: "own_server", scheme: "", apiKey: "", accountVariables: { host: "10.0.0.1" } },
    ],
    [
      "failed_precondition TOOLKIT_NOT_CONNECTABLE scheme",
      { toolkitSlug: "scheduling", scheme: "oauth2", apiKey: "", accountVariables: {} },
    ],
    ["failed_precondition TOOLKIT_NOT_CONNECTABLE scheme", { scheme: "oauth2", apiKey: "" }],
    ["invalid_argument CREDENTIAL_MISSING apiKey", { apiKey: "" }],
    ["invalid_argument CREDENTIAL_MISSING basic", { scheme: "basic", apiKey: "" }],
    ["invalid_argument CREDENTIAL_MISSING basic", { scheme: "basic", apiKey: "", basic: { password: "p" } }],
    ["invalid_argument CREDENTIAL_UNEXPECTED apiKey", { scheme: "none" }],
    ["invalid_argument CREDENTIAL_UNEXPECTED apiKey", { scheme: "basic", basic: { username: "u" } }],
    ["invalid_argument CREDENTIAL_UNEXPECTED basic", { basic: { username: "u", password: "p" } }],
    [
      "invalid_argument CREDENTIAL_UNEXPECTED apiKey",
      { toolkitSlug: "calendar", scheme: "oauth2", accountVariables: {} },
    ],
    ["invalid_argument CREDENTIAL_INVALID apiKey", { apiKey: "k".repeat(8_193) }],
    ["invalid_argument CREDENTIAL_INVALID apiKey", { apiKey: "a\nb" }],
    ["invalid_argument CREDENTIAL_INVALID apiKey", { apiKey: "ключ" }],
    [
      "invalid_argument CREDENTIAL_INVALID basic.username",
      { scheme: "basic", apiKey: "", basic: { username: "a\nb" } },
    ],
    [
      "invalid_argument CREDENTIAL_INVALID basic.password",
      { scheme: "basic", apiKey: "", basic: { username: "a", password: "p".repeat(8_193) } },
    ],
    ["invalid_argument REDIRECT_URL_REFUSED redirectUrl", { redirectUrl: "https://evil.example/" }],
    [
      "invalid_argument REDIRECT_URL_REFUSED redirectUrl",
      { toolkitSlug: "calendar", scheme: "oauth2", apiKey: "", accountVariables: {}, redirectUrl: "nope" },
    ],
    ["invalid_argument REQUEST_MALFORMED nope", { nope: 1 }],
  ])("%s: %j", async (expected, body) => {
    const answer = await initiate(body);
    expect(refusalOf(answer)).toBe(expected);
    const { json } = await server.call("svc.v1.ConnectionsService/ListConnections", { toolkitSlug: "desk" });
    expect(json.accounts).toEqual([]);
  });

  test("every missing and every unknown variable is a detail of its own", async () => {
    const accountVariables = { tenant: "a", one: "1", two: "2" };
    const { json } = await initiate({ accountVariables });
    expect(
      json.details.map(({ debug }: { debug: { reason: string; field: string } }) => [debug.reason, debug.field]),
    ).toEqual([
      ["ACCOUNT_VARIABLE_UNKNOWN", "accountVariables.one"],
      ["ACCOUNT_VARIABLE_UNKNOWN", "accountVariables.two"],
    ]);
    const none = await initiate({ toolkitSlug: "vector_db", accountVariables: {} });
    expect(none.json.details).toHaveLength(2);
  });

  test("a member may not say which address is dialled; an approver may", async () => {
    const body = {
      toolkitSlug: "own_server",
      scheme: "",
      apiKey: "",
      accountVariables: { host: "server.example.com" },
    };
    expect(refusalOf(await initiate(body, other.member))).toBe(
      "permission_denied ORIGIN_NEEDS_APPROVER accountVariables",
    );
    expect((await initiate(body, other.approver)).status).toBe(200);
  });

  test.each([401, 403])("CREDENTIAL_REFUSED when the app answers %i", async (status) => {
    app.answer = (_seen, res) => reply(res, {}, { status });
    expect(refusalOf(await initiate({}))).toBe("failed_precondition CREDENTIAL_REFUSED");
  });

  test.each([404, 429, 500, 302])("PROBE_FAILED when the app answers %i", async (status) => {
    app.answer = (_seen, res) => reply(res, {}, { status });
    expect(refusalOf(await initiate({}))).toBe("unavailable PROBE_FAILED");
  });

  test("PROBE_FAILED when the connection is cut; nothing is kept of either", async () => {
    app.answer = (_seen, res) => res.destroy();
    expect(refusalOf(await initiate({}))).toBe("unavailable PROBE_FAILED");
    const { json } = await server.call("svc.v1.ConnectionsService/ListConnections", { toolkitSlug: "desk" });
    expect(json.accounts).toEqual([]);
  });

  test("REFERENCE_TAKEN when another account of the deployment is the same one of the app", async () => {
    const first = await initiate({ entityId: "first" }, other.member);
    expect(first.json.account.references).toEqual(["me"]);
    const second = await initiate({ entityId: "second" });
    expect([second.code, second.reason]).toEqual(["already_exists", "REFERENCE_TAKEN"]);
    expect(JSON.stringify(second.json)).not.toContain(first.json.account.id);
    // The same entity connects again, so its older account is replaced.
    const again = await initiate({ entityId: "first" }, other.member);
    expect(again.json.account).toMatchObject({ state: "active", references: ["me"] });
    expect((await readAccount(server, first.json.account.id, other.member)).state).toBe("superseded");
    await server.call(
      "svc.v1.ConnectionsService/DeleteConnection",
      { id: again.json.account.id },
      { bearer: other.member },
    );
    const third = await initiate({ entityId: "second" });
    expect(third.json.account.state).toBe("active");
    await server.call("svc.v1.ConnectionsService/DeleteConnection", { id: third.json.account.id });
  });
});

describe("what an app says of an account and the store cannot keep as it is", () => {
  test.each([
    ["10,000 characters", "x".repeat(10_000)],
    [
      "10,000 characters that do not compress",
      Array.from({ length: 1_250 }, (_, at) => String(at * 7_919 + 1e7)).join(""),
    ],
    ["U+0000", "a\u0000b"],
    ["a lone surrogate", "\ud800"],
  ])("an own id of %s neither breaks the call nor stands among the references", async (_what, id) => {
    app.answer = (_seen, res) => reply(res, { id });
    const answer = await initiate({ entityId: "odd" });
    expect([answer.status, answer.json.account?.state]).toEqual([200, "active"]);
    for (const reference of answer.json.account.references as string[]) {
      expect(reference.length).toBeLessThanOrEqual(512);
      expect(reference).not.toMatch(/\p{Cc}/u);
    }
    await server.call("svc.v1.ConnectionsService/DeleteConnection", { id: answer.json.account.id });
  });

  test.each([
    ["scopes with U+0000", { scope: "a\u0000b" }],
    ["100,000 scopes", { scope: Array.from({ length: 100_000 }, (_, at) => `s${at}`).join(" ") }],
    ["a token of 1 MB", { access_token: "t".repeat(1_000_000) }],
    ["an expiry beyond time", { expires_in: 1e15 }],
    ["an expiry in the past", { expires_in: -5 }],
  ])("%s in a token answer end in a page, and the account in a state", async (_what, changes) => {
    app.answer = (_seen, res) => reply(res, { access_token: "t", token_type: "bearer", ...changes });
    const entityId = "odd-tokens";
    const { account, authorizeUrl } = await connect(server, "calendar", { entityId, scheme: "oauth2" });
    const browser = openBrowser();
    const asked = new URL((await browser.open(authorizeUrl)).location);
    const state = encodeURIComponent(asked.searchParams.get("state") ?? "");
    const ended = await browser.open(`${server.url}/oauth/callback?code=c&state=${state}`);
    expect([200, 400]).toContain(ended.status);
    const { state: after } = await readAccount(server, account.id);
    if (ended.status === 200) expect(["active", "expired"]).toContain(after);
    else expect(after).not.toBe("active");
    await server.call("svc.v1.ConnectionsService/DeleteConnection", { id: account.id });
  });
});

describe("entities", () => {
  test("one of 200 characters is connected and called, in whatever script it is written", async () => {
    for (const entityId of ["x".repeat(200), "ä".repeat(200), "🍎".repeat(200), "user:42 / 'a' \"b\""]) {
      const { account } = await connect(server, "search_ingestion", { entityId, apiKey: "k" });
      expect((await readAccount(server, account.id)).state).toBe("active");
      const answer = await call({ entityId });
      expect([answer.reason, answer.json.outcome]).toEqual(["", "ok"]);
      const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { entityId });
      expect(json.calls).toHaveLength(1);
    }
  });

  test("connected many times at once it has one active account, and the others are superseded", async () => {
    const entityId = "at-once";
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, at) => connect(server, "search_ingestion", { entityId, apiKey: `k${at}` })),
    );
    const states = await Promise.all(all.map(async ({ account }) => (await readAccount(server, account.id)).state));
    expect(states.toSorted()).toEqual(["active", ...Array(11).fill("superseded")]);
    expect((await call({ entityId })).json.outcome).toBe("ok");
  });
});

function call(body: object, bearer = server.key): Promise<TestAnswer> {
  const usual = {
    toolSlug: "search_ingestion.get_authentication",
    argumentsJson: '{"authenticationID":"a"}',
    entityId: "ann",
  };
  return server.call("svc.v1.ToolsService/CallTool", { ...usual, ...body }, { bearer });
}

describe("CallTool", () => {
  test.each<[string, object]>([
    ["not_found TOOL_NOT_FOUND toolSlug", { toolSlug: "search_ingestion.nope" }],
    ["not_found TOOL_NOT_FOUND toolSlug", { toolSlug: "get_authentication" }],
    ["not_found TOOL_NOT_FOUND toolSlug", { toolSlug: "" }],
    ["invalid_argument ARGUMENTS_MALFORMED argumentsJson", { argumentsJson: "{" }],
    ["invalid_argument ARGUMENTS_MALFORMED argumentsJson", { argumentsJson: "[]" }],
    ["invalid_argument ARGUMENTS_MALFORMED argumentsJson", { argumentsJson: "null" }],
    ["invalid_argument ARGUMENTS_MALFORMED argumentsJson", { argumentsJson: '"text"' }],
    ["invalid_argument ENTITY_ID_INVALID entityId", { entityId: "x".repeat(201) }],
    ["invalid_argument ENTITY_ID_INVALID entityId", { entityId: "a\u0007" }],
    ["invalid_argument CALL_OPTION_INVALID fields", { fields: ["a..b"] }],
    ["invalid_argument CALL_OPTION_INVALID fields", { fields: Array.from({ length: 101 }, () => "a") }],
    ["invalid_argument CALL_OPTION_INVALID maxBytes", { maxBytes: 255 }],
    ["invalid_argument CALL_OPTION_INVALID maxBytes", { maxBytes: -1 }],
    ["invalid_argument IDEMPOTENCY_KEY_INVALID idempotencyKey", { idempotencyKey: "x".repeat(201) }],
    ["invalid_argument IDEMPOTENCY_KEY_INVALID idempotencyKey", { idempotencyKey: "a\nb" }],
    ["invalid_argument ID_MALFORMED connectedAccountId", { connectedAccountId: "acc_1" }],
    ["invalid_argument REQUEST_MALFORMED confirm", { confirm: true }],
  ])("%s: %j", async (expected, body) => {
    expect(refusalOf(await call(body))).toBe(expected);
    expect(app.connections).toBe(0);
  });

  test("IDEMPOTENCY_KEY_REUSED for other arguments, another tool, another account; not for confirm", async () => {
    const remove = { toolSlug: "search_ingestion.delete_authentication", idempotencyKey: "key-1" };
    const confirmed = '{"confirm":true,"authenticationID":"a"}';
    expect((await call({ ...remove, argumentsJson: confirmed })).json.outcome).toBe("ok");
    const again = await call({ ...remove, argumentsJson: '{"authenticationID":"a"}' });
    expect(again.json).toMatchObject({ outcome: "ok", replayed: true });
    const reused = "already_exists IDEMPOTENCY_KEY_REUSED idempotencyKey";
    expect(refusalOf(await call({ ...remove, argumentsJson: '{"confirm":true,"authenticationID":"b"}' }))).toBe(reused);
    expect(refusalOf(await call({ idempotencyKey: "key-1" }))).toBe(reused);
    expect(refusalOf(await call({ ...remove, argumentsJson: confirmed, entityId: "bob" }))).toBe(reused);
    expect(app.seen).toHaveLength(1);
    // An idempotency key belongs to one project.
    const theirs = await call({ ...remove, argumentsJson: confirmed }, other.member);
    expect(theirs.json.outcome).toBe("no_account");
  });

  test("CALL_IN_PROGRESS while the first call of a key runs", async () => {
    const waiting = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    app.answer = (_seen, res) => {
      arrived.resolve();
      void waiting.promise.then(() => reply(res, { authenticationID: "a" }));
    };
    const first = call({ idempotencyKey: "key-2" });
    await arrived.promise;
    expect(refusalOf(await call({ idempotencyKey: "key-2" }))).toBe(
      "failed_precondition CALL_IN_PROGRESS idempotencyKey",
    );
    waiting.resolve();
    expect((await first).json.outcome).toBe("ok");
    expect((await call({ idempotencyKey: "key-2" })).json.replayed).toBe(true);
  });

  test("a key of another role or none", async () => {
    expect(refusalOf(await call({}, "nonsense"))).toContain("unauthenticated API_KEY_INVALID");
    expect(refusalOf(await call({}, server.adminToken))).toContain("permission_denied ROLE_REQUIRED");
    const answer = await server.call("svc.v1.ToolsService/CallTool", {}, { bearer: null });
    expect(refusalOf(answer)).toContain("unauthenticated API_KEY_MISSING");
  });
});

describe("outcomes", () => {
  const read = (changes = {}) =>
    callTool(server, "search_ingestion.get_authentication", { authenticationID: "a" }, changes);

  test("invalid_arguments: all faults at once, each with its place, what is allowed and what was given", async () => {
    const args = { max_results: "many", order_by: "colour", single_events: 1, time_min: "yesterday", surprise: true };
    const answer = await callTool(server, "calendar.list_events", args);
    expect(answer).toMatchObject({ outcome: "invalid_arguments", retryable: false, providerStatus: 0, resultJson: "" });
    const faults = Object.fromEntries(
      answer.faults.map(({ pointer, message, givenJson }) => [pointer || message, { message, givenJson }]),
    );
    expect(faults).toMatchObject({
      "/max_results": { givenJson: '"many"', message: expect.stringContaining("integer") },
      "/order_by": { givenJson: '"colour"', message: expect.stringContaining("startTime") },
      "/single_events": { givenJson: "1", message: expect.stringContaining("boolean") },
      "/time_min": { givenJson: '"yesterday"', message: expect.stringContaining("date-time") },
    });
    const rest = answer.faults.filter(({ pointer }) => pointer === "").map(({ message }) => message);
    expect(rest.some((message) => message.includes("calendar_id"))).toBe(true);
    expect(rest.some((message) => message.includes("surprise"))).toBe(true);
    // Arguments are checked before the account.
    expect((await callTool(server, "calendar.list_events", args, { entityId: "nobody" })).outcome).toBe(
      "invalid_arguments",
    );
    expect(app.connections).toBe(0);
  });

  test("held: destructive without confirm, or with confirm that is not true", async () => {
    const remove = (args: object) =>
      callTool(server, "search_ingestion.delete_authentication", { authenticationID: "a", ...args });
    // Null counts as an absent argument.
    for (const args of [{}, { confirm: false }, { confirm: null }]) {
      const answer = await remove(args);
      expect(answer).toMatchObject({ outcome: "held", retryable: false, request: { method: "DELETE" } });
      expect(answer.message).toContain('"confirm": true');
    }
    for (const confirm of ["true", 1]) expect((await remove({ confirm })).outcome).toBe("invalid_arguments");
    expect(app.connections).toBe(0);
    expect((await remove({ confirm: true })).outcome).toBe("ok");
    expect(app.seen.map(({ method, body }) => [method, body])).toEqual([["DELETE", ""]]);
  });

  test("held and refused calls bind no key", async () => {
    const remove = (args: object) =>
      callTool(
        server,
        "search_ingestion.delete_authentication",
        { authenticationID: "a", ...args },
        { idempotencyKey: "key-3" },
      );
    expect((await remove({})).outcome).toBe("held");
    expect((await remove({ nope: 1 })).outcome).toBe("invalid_arguments");
    expect(await remove({ confirm: true })).toMatchObject({ outcome: "ok", replayed: false });
  });

  test("no_account: no entity, an unknown one, another's account, another toolkit's, another project's", async () => {
    const { account: bobs } = await connect(server, "search_ingestion", { entityId: "bob", apiKey: "k" });
    const { account: pages } = await connect(server, "incident_mgmt", { apiKey: "k" });
    for (const changes of [
      { entityId: "" },
      { entityId: "nobody" },
      { entityId: "ann", connectedAccountId: bobs.id },
      { entityId: "", connectedAccountId: pages.id },
      { entityId: "", connectedAccountId: "acc_01h455vb4pex5vsknk084sn02q" },
      { entityId: "", connectedAccountId: bobs.id, bearer: other.member },
    ]) {
      expect(await read(changes)).toMatchObject({ outcome: "no_account", retryable: false });
    }
    expect(app.connections).toBe(0);
    expect((await read({ entityId: "", connectedAccountId: bobs.id })).outcome).toBe("ok");
  });

  test("account_unusable: revoked, superseded, expired, pending", async () => {
    const older = await connect(server, "search_ingestion", { entityId: "twice", apiKey: "1" });
    await connect(server, "search_ingestion", { entityId: "twice", apiKey: "2" });
    const revoked = await connect(server, "search_ingestion", { entityId: "gone", apiKey: "1" });
    await server.call("svc.v1.ConnectionsService/DeleteConnection", { id: revoked.account.id });
    const pending = await connect(server, "calendar", { entityId: "waits", scheme: "oauth2" });
    for (const { account } of [older, revoked]) {
      const answer = await read({ entityId: "", connectedAccountId: account.id });
      expect(answer).toMatchObject({ outcome: "account_unusable", providerStatus: 0 });
    }
    const events = (changes: object) => callTool(server, "calendar.list_events", { calendar_id: "primary" }, changes);
    expect((await events({ entityId: "", connectedAccountId: pending.account.id })).outcome).toBe("account_unusable");
    expect(app.connections).toBe(0);
    app.answer = (_seen, res) => reply(res, {}, { status: 401 });
    await connect(server, "search_ingestion", { entityId: "expires", apiKey: "1" });
    expect((await read({ entityId: "expires" })).providerStatus).toBe(401);
    expect(await read({ entityId: "expires" })).toMatchObject({ outcome: "account_unusable", providerStatus: 0 });
  });

  test("missing_scope: what was granted is compared where the app said it", async () => {
    const consented = async (entityId: string, scope: string | undefined) => {
      app.answer = ({ path }, res) =>
        path === "/token" ? reply(res, { access_token: "t", token_type: "bearer", scope }) : reply(res, { items: [] });
      const { authorizeUrl } = await connect(server, "calendar", { entityId, scheme: "oauth2" });
      const browser = openBrowser();
      const asked = new URL((await browser.open(authorizeUrl)).location);
      const state = encodeURIComponent(asked.searchParams.get("state") ?? "");
      expect((await browser.open(`${server.url}/oauth/callback?code=c&state=${state}`)).status).toBe(200);
      app.seen.length = 0;
      return callTool(server, "calendar.list_events", { calendar_id: "primary" }, { entityId });
    };
    const base = "https://scopes.example.com/calendar";
    const answer = await consented("narrow", `${base}.freebusy`);
    expect(answer).toMatchObject({ outcome: "missing_scope", retryable: false, providerStatus: 0 });
    expect(answer.message).toContain(`${base}.events.readonly`);
    expect(app.seen).toEqual([]);
    expect((await consented("exact", `${base}.events.readonly other`)).outcome).toBe("ok");
    expect((await consented("unsaid", undefined)).outcome).toBe("ok");
  });

  test("not_callable: a trigger, and the tool that is only described", async () => {
    for (const tool of ["calendar.events_changed", "notes_wiki.list_databases"]) {
      expect(await callTool(server, tool, {})).toMatchObject({ outcome: "not_callable", retryable: false });
      const { json } = await server.call("svc.v1.ToolsService/DescribeTool", { slug: tool });
      expect(json.tool.callable).toBe(false);
    }
  });

  test("not_bound: the message names the key that the deployment file lacks", async () => {
    await connect(server, "data_pipeline", { apiKey: "k" });
    const answer = await callTool(server, "data_pipeline.list_sources", {});
    expect(answer).toMatchObject({ outcome: "not_bound", retryable: false, providerStatus: 0 });
    expect(answer.message).toContain("toolkits.data_pipeline.provider_base_url");
  });

  test("rate_limited, provider_error, unreachable, outcome_unknown", async () => {
    app.answer = (_seen, res) => reply(res, {}, { status: 429, headers: { "retry-after": "30" } });
    expect(await read()).toMatchObject({
      outcome: "rate_limited",
      retryable: true,
      retryAfter: "30s",
      providerStatus: 429,
    });
    app.answer = (_seen, res) => reply(res, { error: "no" }, { status: 422 });
    expect(await read()).toMatchObject({ outcome: "provider_error", retryable: false, providerStatus: 422 });
    app.answer = (_seen, res) => res.destroy();
    expect(await read()).toMatchObject({ outcome: "unreachable", retryable: true, providerStatus: 0 });
    const write = { input: { indexName: "i" }, name: "n", type: "search" };
    const doubt = await callTool(server, "search_ingestion.create_destination", write);
    expect(doubt).toMatchObject({ outcome: "outcome_unknown", retryable: false, providerStatus: 0 });
  });

  test("every outcome stands in the ledger, which finds calls by it; a dry run does not", async () => {
    const outcomes = [
      "ok",
      "held",
      "invalid_arguments",
      "no_account",
      "account_unusable",
      "missing_scope",
      "not_callable",
      "not_bound",
      "rate_limited",
      "provider_error",
      "unreachable",
      "outcome_unknown",
    ];
    for (const outcome of outcomes) {
      const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { outcome });
      expect(json.calls.length, outcome).toBeGreaterThan(0);
      expect(new Set(json.calls.map((one: { outcome: string }) => one.outcome))).toEqual(new Set([outcome]));
    }
    const count = async () =>
      (await server.call("svc.v1.ToolsService/ListToolCalls", { pageSize: 500 })).json.calls.length;
    const before = await count();
    expect((await read({ dryRun: true })).outcome).toBe("ok");
    expect(await count()).toBe(before);
  });
});
