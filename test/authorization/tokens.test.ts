import { askMcp, createPerson, letIn, postJson, registerAgent } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
});
afterAll(() => svc.stop());

/** Returns an agent that was given access, with its first tokens. */
async function agentInside() {
  const agent = await registerAgent(svc.url);
  const answer = await letIn(svc, agent);
  const code = answer.get("code") ?? "";
  const { json } = await agent.change(code);
  return { agent, code, tokens: json };
}

const invalid = { status: 400, json: expect.objectContaining({ error: "invalid_grant" }) };

test("from nothing but the address to a list of tools: the refusal says where to ask, and each answer the next step", async () => {
  const refused = await askMcp(svc.url, "", "tools/list");
  expect(refused.status).toBe(401);
  const challenge = refused.headers.get("www-authenticate") ?? "";
  const address = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "";
  expect(challenge).toContain('scope="read write"');
  const resource = await (await fetch(address)).json();
  expect(resource).toMatchObject({ resource: `${svc.url}/mcp`, authorization_servers: [svc.url] });
  const issuer = await (await fetch(`${svc.url}/.well-known/oauth-authorization-server`)).json();
  expect(issuer).toMatchObject({
    issuer: svc.url,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  });
  const { agent, tokens } = await agentInside();
  expect(tokens).toMatchObject({ token_type: "Bearer", expires_in: 3_600 });
  expect(tokens.scope).toBe("read write");
  // biome-ignore lint/suspicious/noExplicitAny: whatever is answered
  const listed: any = await (await askMcp(svc.url, tokens.access_token, "tools/list")).json();
  expect(listed.result.tools.map(({ name }: { name: string }) => name)).toContain("call_tool");
  expect(await agent.refresh(tokens.refresh_token)).toMatchObject({ status: 200 });
});

test("a code is changed once: shown again it ends what it was changed into", async () => {
  const { agent, code, tokens } = await agentInside();
  expect((await askMcp(svc.url, tokens.access_token, "tools/list")).status).toBe(200);
  expect(await agent.change(code)).toMatchObject(invalid);
  expect((await askMcp(svc.url, tokens.access_token, "tools/list")).status).toBe(401);
  expect(await agent.refresh(tokens.refresh_token)).toMatchObject(invalid);
});

test("a refresh token is changed once: shown again it ends the whole family", async () => {
  const { agent, tokens } = await agentInside();
  const next = await agent.refresh(tokens.refresh_token);
  expect(next.status).toBe(200);
  expect(next.json.access_token).not.toBe(tokens.access_token);
  expect((await askMcp(svc.url, next.json.access_token, "tools/list")).status).toBe(200);
  expect(await agent.refresh(tokens.refresh_token)).toMatchObject(invalid);
  expect((await askMcp(svc.url, next.json.access_token, "tools/list")).status).toBe(401);
  expect(await agent.refresh(next.json.refresh_token)).toMatchObject(invalid);
});

test("a token is good at the address of MCP alone, and no key is a token", async () => {
  const { tokens } = await agentInside();
  const call = await svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: tokens.access_token });
  expect(call).toMatchObject({ status: 401, reason: "API_KEY_INVALID" });
  // The same service under another host name is another OAuth resource.
  const other = svc.url.replace("127.0.0.1", "localhost");
  const elsewhere = await askMcp(other, tokens.access_token, "tools/list");
  expect(elsewhere.status).toBe(401);
  expect(elsewhere.headers.get("www-authenticate")).toContain('error="invalid_token"');
  expect((await askMcp(svc.url, tokens.refresh_token, "tools/list")).status).toBe(401);
  expect((await askMcp(svc.url, svc.key, "tools/list")).status).toBe(200);
});

test("codes and tokens are of one client, one address and one verifier", async () => {
  const stranger = await registerAgent(svc.url);
  for (const changes of [
    { client_id: stranger.clientId },
    { redirect_uri: "http://127.0.0.1:7777/other" },
    { code_verifier: "a".repeat(43) },
  ]) {
    const agent = await registerAgent(svc.url);
    const code = (await letIn(svc, agent)).get("code") ?? "";
    expect(await agent.change(code, changes)).toMatchObject(invalid);
    // After a wrong attempt, the right code is refused as well, so an attacker can guess only once.
    expect(await agent.change(code)).toMatchObject(invalid);
  }
  const { agent, tokens } = await agentInside();
  expect(await agent.refresh(tokens.refresh_token, { client_id: stranger.clientId })).toMatchObject(invalid);
  const target = await agent.refresh(tokens.refresh_token, { resource: "https://other.example/mcp" });
  expect(target).toMatchObject({ status: 400, json: { error: "invalid_target" } });
  expect((await agent.refresh(tokens.refresh_token)).status).toBe(200);
});

