import type { JsonObject } from "@svc/core";
import type { TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PersonSession, signIn } from "./browser.ts";
import { type PeopleServer, startPeopleServer } from "./server.ts";

// The two ways in which programs work for a person: `svc login --browser` (RFC 8628), and an MCP client with an assertion of the provider.

let people: PeopleServer;
let svc: TestServer;
beforeAll(async () => {
  people = await startPeopleServer();
  ({ svc } = people);
});
afterAll(() => people?.stop());

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
const post = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${svc.url}${path}`, { method: "POST", body: new URLSearchParams(fields), headers });
  const text = await answer.text();
  return { status: answer.status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined };
};
const begin = async () => (await post("/oauth/device_authorization", { client_name: "svc on a test" })).json;
const take = (code: string) =>
  post("/oauth/token", { grant_type: deviceGrant, device_code: code, client_id: "svc-cli" });
const decide = (session: PersonSession, code: string, decision: string) =>
  post(
    "/oauth/device",
    { code, decision, half: session.half, seat: session.seats[0].keyId },
    { cookie: session.cookie, origin: svc.url },
  );
const whoAmI = (bearer: string) => svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer });

test("a program that a signed-in person approves gets one key with the role of the person", async () => {
  people.account("ada", ["audit"]);
  const session = await signIn(svc);
  const started = await begin();
  expect(started).toMatchObject({
    user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
    expires_in: 600,
    interval: 5,
  });
  expect(started.verification_uri_complete).toBe(`${svc.url}/oauth/device#${started.user_code}`);
  expect((await take(started.device_code)).json.error).toBe("authorization_pending");
  const typed = started.user_code.toLowerCase().replace("-", " ");
  expect((await decide(session, typed, "allow")).text).toContain("svc on a test is signed in");
  const { json } = await take(started.device_code);
  expect(json).toMatchObject({ token_type: "Bearer", access_token: expect.stringMatching(/^svc_/) });
  expect((await whoAmI(json.access_token)).json.role).toBe("ROLE_VIEWER");
  expect((await take(started.device_code)).json.error).toBe("access_denied");
  expect((await decide(session, typed, "allow")).status).toBe(401);

  people.provider.accounts.delete("ada");
  await people.checkPeople();
  await until(async () => (await whoAmI(json.access_token)).status === 401);
});

test("a denied, an unknown and an expired sign-in of a program give no key, and a page of another site cannot approve", async () => {
  people.account("bob", ["dev"]);
  const session = await signIn(svc);
  const denied = await begin();
  expect((await decide(session, denied.user_code, "deny")).text).toContain("The program was denied");
  expect((await take(denied.device_code)).json.error).toBe("access_denied");
  expect((await take("unknown")).json.error).toBe("expired_token");
  const foreign = await begin();
  const fields = { code: foreign.user_code, decision: "allow", half: session.half, seat: session.seats[0].keyId };
  const answer = await post("/oauth/device", fields, { cookie: session.cookie, origin: "https://evil.example" });
  expect(answer.status).toBe(403);
  const withoutCookie = await post("/oauth/device", fields, { origin: svc.url });
  expect(withoutCookie.status).toBe(401);
  expect((await take(foreign.device_code)).json.error).toBe("authorization_pending");
  await svc.database.db.sql.unsafe("update device_codes set expires_at = now()");
  expect((await take(foreign.device_code)).json.error).toBe("expired_token");
});

test("a program gets no key if the access of the person ends at the same time", async () => {
  people.account("finn", ["dev"]);
  const session = await signIn(svc);
  const started = await begin();
  await decide(session, started.user_code, "allow");
  const { sql } = svc.database.db;
  let taken: ReturnType<typeof take> | undefined;
  await sql.begin(async (tx) => {
    await tx.unsafe(
      `update api_keys k set revoked_at = now() from person_seats s join people p on p.id = s.person_id
       where p.subject = 'finn' and k.id = s.key_id`,
    );
    taken = take(started.device_code);
    await until(async () => (await sql.unsafe("select 1 from pg_locks where not granted")).length > 0);
  });
  expect((await taken)?.json.error).toBe("access_denied");
});

