import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { readAnswer, type TestAnswer } from "@svc/testing/server";
import { bootstrapKey, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { type CallAnswer, callTool, connect, readAccount, writeDeployment } from "./project.ts";
import { type Provider, reply, type Seen, startProvider } from "./provider.ts";

// Every secret in this file contains `planted`, and the app repeats whatever it receives. The test then searches the database and the log
// for the secrets.

const planted = (name: string) => `planted-${name}-7f3a9c`;
const secrets = {
  apiKey: planted("api-key"),
  secondKey: planted("second-key"),
  refusedKey: planted("refused-key"),
  // In a query this key is encoded, and apps may repeat it either way.
  queryKey: `${planted("query-key")} +&=/ü"`,
  pathKey: `${planted("path-key")}:Ab +ü`,
  username: planted("user-name"),
  password: planted("password"),
  clientSecret: planted("client-secret"),
  projectSecret: planted("project-secret"),
  code: planted("code"),
  access: planted("access-token"),
  refresh: planted("refresh-token"),
  nextAccess: planted("next-access"),
  nextRefresh: planted("next-refresh"),
  argument: planted("argument"),
  nested: planted("nested-argument"),
  result: planted("result"),
};
const marker = "planted-";

let app: Provider;
let database: TestDatabase;
let server: ServerProcess;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
/** Answers in which no secret may appear, as text, each with its method. */
const shown: (readonly [method: string, text: string])[] = [];
const accountIds: string[] = [];

const node = {
  async call(
    method: string,
    body: unknown = {},
    { bearer = bootstrapKey }: { bearer?: string | null } = {},
  ): Promise<TestAnswer> {
    const res = await fetch(`${server.url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${bearer}` },
      body: JSON.stringify(body),
    });
    return readAnswer(res);
  },
};

/** Records the answer of a call. The result of a successful call is left out, because the caller may see it. */
function show(method: string, answer: CallAnswer | object): void {
  const isResult = "outcome" in answer && answer.outcome === "ok";
  shown.push([method, JSON.stringify(isResult ? { ...answer, resultJson: "" } : answer)]);
}

/** Repeats the request in every form that an app may use. */
function echo({ headers, body, target }: Seen): object {
  return {
    error: { message: `you sent ${JSON.stringify(headers)} ${body} to ${target}` },
    message: Object.values(headers).join(" "),
    headers,
    body,
    decoded: Buffer.from(headers.authorization?.replace("Basic ", "") ?? "", "base64").toString(),
  };
}

beforeAll(async () => {
  app = await startProvider();
  database = await createTestDatabase();
  deployment = await writeDeployment({
    search_ingestion: { provider_base_url: app.url },
    bank_link: { provider_base_url: app.url },
    calendar: {
      provider_base_url: app.url,
      auth_url: `${app.url}/authorize`,
      token_url: `${app.url}/token`,
      scope_base: "https://scopes.example.com",
      oauth: { client_id_env: "CALENDAR_ID", client_secret_env: "CALENDAR_SECRET" },
    },
  });
  server = await startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_LOG_LEVEL: "trace",
    SVC_SANDBOX: "off",
    SVC_DEPLOYMENT: deployment.path,
    CALENDAR_ID: "client-1",
    CALENDAR_SECRET: secrets.clientSecret,
  });
  await useKeys();
  await useSensitiveValues();
  await useOauth();
  await useProjectCredential();
  await readEverything();
}, 60_000);
afterAll(async () => {
  await server?.end("SIGTERM");
  await app?.close();
  await database?.drop();
  await deployment?.[Symbol.asyncDispose]();
});

async function keep<Answer extends CallAnswer>(method: string, answer: Promise<Answer>): Promise<Answer> {
  const settled = await answer;
  show(method, settled);
  return settled;
}

