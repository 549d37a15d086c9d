import { createHash } from "node:crypto";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { startMcpServer, type TestMcpServer } from "./mcp-server.ts";
import { addProject, callTool, connect } from "./project.ts";
import { type Provider, reply, type Seen, startProvider } from "./provider.ts";

// The OAuth client that a project itself has at an issuer: set by an approver, or registered with a secret by svc.

const secret = "client-secret-of-the-project";
let app: TestMcpServer;
let issuer: Provider;
let svc: TestServer;
/** Changes of the issuer's metadata. */
let changes: Record<string, unknown> = {};
/** Answer of the issuer to a registration. */
let registered: Record<string, unknown> = {};
let projectId = "";
/** Bodies of all answers of svc in this file. */
const answers: string[] = [];

beforeAll(async () => {
  issuer = await startProvider();
  app = await startMcpServer("2026-07-28", [
    { name: "whoami", description: "Says who calls.", inputSchema: { type: "object" } },
  ]);
  svc = await startTestServer({ variables: { SVC_SANDBOX: "off" } });
  const { json } = await publish("probe");
  projectId = json.toolkit.ownerProjectId;
  const { origin } = new URL(app.url);
  app.metadata["/.well-known/oauth-protected-resource"] = () =>
    JSON.stringify({ resource: app.url, authorization_servers: [issuer.url] });
  app.challenge = {
    "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
  };
  app.isAuthorized = ({ authorization = "" }) => authorization.startsWith("Bearer token-of-");
  issuer.answer = ({ path, body }, res) => {
    if (path === "/.well-known/oauth-authorization-server") return reply(res, { ...metadata(), ...changes });
    if (path === "/register") return reply(res, registered);
    if (path === "/orders") return reply(res, {});
    if (!path.endsWith("/token")) return reply(res, {}, { status: 404 });
    const code = new URLSearchParams(body).get("code");
    reply(res, { access_token: `token-of-${code}`, token_type: "bearer", expires_in: 3600, refresh_token: "next" });
  };
});
afterAll(async () => {
  await svc?.stop();
  await app?.close();
  await issuer?.close();
});
beforeEach(() => {
  changes = {};
  issuer.seen.length = 0;
});

const metadata = () => ({
  issuer: issuer.url,
  authorization_endpoint: `${issuer.url}/authorize`,
  token_endpoint: `${issuer.url}/token`,
  code_challenge_methods_supported: ["S256"],
});

async function call(method: string, body: object, bearer?: string) {
  const answer = await svc.call(`svc.v1.${method}`, body, bearer === undefined ? {} : { bearer });
  answers.push(JSON.stringify(answer.json));
  return answer;
}
const put = (body: object, bearer?: string) => call("ConnectionsService/PutToolkitClient", body, bearer);
const remove = (toolkitSlug: string, bearer?: string) =>
  call("ConnectionsService/DeleteToolkitClient", { toolkitSlug }, bearer);
const importMcp = (slug: string, more: object = {}) =>
  call("CatalogService/ImportToolkit", { mcp: { url: app.url }, slug, ...more });

/** Publishes a toolkit with the scheme oauth2. `scheme`: keys of the scheme that differ. */
const publish = (slug: string, scheme: object = {}, bearer?: string) => {
  const oauth2 = { type: "oauth2", authorizeUrl: `${issuer.url}/authorize`, tokenUrl: `${issuer.url}/token` };
  const toolkit = {
    ...{ slug, name: "Shop", description: "A shop with orders, for tests.", version: "1.0.0" },
    ...{ category: "sales", baseUrl: issuer.url },
    auth: [{ ...oauth2, defaultScopes: [], refresh: true, ...scheme }],
  };
  const tool = {
    ...{ kind: "action", class: "read" },
    description: "Lists the orders of the shop, newest first.",
    input: { type: "object", properties: {}, additionalProperties: false },
    output: { type: "object" },
    request: { method: "GET", path: "/orders" },
  };
  return call(
    "CatalogService/PublishToolkit",
    { definitionJson: JSON.stringify({ toolkit, tools: { list_orders: tool } }) },
    bearer,
  );
};