const type = "oauth-id-jag+jwt";
const jagGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
let jti = 0;

async function registerClient(): Promise<string> {
  const answer = await fetch(`${svc.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "an agent", redirect_uris: ["http://127.0.0.1:1/callback"] }),
  });
  return ((await answer.json()) as { client_id: string }).client_id;
}

function claimsFor(clientId: string, sub: string) {
  const iat = Math.floor(Date.now() / 1_000);
  return { aud: svc.url, client_id: clientId, sub, jti: `jti-${++jti}`, iat, exp: iat + 300 };
}
const exchange = async (clientId: string, assertion: string, more = {}) =>
  post("/oauth/token", { grant_type: jagGrant, client_id: clientId, assertion, ...more });
const listTools = async (token: string) =>
  fetch(`${svc.url}/mcp`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });

test("an assertion of the provider gives an MCP client a token of the person for five minutes, and no refresh token", async () => {
  people.account("carol", ["dev"]);
  await signIn(svc);
  const clientId = await registerClient();
  const metadata = (await (await fetch(`${svc.url}/.well-known/oauth-authorization-server`)).json()) as JsonObject;
  expect(metadata["grant_types_supported"]).toEqual(expect.arrayContaining([jagGrant, deviceGrant]));
  const { status, json } = await exchange(clientId, await people.provider.sign(claimsFor(clientId, "carol"), type));
  expect([status, json]).toEqual([
    200,
    { access_token: expect.stringMatching(/^svcat_/), token_type: "Bearer", expires_in: 300, scope: "read write" },
  ]);
  expect((await listTools(json.access_token)).status).toBe(200);
  const again = await exchange(clientId, await people.provider.sign(claimsFor(clientId, "carol"), type));
  expect(again.status).toBe(200);
  const { grants } = (await svc.call("svc.v1.GrantsService/ListGrants")).json;
  expect(grants.filter((grant: { clientId: string }) => grant.clientId === clientId)).toHaveLength(1);
  const { events } = (await svc.admin("ListAuditEvents", { action: "GrantAssertion.Exchange" })).json;
  expect(events[0].actor).toMatch(/^per_/);

  people.provider.accounts.delete("carol");
  await people.checkPeople();
  await until(async () => (await listTools(json.access_token)).status === 401);
});

test("an assertion is refused if it is replayed, foreign, old, of another type, or for another client, service or person", async () => {
  people.account("dora", ["dev"]);
  await signIn(svc);
  const [clientId, otherId] = [await registerClient(), await registerClient()];
  const good = claimsFor(clientId, "dora");
  const sign = (claims: object, typ = type) => people.provider.sign({ ...good, jti: `jti-${++jti}`, ...claims }, typ);
  const refused = async (assertion: string, client = clientId) => {
    const { status, json } = await exchange(client, assertion);
    return [status, json.error];
  };
  const once = await sign({});
  expect((await exchange(clientId, once)).status).toBe(200);
  expect(await refused(once)).toEqual([400, "invalid_grant"]);
  expect(await refused(await sign({}), otherId)).toEqual([400, "invalid_grant"]);
  expect(await refused(await sign({}, "JWT"))).toEqual([400, "invalid_grant"]);
  expect(await refused(await sign({ aud: "https://other.example" }))).toEqual([400, "invalid_grant"]);
  expect(await refused(await sign({ iss: "https://other.example" }))).toEqual([400, "invalid_grant"]);
  expect(await refused(await sign({ iat: good.iat - 4_000, exp: good.iat - 3_600 }))).toEqual([400, "invalid_grant"]);
  expect(await refused(await sign({ sub: "a-stranger" }))).toEqual([400, "invalid_grant"]);
  expect(await refused(await sign({ resource: "https://other.example/mcp" }))).toEqual([400, "invalid_target"]);
  const former = await sign({});
  await people.provider.rotateKeys();
  await until(async () => (await exchange(clientId, await sign({}))).status === 200);
  expect(await refused(former)).toEqual([400, "invalid_grant"]);
});

test("the form of an assertion gets no more than the scope that the provider signed, and another scope another grant", async () => {
  people.account("gina", ["dev"]);
  await signIn(svc);
  const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
  const clientId = await registerClient();
  const scopeOf = async (scope: string | undefined, asked?: string) => {
    const claims = { ...claimsFor(clientId, "gina"), ...(scope !== undefined && { scope }) };
    const assertion = await people.provider.sign(claims, type);
    const { json } = await exchange(clientId, assertion, asked === undefined ? {} : { scope: asked });
    return json.scope ?? json.error;
  };
  expect(await scopeOf("read write destructive")).toBe("read write destructive");
  expect(await scopeOf("read")).toBe("read");
  expect(await scopeOf("read write", "read")).toBe("read");
  expect(await scopeOf("read", "read write")).toBe("invalid_scope");
  expect(await scopeOf(undefined, "destructive")).toBe("invalid_scope");
  expect(await scopeOf(undefined, `write project:${projectId}`)).toBe("write");
  expect(await scopeOf(`read project:${projectId}`)).toBe("read");
  const other = "project:prj_00000000000000000000000000";
  expect(await scopeOf(`read project:${projectId}`, other)).toBe("invalid_scope");
  expect(await scopeOf(`read ${other}`)).toBe("invalid_grant");
  const { grants } = (await svc.call("svc.v1.GrantsService/ListGrants")).json;
  expect(grants.filter((grant: { clientId: string }) => grant.clientId === clientId)).toHaveLength(3);
});

test("what a person removes from the grant of an assertion stays removed for the next assertions", async () => {
  people.account("hugo", ["dev"]);
  await signIn(svc);
  const clientId = await registerClient();
  const assert = async (scope: string) => {
    const assertion = await people.provider.sign({ ...claimsFor(clientId, "hugo"), scope }, type);
    const { json } = await exchange(clientId, assertion);
    return json.scope ?? json.error;
  };
  const grants = async (): Promise<
    { id: string; accessClasses: string[]; toolkitSlugs: string[]; confirm?: object }[]
  > => {
    const { json } = await svc.call("svc.v1.GrantsService/ListGrants");
    return json.grants.filter((grant: { clientId: string }) => grant.clientId === clientId);
  };
  expect(await assert("read write")).toBe("read write");
  const [{ id } = { id: "" }] = await grants();
  await svc.call("svc.v1.ContactsService/PutContact", { contact: { principalId: "lead", name: "Team lead" } });
  const confirm = { person: "writes", contact: "lead" };
  const narrowed = { id, accessClasses: ["read"], toolkitSlugs: ["calendar", "sales_crm"], confirm };
  expect((await svc.call("svc.v1.GrantsService/UpdateGrant", narrowed)).status).toBe(200);
  expect(await assert("read write")).toBe("read toolkit:calendar toolkit:sales_crm");
  expect(await grants()).toHaveLength(1);

  // A grant for other classes begins with the limits of the first one.
  expect(await assert("read write destructive")).toBe("read destructive toolkit:calendar toolkit:sales_crm");
  const [other] = await grants();
  expect(other).toMatchObject({ confirm });
  expect(await assert("write")).toBe("invalid_scope");
  const { events } = (await svc.admin("ListAuditEvents", { action: "GrantAssertion.Exchange" })).json;
  expect(events[0].outcome).toBe("permission_denied");
  expect(await grants()).toHaveLength(2);
  await svc.call("svc.v1.GrantsService/UpdateGrant", { id: other?.id, toolkitSlugs: ["calendar"] });
  expect(await assert("read")).toBe("read toolkit:calendar");

  // Grants that are older than the column keep their limits.
  await svc.database.db.sql.unsafe("update grants set asserted_classes = null");
  expect(await assert("read")).toBe("read toolkit:calendar");
  expect(await grants()).toHaveLength(3);
});

test("a viewer's assertion gives no token, because MCP calls tools", async () => {
  people.account("eric", ["audit"]);
  await signIn(svc);
  const clientId = await registerClient();
  const { status, json } = await exchange(clientId, await people.provider.sign(claimsFor(clientId, "eric"), type));
  expect([status, json.error]).toEqual([400, "invalid_grant"]);
});