/** Makes a connection, a call, a held call, a dry run, a replay and failures, first with a key, then with user name and password. */
async function useKeys(): Promise<void> {
  const connected = await connect(node, "search_ingestion", { apiKey: secrets.apiKey });
  show("InitiateConnection", connected);
  const tool = "search_ingestion.get_authentication";
  app.answer = (_seen, res) => reply(res, { authenticationID: "a", input: { key: secrets.result } });
  expect((await keep("CallTool", callTool(node, tool, { authenticationID: "a" }))).outcome).toBe("ok");
  const remove = "search_ingestion.delete_authentication";
  expect((await keep("held", callTool(node, remove, { authenticationID: "a" }))).outcome).toBe("held");
  await keep("dry run", callTool(node, remove, { authenticationID: "a", confirm: true }, { dryRun: true }));
  for (const status of [400, 404, 422, 429, 500, 503]) {
    app.answer = (seen, res) => reply(res, echo(seen), { status, headers: { "x-echo": secrets.apiKey } });
    await keep(`failure ${status}`, callTool(node, tool, { authenticationID: "a" }));
    await keep(`failure ${status}`, callTool(node, remove, { authenticationID: "a", confirm: true }));
  }
  app.answer = (seen, res) =>
    void res.writeHead(200, { "content-type": "text/html" }).end(`<pre>${JSON.stringify(echo(seen))}`);
  expect((await keep("not JSON", callTool(node, tool, { authenticationID: "a" }))).outcome).toBe("provider_error");
  app.answer = (_seen, res) => res.destroy();
  await keep("cut", callTool(node, remove, { authenticationID: "a", confirm: true }, { idempotencyKey: "cut" }));
  await keep(
    "cut replayed",
    callTool(node, remove, { authenticationID: "a", confirm: true }, { idempotencyKey: "cut" }),
  );
  show("InitiateConnection", await connect(node, "search_ingestion", { apiKey: secrets.secondKey }));
  const refused = await connect(node, "search_ingestion", { entityId: "refused", apiKey: secrets.refusedKey });
  app.answer = (seen, res) => reply(res, echo(seen), { status: 401 });
  expect(
    (await keep("refused", callTool(node, tool, { authenticationID: "a" }, { entityId: "refused" }))).outcome,
  ).toBe("account_unusable");
  const published = await node.call("svc.v1.CatalogService/PublishToolkit", {
    definitionJson: JSON.stringify(basicToolkit()),
  });
  expect(published.status, JSON.stringify(published.json)).toBe(200);
  const basic = { username: secrets.username, password: secrets.password };
  const own = await connect(node, "own_app", { scheme: "basic", basic });
  app.answer = (seen, res) => reply(res, echo(seen), { status: 400 });
  await keep("basic", callTool(node, "own_app.read", {}));
  await keep("basic dry run", callTool(node, "own_app.read", {}, { dryRun: true }));
  const queried = basicToolkit();
  const auth = [{ type: "api_key", placement: "query", name: "key", value: "{{credential.key}}" }];
  const definitionJson = JSON.stringify({ ...queried, toolkit: { ...queried.toolkit, slug: "own_query", auth } });
  expect((await node.call("svc.v1.CatalogService/PublishToolkit", { definitionJson })).status).toBe(200);
  const byQuery = await connect(node, "own_query", { apiKey: secrets.queryKey });
  accountIds.push(byQuery.account.id);
  for (const body of [
    (seen: Seen) => echo(seen),
    (seen: Seen) => ({ key: seen.query.get("key") }),
    (seen: Seen) => `no page at ${decodeURIComponent(seen.target)}`,
  ]) {
    app.answer = (seen, res) => reply(res, body(seen), { status: 404 });
    await keep("query", callTool(node, "own_query.read", {}));
  }
  await keep("query dry run", callTool(node, "own_query.read", {}, { dryRun: true }));
  await useKeyInPath();
  const wrong = await node.call("svc.v1.ConnectionsService/InitiateConnection", {
    toolkitSlug: "search_ingestion",
    entityId: "ann",
    apiKey: `${secrets.apiKey}\r\n`,
  });
  expect(wrong.reason).toBe("CREDENTIAL_INVALID");
  show("InitiateConnection refused", wrong.json);
  accountIds.push(connected.account.id, refused.account.id, own.account.id);
}