/** The address to which an issuer sends browsers back. */
const callbackOf = (url: string) =>
  `${svc.url}/oauth/callback/${createHash("sha256").update(url).digest("hex").slice(0, 16)}`;

/** Connects an account of an entity as a person does who gives consent. Returns the request to the consent page and the last page. */
async function consent(toolkit: string, entityId: string) {
  const { authorizeUrl } = await connect(svc, toolkit, { entityId, scheme: "oauth2" });
  const browser = openBrowser();
  const asked = new URL((await browser.open(authorizeUrl)).location);
  const back = new URL(asked.searchParams.get("redirect_uri") ?? "");
  back.searchParams.set("code", entityId);
  back.searchParams.set("state", asked.searchParams.get("state") ?? "");
  return { asked, text: (await browser.open(back.href)).text };
}

const tokenRequests = () => issuer.seen.filter(({ path }) => path.endsWith("/token"));
const basicOf = ({ headers }: Seen) =>
  decodeURIComponent(Buffer.from((headers.authorization ?? "").replace("Basic ", ""), "base64").toString());

test("an import says which client to register where, and uses the client that is stored for it then", async () => {
  const refused = await importMcp("tracker");
  expect(refused).toMatchObject({ reason: "UPSTREAM_NEEDS_CLIENT" });
  for (const part of [issuer.url, callbackOf(issuer.url), "the slug tracker"])
    expect(JSON.stringify(refused.json)).toContain(part);
  const client = { toolkitSlug: "tracker", clientId: "own-client", clientSecret: secret, issuer: issuer.url };
  expect((await put(client)).json).toMatchObject({
    client: { toolkitSlug: "tracker", issuer: issuer.url, clientId: "own-client", hasSecret: true },
    redirectUrl: callbackOf(issuer.url),
  });
  const { json } = await importMcp("tracker");
  expect(json.toolkit, JSON.stringify(json)).toMatchObject({ connectable: true });
  const { asked, text } = await consent("tracker", "ann");
  expect(text).toContain("Connected");
  expect(asked.searchParams.get("client_id")).toBe("own-client");
  expect(asked.searchParams.get("redirect_uri")).toBe(callbackOf(issuer.url));
  expect(tokenRequests().map(basicOf)).toEqual([`own-client:${secret}`]);
  expect((await importMcp("tracker", { replace: true })).json.report).toMatchObject({ operations: 1 });
});

test("a trial run names the client that a deletion would delete, and deletes none", async () => {
  const named = { toolkitSlug: "probe", clientId: "own-client", clientSecret: secret };
  await put(named);
  const trial = await call("ConnectionsService/DeleteToolkitClient", { toolkitSlug: "probe", dryRun: true });
  expect(trial.json.client).toMatchObject({ clientId: "own-client", hasSecret: true, registration: "manual" });
  const { json } = await remove("probe");
  expect(json).toEqual(trial.json);
  const again = await call("ConnectionsService/DeleteToolkitClient", { toolkitSlug: "probe", dryRun: true });
  expect(again.reason).toBe("TOOLKIT_CLIENT_NOT_FOUND");
});

test("the own client has priority over documents and registration, and a new registration over none", async () => {
  changes = { registration_endpoint: `${issuer.url}/register`, client_id_metadata_document_supported: true };
  await put({ toolkitSlug: "first", clientId: "own-client", issuer: issuer.url });
  expect((await importMcp("first")).json.toolkit).toMatchObject({ connectable: true });
  expect(issuer.seen.map(({ path }) => path)).not.toContain("/register");
  expect((await consent("first", "ann")).asked.searchParams.get("client_id")).toBe("own-client");
  expect((await remove("first")).code).toBe("ok");
  const message = JSON.stringify((await call("ConnectionsService/InitiateConnection", first())).json);
  expect(message).toContain(`Register a client at ${issuer.url} with the redirect address ${callbackOf(issuer.url)}`);
  registered = { client_id: "made", token_endpoint_auth_method: "none" };
  expect((await importMcp("first", { replace: true })).json.toolkit).toMatchObject({ connectable: true });
  expect((await consent("first", "bob")).asked.searchParams.get("client_id")).toBe("made");
});
const first = () => ({ toolkitSlug: "first", entityId: "eve", scheme: "oauth2" });

