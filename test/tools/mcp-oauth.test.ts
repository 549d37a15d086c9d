import { createHash } from "node:crypto";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { type McpEra, startMcpServer, type TestMcpServer } from "./mcp-server.ts";
import { callTool, connect } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// An MCP server that wants OAuth: svc finds its issuer, gets a client of its own there, and each call carries its user's token.

let app: TestMcpServer;
let issuer: Provider;
let svc: TestServer;
/** Challenges (PKCE) of the consents by code. */
const challenges = new Map<string, string>();
/** Values of the header Authorization in all requests to the MCP server, also those that only list its tools. */
const sentTokens = new Set<string>();
/** Changes of the issuer's metadata. */
let changes: Record<string, unknown> = {};

const metadata = () => ({
  issuer: issuer.url,
  authorization_endpoint: `${issuer.url}/authorize`,
  token_endpoint: `${issuer.url}/token`,
  registration_endpoint: `${issuer.url}/register`,
  code_challenge_methods_supported: ["S256"],
});

const importMcp = (slug: string, more: object = {}) =>
  svc.call("svc.v1.CatalogService/ImportToolkit", { mcp: { url: app.url }, slug, ...more });

/** The address to which this issuer sends browsers back. */
const callbackOf = (base: string, url: string) =>
  `${base}/oauth/callback/${createHash("sha256").update(url).digest("hex").slice(0, 16)}`;

/**
 * Connects an account of an entity as a person does who gives consent. `iss`: issuer that the answer names; empty for none. `returned`: the
 * address to which the browser comes back. Default: the one in the request. Returns the text of the last page.
 */
async function consent(toolkit: string, entityId: string, iss = issuer.url, returned?: string): Promise<string> {
  const { authorizeUrl } = await connect(svc, toolkit, { entityId, scheme: "oauth2" });
  const browser = openBrowser();
  const asked = new URL((await browser.open(authorizeUrl)).location);
  expect(`${asked.origin}${asked.pathname}`).toBe(`${issuer.url}/authorize`);
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    ...{ client_id: "client-1", resource: app.url, scope: "issues", code_challenge_method: "S256" },
  });
  challenges.set(entityId, asked.searchParams.get("code_challenge") ?? "");
  expect(asked.searchParams.get("redirect_uri")).toBe(callbackOf(svc.url, issuer.url));
  const back = new URL(returned ?? asked.searchParams.get("redirect_uri") ?? "");
  for (const [name, value] of Object.entries({ code: entityId, state: asked.searchParams.get("state") ?? "", iss }))
    if (value !== "") back.searchParams.set(name, value);
  return (await browser.open(back.href)).text;
}