/** Makes calls of a toolkit whose key is a segment of the base URL: a result, failures, a redirect, a broken connection and a dry run. */
async function useKeyInPath(): Promise<void> {
  const { toolkit, tools } = basicToolkit();
  const inPath = { slug: "own_path", baseUrl: `${app.url}/{{credential.key}}`, auth: [placedInPath] };
  const definitionJson = JSON.stringify({ toolkit: { ...toolkit, ...inPath }, tools });
  expect((await node.call("svc.v1.CatalogService/PublishToolkit", { definitionJson })).status).toBe(200);
  const { account } = await connect(node, "own_path", { apiKey: secrets.pathKey });
  accountIds.push(account.id);
  const read = () => callTool(node, "own_path.read", {});
  app.answer = (seen, res) => reply(res, { target: seen.target, plain: decodeURIComponent(seen.target) });
  shown.push(["path result", JSON.stringify(await read())]);
  expect(decodeURIComponent(app.seen.at(-1)?.target ?? "")).toBe(`/${secrets.pathKey}/things`);
  app.answer = (seen, res) => reply(res, echo(seen), { status: 404 });
  expect((await keep("path", read())).message).toContain("***/things");
  app.answer = (seen, res) => void res.writeHead(302, { location: `https://other.example.com${seen.target}` }).end();
  await keep("path redirect", read());
  app.answer = (_seen, res) => res.destroy();
  await keep("path cut", read());
  const trial = await keep("path dry run", callTool(node, "own_path.read", {}, { dryRun: true }));
  expect(trial.request?.url).toBe(`${app.url}/***/things`);
}

const placedInPath = { type: "api_key", placement: "path" };

const basicToolkit = () => ({
  toolkit: {
    slug: "own_app",
    name: "Own app",
    description: "An app of our own with user name and password, for tests of secrets.",
    version: "0.1.0",
    category: "scheduling",
    baseUrl: app.url,
    auth: [{ type: "basic" }],
  },
  tools: {
    read: {
      kind: "action",
      class: "read",
      description: "Reads something from the app of our own, for tests of secrets in errors.",
      intents: ["read something", "look it up", "what is there"],
      input: { type: "object", additionalProperties: false, properties: {} },
      output: { type: "object", properties: {} },
      request: { method: "GET", path: "/things" },
    },
  },
});

/** Uses arguments and results that definitions mark as sensitive, in calls, held calls, dry runs, replays, faults and failures. */
async function useSensitiveValues(): Promise<void> {
  const { account } = await connect(node, "bank_link", { apiKey: secrets.apiKey });
  accountIds.push(account.id);
  const exchange = { public_token: secrets.argument };
  app.answer = (_seen, res) => reply(res, { access_token: secrets.result, item_id: "i", request_id: "r" });
  const tool = "bank_link.exchange_public_token";
  const first = await keep("exchange", callTool(node, tool, exchange, { idempotencyKey: "exchange" }));
  expect(JSON.parse(first.resultJson)).toMatchObject({ access_token: secrets.result });
  const again = await keep("replay", callTool(node, tool, exchange, { idempotencyKey: "exchange" }));
  expect(again).toMatchObject({ replayed: true, resultJson: first.resultJson });
  await keep("dry run", callTool(node, tool, exchange, { dryRun: true }));
  const remove = { access_token: secrets.argument };
  expect((await keep("held", callTool(node, "bank_link.remove_item", remove))).outcome).toBe("held");
  for (const args of [
    { public_token: { deep: secrets.argument } },
    { public_token: [secrets.argument] },
    { public_token: secrets.argument, extra: 1 },
  ]) {
    expect((await keep("faults", callTool(node, tool, args))).outcome).toBe("invalid_arguments");
  }
  app.answer = (seen, res) => reply(res, { ...echo(seen), access_token: secrets.result }, { status: 400 });
  await keep("failure", callTool(node, tool, exchange));
  await keep("failure", callTool(node, "bank_link.remove_item", { ...remove, confirm: true }));
  app.answer = (seen, res) => reply(res, echo(seen), { status: 400 });
  const update = { authenticationID: "a", input: { password: secrets.argument, list: [{ pin: secrets.nested }] } };
  await keep("nested", callTool(node, "search_ingestion.update_authentication", update));
  await keep("nested dry run", callTool(node, "search_ingestion.update_authentication", update, { dryRun: true }));
  const malformed = await node.call("svc.v1.ToolsService/CallTool", {
    toolSlug: tool,
    entityId: "ann",
    argumentsJson: `{"public_token":"${secrets.argument}"`,
  });
  show("malformed", malformed.json);
}