test("a client gets an id and no secret, for addresses that may be led to", async () => {
  const register = (body: object) => postJson(`${svc.url}/oauth/register`, body);
  const asked = { redirect_uris: ["https://agent.example/cb"], token_endpoint_auth_method: "client_secret_basic" };
  const made = await register(asked);
  expect(made).toMatchObject({ status: 201, json: { token_endpoint_auth_method: "none" } });
  expect(made.json.client_secret).toBeUndefined();
  const bad = [
    "http://agent.example/cb",
    "javascript:alert(1)",
    "https://a.example/#x",
    "https://u:p@a.example/",
    "/cb",
  ];
  for (const uri of bad)
    expect(await register({ redirect_uris: [uri] })).toMatchObject({
      status: 400,
      json: { error: "invalid_redirect_uri" },
    });
  expect(await register({})).toMatchObject({ status: 400, json: { error: "invalid_redirect_uri" } });
});

test("a call beyond the grant is refused with the scopes that it needs; a key is told so in the answer", async () => {
  const agent = await registerAgent(svc.url);
  const answer = await letIn(svc, agent, { access: "read", toolkit: ["calendar"] });
  const { json: tokens } = await agent.change(answer.get("code") ?? "");
  const call = (slug: string) => ({ name: "call_tool", arguments: { slug, arguments: {}, dry_run: true } });
  const refused = await askMcp(svc.url, tokens.access_token, "tools/call", call("sales_crm.delete_deal"));
  expect(refused.status).toBe(403);
  const challenge = refused.headers.get("www-authenticate") ?? "";
  expect(challenge).toContain('error="insufficient_scope"');
  expect(challenge).toContain('scope="read destructive toolkit:calendar toolkit:sales_crm"');
  // The client asks for the scopes that the answer named, and the page preselects them.
  const person = createPerson(svc.url);
  const scope = /scope="([^"]+)"/.exec(challenge)?.[1] ?? "";
  const asked = await person.open(agent.authorizeUrl({ scope }));
  const decided = await person.send(asked, "key", { key: svc.key, decision: "next" });
  const chosen = [...decided.html.matchAll(/value="(\w+)" checked/g)].map(([, value]) => value);
  expect(chosen.toSorted()).toEqual(["calendar", "destructive", "read", "sales_crm"]);
});

test("a grant is bound as the person chose, and as the person's own key is", async () => {
  const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
  const made = await svc.admin("CreateApiKey", {
    ...{ projectId, role: "ROLE_MEMBER", name: "ada's", entityId: "ada" },
    ...{ accessClasses: ["read", "write"], toolkitSlugs: ["calendar", "sales_crm"] },
  });
  const agent = await registerAgent(svc.url);
  const choice = { access: ["read", "destructive"], toolkit: "calendar", entity: "bob" };
  const answer = await letIn({ url: svc.url, key: made.json.key }, agent, choice);
  const tokens = await agent.change(answer.get("code") ?? "");
  // Scopes that the person's key does not have are not granted.
  expect(tokens.json.scope).toBe("read toolkit:calendar");
  const calls = await svc.admin("ListApiKeys", { projectId });
  expect(calls.json.apiKeys[0]).toMatchObject({
    ...{ name: "Test agent", role: "ROLE_MEMBER", entityId: "ada" },
    ...{ accessClasses: ["read"], toolkitSlugs: ["calendar"] },
  });
  // If the key of a person ends, the grants that were given with it end as well.
  expect((await askMcp(svc.url, tokens.json.access_token, "tools/list")).status).toBe(200);
  await svc.admin("RevokeApiKey", { id: made.json.apiKey.id });
  expect((await askMcp(svc.url, tokens.json.access_token, "tools/list")).status).toBe(401);
  expect(await agent.refresh(tokens.json.refresh_token)).toMatchObject(invalid);
});

test("what is past its time opens nothing: a code, an access token, a refresh token", async () => {
  const { db } = svc.database;
  const agent = await registerAgent(svc.url);
  const code = (await letIn(svc, agent)).get("code") ?? "";
  await db.sql`update grant_codes set expires_at = now() where spent_at is null`;
  expect(await agent.change(code)).toMatchObject(invalid);
  const { agent: inside, tokens } = await agentInside();
  await db.sql`update grant_tokens set expires_at = now() where kind = 'access'`;
  const late = await askMcp(svc.url, tokens.access_token, "tools/list");
  expect(late.status).toBe(401);
  expect(late.headers.get("www-authenticate")).toContain('error="invalid_token"');
  const next = await inside.refresh(tokens.refresh_token);
  expect((await askMcp(svc.url, next.json.access_token, "tools/list")).status).toBe(200);
  await db.sql`update grant_tokens set expires_at = now() where kind = 'refresh'`;
  expect(await inside.refresh(next.json.refresh_token)).toMatchObject(invalid);
});

test("whoever registers many is told to wait, and pushes out only clients that nobody let in", async () => {
  const register = () =>
    fetch(`${svc.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: ["https://agent.example/cb"] }),
    });
  let last = await register();
  for (let tries = 0; tries < 25 && last.status === 201; tries++) last = await register();
  expect(last.status).toBe(429);
  expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
});