test("an issuer that registers only clients with a secret gets one, whose secret is sealed until it ends", async () => {
  changes = {
    registration_endpoint: `${issuer.url}/register`,
    token_endpoint_auth_methods_supported: ["private_key_jwt", "client_secret_post"],
  };
  const endMs = Date.now() + 3_600_000;
  registered = {
    ...{ client_id: "made-2", client_secret: secret, token_endpoint_auth_method: "client_secret_post" },
    client_secret_expires_at: Math.floor(endMs / 1000),
  };
  expect((await importMcp("posted")).json.toolkit).toMatchObject({ connectable: true });
  expect(JSON.parse(issuer.seen.find(({ path }) => path === "/register")?.body ?? "")).toMatchObject({
    token_endpoint_auth_method: "client_secret_post",
    redirect_uris: [callbackOf(issuer.url)],
  });
  expect((await consent("posted", "ann")).text).toContain("Connected");
  const [request, ...more] = tokenRequests();
  expect(more).toEqual([]);
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toMatchObject({
    client_id: "made-2",
    client_secret: secret,
  });
  const [row] = await svc.database.db.sql`select * from toolkit_clients where slug = 'posted'`;
  expect(row).toMatchObject({ registration: "dynamic", secret_place: "post" });
  expect(String(row?.["client_secret"])).not.toContain(secret);
  await svc.database.db.sql`update toolkit_clients set expires_at = '2000-01-01' where slug = 'posted'`;
  expect((await call("ConnectionsService/InitiateConnection", { ...first(), toolkitSlug: "posted" })).reason).toBe(
    "TOOLKIT_NOT_CONNECTABLE",
  );
});

/** True if the toolkit of the test project can be connected. */
async function isConnectable(slug: string): Promise<boolean> {
  const { json } = await call("CatalogService/ListToolkits", { projectId });
  const toolkit = json.toolkits.find((listed: { slug: string }) => listed.slug === slug);
  return toolkit.connectable === true;
}