/** Runs a consent, calls, a token renewal and its failures. */
async function useOauth(): Promise<void> {
  let current = [secrets.access, secrets.refresh];
  app.answer = (seen, res) => {
    if (seen.path === "/token") {
      const [access_token, refresh_token] = current;
      reply(res, {
        access_token,
        refresh_token,
        token_type: "bearer",
        expires_in: 3600,
        id_token: `x.${secrets.access}.y`,
      });
    } else if (seen.headers.authorization === `Bearer ${current[0]}`) reply(res, { items: [] });
    else reply(res, echo(seen), { status: 401 });
  };
  const connected = await connect(node, "calendar", { scheme: "oauth2" });
  show("InitiateConnection", connected);
  accountIds.push(connected.account.id);
  const browser = openBrowser();
  const asked = new URL((await browser.open(connected.authorizeUrl)).location);
  const state = encodeURIComponent(asked.searchParams.get("state") ?? "");
  const ended = await browser.open(`${server.url}/oauth/callback?code=${secrets.code}&state=${state}`);
  expect(ended.status).toBe(200);
  shown.push(["callback page", ended.text + JSON.stringify([...ended.headers])]);
  const list = () => callTool(node, "calendar.list_events", { calendar_id: "primary" });
  expect((await keep("OAuth", list())).outcome).toBe("ok");
  current = [secrets.nextAccess, secrets.nextRefresh];
  expect((await keep("renewed", list())).outcome).toBe("ok");
  expect(app.seen.some(({ headers }) => headers.authorization === `Bearer ${secrets.nextAccess}`)).toBe(true);
  app.answer = (seen, res) => {
    const fault = {
      error: seen.path === "/token" ? "invalid_grant" : "x",
      error_description: `bad ${seen.body}`,
      ...echoText(seen),
    };
    reply(res, fault, { status: seen.path === "/token" ? 400 : 401 });
  };
  await keep("refresh refused", list());
  expect((await readAccount(node, connected.account.id)).state).toBe("expired");

  // A token exchange that fails, with an app that repeats the code and the client's secret.
  const second = await connect(node, "calendar", { scheme: "oauth2", entityId: "second" });
  accountIds.push(second.account.id);
  const other = openBrowser();
  const again = new URL((await other.open(second.authorizeUrl)).location);
  const secondState = encodeURIComponent(again.searchParams.get("state") ?? "");
  const failed = await other.open(`${server.url}/oauth/callback?code=${secrets.code}&state=${secondState}`);
  shown.push(["failed callback", failed.text]);
  const denied = await connect(node, "calendar", { scheme: "oauth2", entityId: "third" });
  const third = new URL((await other.open(denied.authorizeUrl)).location);
  const thirdState = encodeURIComponent(third.searchParams.get("state") ?? "");
  await other.open(`${server.url}/oauth/callback?error=access_denied&code=${secrets.code}&state=${thirdState}`);
}

function echoText(seen: Seen): object {
  return { error_uri: `https://app.example/${JSON.stringify(echo(seen))}` };
}

/** Uses the project's own OAuth client, for an app that cannot be reached. */
async function useProjectCredential(): Promise<void> {
  const basic = basicToolkit();
  const auth = [{ type: "client_credentials", tokenUrl: `https://127.0.0.1:${app.port}/token` }];
  const definitionJson = JSON.stringify({ ...basic, toolkit: { ...basic.toolkit, slug: "own_client", auth } });
  const published = await node.call("svc.v1.CatalogService/PublishToolkit", { definitionJson });
  expect(published.status, JSON.stringify(published.json)).toBe(200);
  const set = await node.call("svc.v1.ConnectionsService/SetProjectCredential", {
    toolkitSlug: "own_client",
    clientId: "client",
    clientSecret: secrets.projectSecret,
  });
  expect(set.status, JSON.stringify(set.json)).toBe(200);
  show("SetProjectCredential", set.json);
  await keep("client credentials", callTool(node, "own_client.read", {}, { entityId: "" }));
}