describe.each<McpEra>(["2025-11-25", "2026-07-28"])("an MCP server of %s that wants OAuth", (era) => {
  beforeAll(async () => {
    issuer = await startProvider();
    app = await startMcpServer(era, [
      {
        name: "whoami",
        description: "Says who calls.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      },
    ]);
    svc = await startTestServer({ variables: { SVC_SANDBOX: "off" } });
    const { origin } = new URL(app.url);
    app.metadata["/.well-known/oauth-protected-resource"] = () =>
      JSON.stringify({ resource: app.url, authorization_servers: [issuer.url], scopes_supported: ["issues"] });
    app.challenge = {
      "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
    };
    sentTokens.clear();
    app.isAuthorized = ({ authorization = "" }) => {
      sentTokens.add(authorization);
      return authorization.startsWith("Bearer token-of-");
    };
    app.run = ({ headers }) => ({ content: [{ type: "text", text: headers.authorization ?? "" }] });
    issuer.answer = ({ path, body }, res) => {
      if (path === "/.well-known/oauth-authorization-server") return reply(res, { ...metadata(), ...changes });
      if (path === "/register") return reply(res, { client_id: "client-1", token_endpoint_auth_method: "none" });
      if (path !== "/token") return reply(res, {}, { status: 404 });
      const form = Object.fromEntries(new URLSearchParams(body));
      const isProven =
        createHash("sha256")
          .update(form["code_verifier"] ?? "")
          .digest("base64url") === challenges.get(form["code"] ?? "");
      if (!isProven || form["client_id"] !== "client-1" || form["resource"] !== app.url)
        return reply(res, { error: "invalid_grant" }, { status: 400 });
      reply(res, { access_token: `token-of-${form["code"]}`, token_type: "bearer", expires_in: 3600 });
    };
  });
  afterAll(async () => {
    await svc?.stop();
    await app?.close();
    await issuer?.close();
  });

  test("svc registers a client once, lists the tools with the first account, and each call carries its own user's token", async () => {
    const first = await importMcp("guarded");
    expect(first.json, JSON.stringify(first.json)).toMatchObject({
      toolkit: { authSchemes: ["oauth2"], connectable: true },
      report: { operations: 0 },
    });
    expect(await consent("guarded", "ann")).toContain("Connected");
    const second = await importMcp("guarded", { replace: true });
    expect(second.json.report, JSON.stringify(second.json)).toMatchObject({ operations: 1, readTools: 1 });
    expect(await consent("guarded", "bob")).toContain("Connected");
    for (const entityId of ["ann", "bob", "ann"]) {
      const { outcome } = await callTool(svc, "guarded.whoami", {}, { entityId });
      expect(outcome).toBe("ok");
    }
    expect(app.calls.map(({ headers }) => headers.authorization)).toEqual(
      ["ann", "bob", "ann"].map((code) => `Bearer token-of-${code}`),
    );
    // No other token leaves: neither a key of svc, nor the token of a user to the issuer.
    expect(sentTokens).toEqual(new Set(["", "Bearer token-of-ann", "Bearer token-of-bob"]));
    expect(issuer.seen.map(({ headers }) => headers.authorization)).toEqual(issuer.seen.map(() => undefined));
    expect(JSON.stringify([issuer.seen, app.calls])).not.toContain(svc.key);
    const registered = issuer.seen.filter(({ path }) => path === "/register");
    expect(registered.map(({ body }) => JSON.parse(body).application_type)).toEqual(["native"]);
  });

  test("an account is connected also if the read of the tools cannot be made due", async () => {
    const slug = "slowly";
    expect((await importMcp(slug)).json.report).toMatchObject({ operations: 0 });
    const { sql } = svc.database.db;
    await sql.unsafe(`create function refuse_source() returns trigger language plpgsql as $$ begin
    raise exception 'refused'; end $$; create trigger refuse_source before update on toolkit_sources
    for each row when (new.slug = '${slug}') execute function refuse_source()`);
    try {
      expect(await consent(slug, "ann")).toContain("Connected");
    } finally {
      await sql.unsafe("drop trigger refuse_source on toolkit_sources; drop function refuse_source");
    }
  });

  test("a minute after the first account svc reads the tools, and an approver accepts them with their classes", async () => {
    const slug = "listed";
    expect((await importMcp(slug)).json.report).toMatchObject({ operations: 0 });
    const minutesLeft = async () => {
      const [row] = await svc.database.db.sql<{ left: number }[]>`
      select extract(epoch from next_at - now())::float8 / 60 as left from toolkit_sources where slug = ${slug}`;
      return row?.left;
    };
    expect(await minutesLeft()).toBeGreaterThan(60);
    expect(await consent(slug, "ann")).toContain("Connected");
    expect(await minutesLeft()).toBeLessThanOrEqual(1);
    const call = (name: string, request: object) => svc.call(`svc.v1.CatalogService/${name}`, { slug, ...request });
    const { changes } = (await call("RefreshToolkit", {})).json;
    expect(changes).toMatchObject({ added: [{ name: "whoami", class: "read" }], gone: [] });
    const overrides = [{ match: "whoami", class: "write" }];
    const accepted = await call("AcceptToolkitChanges", { digest: changes.digest, overrides });
    expect(accepted.json, JSON.stringify(accepted.json)).toMatchObject({ toolkit: { changesWaiting: 0 } });
    const projectId = accepted.json.toolkit.ownerProjectId;
    const { tool } = (await svc.call("svc.v1.CatalogService/GetTool", { slug: `${slug}.whoami`, projectId })).json;
    expect(tool).toMatchObject({ accessClass: "write" });
    app.calls.length = 0;
    expect(await callTool(svc, `${slug}.whoami`, {}, { entityId: "ann" })).toMatchObject({ outcome: "ok" });
  });

  test("the answer of another issuer connects nothing", async () => {
    expect(await consent("guarded", "eve", "https://other.example.com")).toContain("another issuer");
    expect((await callTool(svc, "guarded.whoami", {}, { entityId: "eve" })).outcome).toBe("no_account");
  });

  test("a code that comes back to the address of another issuer, or to none, is not exchanged", async () => {
    issuer.seen.length = 0;
    const others = [callbackOf(svc.url, "https://other.example.com"), `${svc.url}/oauth/callback`];
    for (const other of others) expect(await consent("guarded", "eve", "", other)).toContain("another issuer");
    expect(issuer.seen.map(({ path }) => path)).not.toContain("/token");
    changes = { authorization_response_iss_parameter_supported: true };
    expect(await consent("guarded", "eve", "")).toContain("does not name its issuer");
    changes = {};
    expect(issuer.seen.map(({ path }) => path)).not.toContain("/token");
    expect(await consent("guarded", "fay", "")).toContain("Connected");
    const token = issuer.seen.find(({ path }) => path === "/token");
    expect(new URLSearchParams(token?.body).get("redirect_uri")).toBe(callbackOf(svc.url, issuer.url));
  });

  test("a trial registers no client", async () => {
    issuer.seen.length = 0;
    expect((await importMcp("tried", { dryRun: true })).json.toolkit).toMatchObject({ authSchemes: ["oauth2"] });
    expect(issuer.seen.map(({ path }) => path)).not.toContain("/register");
  });

  test.each([
    ["that names another issuer", { issuer: "https://other.example.com" }, "names another issuer"],
    ["without PKCE", { code_challenge_methods_supported: undefined }, "does not offer PKCE"],
    ["without https endpoints", { token_endpoint: "http://10.0.0.1/token" }, "has no https endpoints"],
    ["without registration", { registration_endpoint: undefined }, "registers no clients by itself"],
  ])("an issuer %s is refused with what is wrong", async (_what, wrong, why) => {
    changes = wrong;
    const refused = await importMcp("refused");
    changes = {};
    expect(refused).toMatchObject({ reason: "UPSTREAM_NEEDS_CLIENT" });
    expect(JSON.stringify(refused.json)).toContain(why);
  });

  test("a server whose metadata is for another resource is refused", async () => {
    const before = app.metadata["/.well-known/oauth-protected-resource"];
    app.metadata["/.well-known/oauth-protected-resource"] = () =>
      JSON.stringify({ resource: "https://bank.example.com/", authorization_servers: [issuer.url] });
    const refused = await importMcp("refused");
    if (before !== undefined) app.metadata["/.well-known/oauth-protected-resource"] = before;
    expect(JSON.stringify(refused.json)).toContain("for another resource");
  });

  test("with a public https address, an issuer that takes client id metadata documents gets the project's document", async () => {
    const open = await startTestServer({
      variables: { SVC_SANDBOX: "off", SVC_PUBLIC_URL: "https://svc.example.com", SVC_PROVIDER_CIDRS: "127.0.0.1/32" },
    });
    changes = { client_id_metadata_document_supported: true, registration_endpoint: undefined };
    const { json } = await open.call("svc.v1.CatalogService/ImportToolkit", { mcp: { url: app.url }, slug: "guarded" });
    changes = {};
    expect(json.toolkit, JSON.stringify(json)).toMatchObject({ slug: "guarded" });
    const { authorizeUrl } = await connect(open, "guarded", { entityId: "ann", scheme: "oauth2" });
    const started = await openBrowser().open(authorizeUrl.replace("https://svc.example.com", open.url));
    const clientId = new URL(started.location).searchParams.get("client_id") ?? "";
    const callback = callbackOf("https://svc.example.com", issuer.url);
    const key = callback.slice(-16);
    expect(clientId).toBe(`https://svc.example.com/oauth/clients/${json.toolkit.ownerProjectId}-${key}.json`);
    const document = await fetch(clientId.replace("https://svc.example.com", open.url));
    expect(await document.json()).toMatchObject({
      client_id: clientId,
      redirect_uris: [callback],
      application_type: "web",
      token_endpoint_auth_method: "none",
    });
    for (const name of ["none", json.toolkit.ownerProjectId])
      expect((await fetch(`${open.url}/oauth/clients/${name}.json`)).status).toBe(404);
    await open.stop();
  });

  test("a token that the server refuses is renewed once: a read is sent again, a write is not", async () => {
    const tool = (name: string, annotations: object) => ({
      ...{ name, description: `Does ${name}.`, inputSchema: { type: "object" }, annotations },
    });
    const tools = [tool("look", { readOnlyHint: true }), tool("change", { destructiveHint: false })];
    const guarded = await startMcpServer(era, tools);
    const { origin } = new URL(guarded.url);
    guarded.metadata["/.well-known/oauth-protected-resource"] = () =>
      JSON.stringify({ resource: guarded.url, authorization_servers: [issuer.url] });
    guarded.challenge = {
      "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
    };
    let tokens = 0;
    let accepted = "";
    guarded.isAuthorized = ({ authorization = "" }) => authorization === `Bearer ${accepted}`;
    const { answer } = issuer;
    issuer.answer = (request, res) => {
      if (request.path !== "/token") return answer(request, res);
      reply(res, { access_token: `token-${++tokens}`, refresh_token: "again", token_type: "bearer", expires_in: 3600 });
    };
    const slug = `renewed_${era.slice(0, 4)}`;
    const mcp = { url: guarded.url };
    expect((await svc.call("svc.v1.CatalogService/ImportToolkit", { mcp, slug })).code).toBe("ok");
    const { authorizeUrl } = await connect(svc, slug, { scheme: "oauth2" });
    const browser = openBrowser();
    const asked = new URL((await browser.open(authorizeUrl)).location);
    const back = new URL(asked.searchParams.get("redirect_uri") ?? "");
    const answered = { code: "ann", state: asked.searchParams.get("state") ?? "", iss: issuer.url };
    for (const [name, value] of Object.entries(answered)) back.searchParams.set(name, value);
    expect((await browser.open(back.href)).text).toContain("Connected");
    accepted = "token-1";
    const again = await svc.call("svc.v1.CatalogService/ImportToolkit", { mcp, slug, replace: true });
    expect(again.json.report, JSON.stringify(again.json)).toMatchObject({ readTools: 1, writeTools: 1 });
    expect(await callTool(svc, `${slug}.look`)).toMatchObject({ outcome: "ok" });

    accepted = "token-2";
    expect(await callTool(svc, `${slug}.look`)).toMatchObject({ outcome: "ok" });
    accepted = "token-3";
    expect(await callTool(svc, `${slug}.change`)).toMatchObject({ outcome: "account_unusable", retryable: true });
    expect(await callTool(svc, `${slug}.change`)).toMatchObject({ outcome: "ok" });
    accepted = "none";
    expect(await callTool(svc, `${slug}.look`)).toMatchObject({ outcome: "account_unusable" });
    expect(guarded.calls.map(({ name }) => name)).toEqual(["look", "look", "change"]);
    issuer.answer = answer;
    await guarded.close();
  });
});