test("after a 403 that wants scopes, the next consents request them too, until the issuer does not know one", async () => {
  await put({ toolkitSlug: "steps", clientId: "own-client", issuer: issuer.url });
  await importMcp("steps");
  await consent("steps", "ann");
  await importMcp("steps", { replace: true, overrides: [{ match: "whoami", class: "read" }] });
  const scopeOf = async () => (await consent("steps", "ann")).asked.searchParams.get("scope");
  const scope = "issues:write files token-of-ann";
  app.refusal = { status: 403, headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` } };
  const refused = await callTool(svc, "steps.whoami");
  app.refusal = undefined;
  expect(refused).toMatchObject({ outcome: "missing_scope", providerStatus: 403 });
  expect(refused.message).toMatch(/issues:write, files, which/);
  expect(await scopeOf()).toBe("files issues:write");
  expect((await callTool(svc, "steps.whoami")).outcome).toBe("ok");
  expect(await scopeOf()).toBe("files issues:write");
  expect((await consent("steps", "bob")).asked.searchParams.get("scope")).toBeNull();
  const { authorizeUrl } = await connect(svc, "steps", { entityId: "ann", scheme: "oauth2" });
  const browser = openBrowser();
  const asked = new URL((await browser.open(authorizeUrl)).location);
  const back = new URL(asked.searchParams.get("redirect_uri") ?? "");
  back.searchParams.set("error", "invalid_scope");
  back.searchParams.set("state", asked.searchParams.get("state") ?? "");
  expect((await browser.open(back.href)).text).toContain("invalid_scope");
  expect(await scopeOf()).toBeNull();
});

test("a private toolkit without an issuer uses the stored client, with a callback address of its token endpoint", async () => {
  await publish("shop");
  expect(await isConnectable("shop")).toBe(false);
  const dry = await put({ toolkitSlug: "shop", dryRun: true });
  expect(dry.json).toMatchObject({ redirectUrl: callbackOf(`${issuer.url}/token`) });
  expect((await remove("shop")).reason).toBe("TOOLKIT_CLIENT_NOT_FOUND");
  await put({ toolkitSlug: "shop", clientId: "shop-client", clientSecret: secret });
  expect(await isConnectable("shop")).toBe(true);
  const { asked, text } = await consent("shop", "ann");
  expect(text).toContain("Connected");
  expect(asked.searchParams.get("redirect_uri")).toBe(dry.json.redirectUrl);
  expect((await callTool(svc, "shop.list_orders")).outcome).toBe("ok");
  expect(issuer.seen.at(-1)?.headers.authorization).toBe("Bearer token-of-ann");
});

test("a client that a definition names has no secret, and a stored client has priority over it", async () => {
  await publish("named", { issuer: issuer.url, clientId: "named-client" });
  const { asked } = await consent("named", "ann");
  expect(asked.searchParams.get("client_id")).toBe("named-client");
  expect(asked.searchParams.get("redirect_uri")).toBe(callbackOf(issuer.url));
  await put({ toolkitSlug: "named", clientId: "own-client", clientSecret: secret });
  expect((await consent("named", "ann")).asked.searchParams.get("client_id")).toBe("own-client");
});

test("the secret goes to the token endpoint for which it was stored, and to no other that a definition names later", async () => {
  const scheme = { issuer: issuer.url, resource: issuer.url };
  await publish("moved", scheme);
  await put({ toolkitSlug: "moved", clientId: "moved-client", clientSecret: secret });
  const { authorizeUrl } = await connect(svc, "moved", { entityId: "ann", scheme: "oauth2" });
  const browser = openBrowser();
  const asked = new URL((await browser.open(authorizeUrl)).location);
  issuer.seen.length = 0;
  const others = [{ tokenUrl: `${issuer.url}/other/token` }, { issuer: "https://other.example.com" }];
  for (const other of others) {
    await publish("moved", { ...scheme, ...other });
    expect(await isConnectable("moved")).toBe(false);
    expect((await call("ConnectionsService/InitiateConnection", { ...first(), toolkitSlug: "moved" })).reason).toBe(
      "TOOLKIT_NOT_CONNECTABLE",
    );
  }
  const back = new URL(asked.searchParams.get("redirect_uri") ?? "");
  back.search = new URLSearchParams({ code: "ann", state: asked.searchParams.get("state") ?? "" }).toString();
  expect((await browser.open(back.href)).text).toContain("cannot be connected");
  expect(issuer.seen).toEqual([]);
  await publish("moved", scheme);
  expect(await isConnectable("moved")).toBe(true);
});

test("an import does not replace the client of another issuer", async () => {
  changes = { registration_endpoint: `${issuer.url}/register` };
  registered = { client_id: "made", token_endpoint_auth_method: "none" };
  await publish("mine", { issuer: "https://login.example.com" });
  await put({ toolkitSlug: "mine", clientId: "kept-client", clientSecret: secret });
  const refused = await importMcp("mine", { replace: true });
  expect(refused.reason).toBe("UPSTREAM_NEEDS_CLIENT");
  expect(JSON.stringify(refused.json)).toContain("https://login.example.com");
  const rows = await svc.database.db.sql`select client_id from toolkit_clients where slug = 'mine'`;
  expect(rows).toEqual([{ client_id: "kept-client" }]);
});

test.each([
  ["an unknown toolkit without an issuer", { toolkitSlug: "none", clientId: "c" }, "PRIVATE_TOOLKIT_NOT_FOUND"],
  ["a name that is not a slug", { toolkitSlug: "No!", clientId: "c", issuer: "URL" }, "PRIVATE_TOOLKIT_NOT_FOUND"],
  ["a shared toolkit", { toolkitSlug: "calendar", clientId: "c" }, "PRIVATE_TOOLKIT_NOT_FOUND"],
  ["no client id", { toolkitSlug: "shop" }, "CREDENTIAL_MISSING"],
  ["a secret with a line break", { toolkitSlug: "shop", clientId: "c", clientSecret: "a\nb" }, "CREDENTIAL_INVALID"],
  ["a client id that is too long", { toolkitSlug: "shop", clientId: "c".repeat(2_001) }, "CREDENTIAL_INVALID"],
  ["an issuer that is no address", { toolkitSlug: "none", clientId: "c", issuer: "login" }, "ISSUER_UNUSABLE"],
  ["a private address", { toolkitSlug: "none", clientId: "c", issuer: "https://10.0.0.1" }, "ISSUER_UNUSABLE"],
  ["another issuer than its metadata names", { toolkitSlug: "none", clientId: "c", issuer: "PATH" }, "ISSUER_UNUSABLE"],
])("a client for %s is refused", async (_what, request, reason) => {
  const { issuer: named } = { issuer: "", ...request };
  const address = named === "URL" ? issuer.url : named === "PATH" ? `${issuer.url}/` : named;
  expect((await put({ ...request, issuer: address })).reason).toBe(reason);
});

test("a client is refused if the toolkit names another token endpoint than its issuer", async () => {
  await publish("astray", { issuer: issuer.url, tokenUrl: `${issuer.url}/other/token` });
  const request = { toolkitSlug: "astray", clientId: "c", clientSecret: secret };
  expect((await put(request)).reason).toBe("ISSUER_UNUSABLE");
  await publish("astray", { issuer: issuer.url });
  expect((await put(request)).code).toBe("ok");
  expect((await remove("astray")).code).toBe("ok");
});

test("the client of a project serves no other project", async () => {
  const other = await addProject(svc, "other");
  await publish("shop", {}, other.approver);
  const asked = { toolkitSlug: "shop", entityId: "ann", scheme: "oauth2" };
  const started = await call("ConnectionsService/InitiateConnection", asked, other.member);
  expect(started.reason).toBe("TOOLKIT_NOT_CONNECTABLE");
  expect((await remove("shop", other.approver)).reason).toBe("TOOLKIT_CLIENT_NOT_FOUND");
  await put({ toolkitSlug: "shop", clientId: "theirs" }, other.approver);
  expect((await consent("shop", "bob")).asked.searchParams.get("client_id")).toBe("shop-client");
  expect((await put({ toolkitSlug: "shop", clientId: "c" }, other.member)).reason).toBe("ROLE_REQUIRED");
});

test("the client is deleted with its toolkit", async () => {
  const count = () => svc.database.db.sql`select slug from toolkit_clients where slug = 'tracker'`;
  expect(await count()).toHaveLength(1);
  expect((await call("CatalogService/DeleteToolkit", { slug: "tracker" })).code).toBe("ok");
  expect(await count()).toEqual([]);
});

test("the secret is in no answer, no line of the log, no audit row and no text of the database", async () => {
  const rows = await svc.database.db.sql`
    select row_to_json(e)::text as text from audit_events e
    union all select row_to_json(c)::text from toolkit_clients c
    union all select row_to_json(a)::text from connected_accounts a`;
  const texts = [...answers, ...svc.logs, ...rows.map(({ text }) => String(text))];
  expect(rows.some(({ text }) => String(text).includes("PutToolkitClient"))).toBe(true);
  expect(texts.filter((text) => text.includes(secret))).toEqual([]);
});