/** Makes every call that reads, for all objects. */
async function readEverything(): Promise<void> {
  const { json } = await node.call("svc.v1.ToolsService/ListToolCalls", { pageSize: 500 });
  show("ListToolCalls", json);
  expect(json.calls.length).toBeGreaterThan(25);
  for (const { id } of json.calls as { id: string }[]) {
    show("GetToolCall", (await node.call("svc.v1.ToolsService/GetToolCall", { id })).json);
  }
  for (const id of accountIds)
    show("GetConnection", (await node.call("svc.v1.ConnectionsService/GetConnection", { id })).json);
  show("ListConnections", (await node.call("svc.v1.ConnectionsService/ListConnections", { pageSize: 500 })).json);
  const { json: identity } = await node.call("svc.v1.IdentityService/GetIdentity", {});
  const projectId = identity.projectId as string;
  for (const toolkit of ["calendar", "bank_link", "search_ingestion"]) {
    show("GetToolkit", (await node.call("svc.v1.CatalogService/GetToolkit", { slug: toolkit, projectId })).json);
    show("spec", (await node.call("svc.v1.CatalogService/GetToolkitConnectSpec", { slug: toolkit })).json);
    show("ListTools", (await node.call("svc.v1.CatalogService/ListTools", { toolkitSlug: toolkit, projectId })).json);
  }
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  shown.push(["metrics", metrics]);
}

/**
 * Returns the forms in which a secret could be stored or shown: text, hexadecimal, base64 at each of its three offsets, and
 * percent-encoded.
 */
function formsOf(secret: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
      .toString("base64")
      .slice(4, 20),
  );
  // Some clients of OAuth write %2D for - in a form field.
  return [
    secret,
    Buffer.from(secret).toString("hex"),
    ...base64,
    secret.replaceAll("-", "%2D"),
    encodeURIComponent(secret),
    // In a path segment, characters such as : and + stay as they are.
    encodeURI(secret),
  ];
}

function leaksIn(text: string): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => text.includes(form)) ? [name] : [],
  );
}

test("the app was sent the secrets, so that what follows tells something", () => {
  const decoded = app.seen.flatMap(({ headers: { authorization = "" } }) =>
    authorization.startsWith("Basic ") ? [Buffer.from(authorization.slice(6), "base64").toString()] : [],
  );
  const plain = ({ headers, body, query, target }: Seen) =>
    JSON.stringify(headers) + body + [target, ...query.values()].join(" ");
  const sent = decoded.join(" ") + app.seen.map(plain).join(" ");
  // These secrets are never sent in clear: the project's client uses TLS to an app without TLS, and the others occur only in answers.
  const unsent = new Set(["projectSecret", "secondKey", "result", "nextRefresh"]);
  const expected = Object.keys(secrets).filter((name) => !unsent.has(name));
  expect(leaksIn(sent)).toEqual(expect.arrayContaining(expected));
});

test("no answer holds a secret but the result of a call that is ok", () => {
  const leaks = shown.flatMap(([method, text]) =>
    leaksIn(text).map((name) => `${method}: ${name} in ${text.slice(0, 1_500)}`),
  );
  expect(leaks).toEqual([]);
});

test("of a sensitive object neither names nor values are shown, whatever they are", async () => {
  const tool = "search_ingestion.update_authentication";
  app.answer = (seen, res) => reply(res, echo(seen), { status: 400 });
  for (const input of [{ [secrets.nested]: true }, { [secrets.nested]: null }, { deep: { [secrets.nested]: {} } }]) {
    const shownRequest = await callTool(node, tool, { authenticationID: "a", input }, { dryRun: true });
    expect(leaksIn(JSON.stringify(shownRequest))).toEqual([]);
    expect(JSON.parse(shownRequest.request?.bodyJson ?? "")).toEqual({ input: "***" });
    const failed = await callTool(node, tool, { authenticationID: "a", input });
    expect(leaksIn(JSON.stringify(failed))).toEqual([]);
  }
});

test("a call that the ledger shows is masked where its definition says so", async () => {
  const { json } = await node.call("svc.v1.ToolsService/ListToolCalls", {
    toolSlug: "bank_link.exchange_public_token",
    outcome: "ok",
  });
  const { json: one } = await node.call("svc.v1.ToolsService/GetToolCall", { id: json.calls[0].id });
  expect(JSON.parse(one.call.argumentsJson)).toEqual({ public_token: "***" });
  expect(JSON.parse(one.call.resultJson)).toEqual({ access_token: "***", item_id: "i", request_id: "r" });
});

test("no column of the database holds a secret that is not sealed", async () => {
  const { sql } = database.db;
  const tables = await sql`select table_schema, table_name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  expect(tables.length).toBeGreaterThan(10);
  let rows = 0;
  for (const { table_schema, table_name } of tables) {
    const found = await sql`select t::text as text from ${sql(table_schema)}.${sql(table_name)} t`;
    for (const { text } of found) {
      rows += 1;
      expect(leaksIn(text), `${table_name}: ${text.slice(0, 500)}`).toEqual([]);
      // Bytes are decoded to text too.
      const bytes = [...text.matchAll(/\\\\?x([0-9a-f]{8,})/g)].map(([, hex = ""]) =>
        Buffer.from(hex, "hex").toString("utf8"),
      );
      for (const plain of bytes) expect(plain.includes(marker), `${table_name}: ${plain.slice(0, 300)}`).toBe(false);
    }
  }
  expect(rows).toBeGreaterThan(40);
});

test("no log line at level trace holds a secret", async () => {
  await until(() => server.output().includes('"method":"svc.v1.ToolsService/GetToolCall"'), 5_000, "the log");
  const lines = server.output().split("\n");
  expect(lines.length).toBeGreaterThan(40);
  expect(lines.filter((line) => leaksIn(line).length > 0 || line.includes(marker))).toEqual([]);
});

test("an app whose error code quotes the token or the code does not get it into the account's lastError", async () => {
  const entityId = "quoted";
  app.answer = (_seen, res) => {
    reply(res, {
      access_token: secrets.access,
      refresh_token: secrets.refresh,
      token_type: "bearer",
      expires_in: 3600,
    });
  };
  const finish = async () => {
    const { account, authorizeUrl } = await connect(node, "calendar", { scheme: "oauth2", entityId });
    const browser = openBrowser();
    const asked = new URL((await browser.open(authorizeUrl)).location);
    const state = encodeURIComponent(asked.searchParams.get("state") ?? "");
    await browser.open(`${server.url}/oauth/callback?code=${secrets.code}&state=${state}`);
    return account.id;
  };
  const active = await finish();
  app.answer = ({ path, body }, res) => {
    const form = new URLSearchParams(body);
    const error = form.get("refresh_token") ?? form.get("code");
    reply(res, { error: `no_${error}` }, { status: path === "/token" ? 400 : 401 });
  };
  const answer = await callTool(node, "calendar.list_events", { calendar_id: "primary" }, { entityId });
  expect(answer.outcome).toBe("account_unusable");
  const failed = await finish();
  const texts = [answer.message];
  for (const id of [active, failed]) texts.push((await readAccount(node, id)).lastError);
  const rows = await database.db.sql`select last_error from connected_accounts where entity_id = ${entityId}`;
  for (const { last_error } of rows) texts.push(last_error as string);
  expect(texts.filter((text) => leaksIn(text).length > 0)).toEqual([]);
});

test("an app that quotes the credential in a good answer does not get it into the ledger", async () => {
  await connect(node, "search_ingestion", { entityId: "echoed", apiKey: secrets.apiKey });
  app.answer = ({ headers }, res) => {
    reply(res, { authenticationID: "a", name: `key ${String(headers["x-searchingest-api-key"])}` });
  };
  const tool = "search_ingestion.get_authentication";
  const { outcome, callId } = await callTool(node, tool, { authenticationID: "a" }, { entityId: "echoed" });
  expect(outcome).toBe("ok");
  const { json } = await node.call("svc.v1.ToolsService/GetToolCall", { id: callId });
  expect(leaksIn(JSON.stringify(json))).toEqual([]);
});
