import { createId, type ProjectId, parseId, type Sealer, uuidOfId } from "@svc/core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAccountAccess } from "./access.ts";
import type { AccountFault, AccountQuery } from "./account-access.ts";
import type { AppRequest } from "./app-transport.ts";
import { sealCredential } from "./credential.ts";
import {
  accountOf,
  bareRequest,
  connectOverOauth,
  createTestConnections,
  runningClock,
  type TestConnections,
} from "./test-connections.ts";
import { privateToolkit } from "./test-toolkits.ts";

let t: TestConnections;
let projectId: ProjectId;

beforeAll(async () => {
  t = await createTestConnections();
});
beforeEach(async () => {
  projectId = await t.project();
  t.app.tokenFailure = undefined;
  t.app.whileAsked = undefined;
  t.app.expiresIn = 3600;
  t.app.givesRefreshTokens = true;
  t.app.userId = `user-${projectId}`;
  t.app.tokenRequests.length = 0;
});
afterAll(() => t[Symbol.asyncDispose]());

const ask = (slug: string, changes: Partial<AccountQuery> = {}): AccountQuery => ({
  projectId,
  toolkit: t.toolkit(slug),
  entityId: "ada",
  ...changes,
});
const connect = async (request: object) => (await t.client(projectId).initiateConnection(request)).account!;
const key = { toolkitSlug: "plain", entityId: "ada", apiKey: "k 1&x" };
const id = (text: string) => parseId("acc", text)!;
const stateOf = async (text: string) => (await t.client(projectId).getConnection({ id: text })).account!;

async function authorized(query: AccountQuery, request = bareRequest): Promise<AppRequest> {
  const answer = await t.access.authorize(query, accountOf(await t.access.resolve(query)), request);
  if ("kind" in answer) throw new Error(answer.message);
  return answer;
}

test("lookups of one account that come together are one statement, and each call has an answer of its own", async () => {
  const account = await connect(key);
  const statements: string[] = [];
  const sql = new Proxy(t.db.sql, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== "unsafe") return value;
      return (text: string, ...rest: [never, never]) => {
        statements.push(text);
        return target.unsafe(text, ...rest);
      };
    },
  });
  const access = createAccountAccess({ ...t.options, db: { ...t.db, sql } });
  const queries = Array.from({ length: 30 }, (_, index) => ask("plain", { entityId: index === 7 ? "bob" : "ada" }));
  const found = await Promise.all(queries.map((query) => access.resolve(query)));
  expect(found.filter((answer) => "id" in answer && answer.id === account.id)).toHaveLength(29);
  expect(new Set(found).size).toBe(30);
  expect(found[7]).toMatchObject({ kind: "no_account" });
  const lookups = statements.filter((text) => text.includes("find_active_accounts"));
  // One lookup for each of two entities, and a second one for Bob to see if he has an account of the other environment (sandbox or not).
  expect(lookups.length).toBeLessThanOrEqual(3);
});

test("the entity's active account is found, without its credential", async () => {
  const account = await connect(key);
  const found = await t.access.resolve(ask("plain"));
  expect(found).toEqual({ id: account.id, entityId: "ada", scheme: "api_key", variables: {}, grantedScopes: [] });
  expect(await t.access.resolve(ask("plain", { entityId: "bob" }))).toMatchObject({
    kind: "no_account",
    message: expect.stringContaining("InitiateConnection"),
  });
  expect(await t.access.resolve(ask("plain", { projectId: await t.project() }))).toMatchObject({ kind: "no_account" });
});

test("of several schemes the one that the toolkit declares first is taken", async () => {
  await connect({ toolkitSlug: "tracker", entityId: "ada", scheme: "none" });
  t.app.userId = undefined;
  await connect({ toolkitSlug: "tracker", entityId: "ada", scheme: "basic", basic: { username: "u", password: "ü" } });
  expect(await t.access.resolve(ask("tracker"))).toMatchObject({ scheme: "basic" });
  await connect({ toolkitSlug: "tracker", entityId: "ada", scheme: "api_key", apiKey: "k" });
  expect(await t.access.resolve(ask("tracker"))).toMatchObject({ scheme: "api_key" });
});

test("a named account is that one, in its state, of its entity and of its definition", async () => {
  const old = await connect(key);
  const current = await connect(key);
  const named = (text: string, changes: Partial<AccountQuery> = {}) =>
    t.access.resolve(ask("plain", { accountId: id(text), ...changes }));
  expect(await named(current.id)).toMatchObject({ id: current.id });
  expect(await named(current.id, { entityId: "" })).toMatchObject({ id: current.id });
  expect(await named(current.id, { entityId: "bob" })).toMatchObject({ kind: "no_account" });
  expect(await named(current.id, { toolkit: t.toolkit("machine") })).toMatchObject({ kind: "no_account" });
  expect(await named(current.id, { projectId: await t.project() })).toMatchObject({ kind: "no_account" });
  expect(await named(createId("acc", 0))).toMatchObject({ kind: "no_account" });
  expect(await named(old.id)).toMatchObject({
    kind: "account_unusable",
    message: expect.stringContaining("superseded"),
  });
  await t.client(projectId).deleteConnection({ id: current.id });
  expect(await named(current.id)).toMatchObject({
    kind: "account_unusable",
    message: expect.stringContaining("deleted"),
  });
  const pending = await connect({ toolkitSlug: "tracker", entityId: "ada", scheme: "oauth2" });
  expect(await named(pending.id, { toolkit: t.toolkit("tracker") })).toMatchObject({
    kind: "account_unusable",
    message: expect.stringContaining("consent"),
  });
  expect(await t.access.resolve(ask("tracker"))).toMatchObject({
    kind: "no_account",
    message: expect.stringContaining("consent"),
  });
});

test("a credential is placed where the scheme says, over what stood there, and previewed as ***", async () => {
  await connect(key);
  const query = await authorized(ask("plain"), { ...bareRequest, url: "https://a.example/x?key=mine&page=a+b" });
  expect(query.url).toBe("https://a.example/x?page=a+b&key=k%201%26x");
  await connect({ toolkitSlug: "machine", entityId: "ada", scheme: "api_key", apiKey: "k" });
  const header = await authorized(ask("machine"), { ...bareRequest, headers: { "x-key": "mine", accept: "*/*" } });
  expect(header.headers).toEqual({ accept: "*/*", "X-Key": "Token k" });
  t.app.userId = undefined;
  await connect({ toolkitSlug: "tracker", entityId: "ada", scheme: "basic", basic: { username: "u", password: "ü" } });
  const basic = await authorized(ask("tracker"));
  expect(basic.headers["authorization"]).toBe(`Basic ${Buffer.from("u:ü").toString("base64")}`);
  const preview = async (slug: string) =>
    t.access.preview(t.toolkit(slug), accountOf(await t.access.resolve(ask(slug))), bareRequest);
  expect((await preview("plain")).url).toBe("https://app.example.com/me?page=1&key=***");
  expect((await preview("machine")).headers["X-Key"]).toBe("Token ***");
  expect((await preview("tracker")).headers["authorization"]).toBe("Basic ***");
  await connect({ toolkitSlug: "tracker", entityId: "eve", scheme: "none" });
  expect(await authorized(ask("tracker", { entityId: "eve" }))).toEqual(bareRequest);
});

test("a credential is decrypted once in 5 s for all calls, and at once again when its row has another", async () => {
  const account = await connect(key);
  let count = 0;
  const open: Sealer["open"] = (...sealed) => {
    count++;
    return t.sealer.open(...sealed);
  };
  const access = createAccountAccess({ ...t.options, sealer: { ...t.sealer, open } });
  const query = ask("plain");
  const urlOf = async () => {
    const answer = await access.authorize(query, accountOf(await access.resolve(query)), bareRequest);
    return "url" in answer ? answer.url : answer.message;
  };
  const first = await Promise.all([urlOf(), urlOf(), urlOf()]);
  expect(new Set(first)).toEqual(new Set(["https://app.example.com/me?page=1&key=k%201%26x"]));
  t.clock.advance(4_999);
  await urlOf();
  expect(count).toBe(1);
  t.clock.advance(1);
  await urlOf();
  expect(count).toBe(2);
  const place = { projectId, id: id(account.id) };
  const sealed = sealCredential(t.sealer, place, { scheme: "api_key", key: "other" });
  await t.db.sql`update connected_accounts set credential = ${sealed} where id = ${uuidOfId(place.id)}`;
  expect(await urlOf()).toMatch(/key=other$/);
  expect(count).toBe(3);
  await t.client(projectId).deleteConnection({ id: account.id });
  expect(await urlOf().catch(String)).toContain("connect");
});

test("a key that cannot stand in a header makes the account unusable", async () => {
  await connect({ toolkitSlug: "machine", entityId: "ada", scheme: "api_key", apiKey: "ключ" });
  const query = ask("machine");
  const answer = await t.access.authorize(query, accountOf(await t.access.resolve(query)), bareRequest);
  expect(answer).toMatchObject({ kind: "account_unusable" });
});

test("an account of a private definition that now sends credentials elsewhere must be connected again", async () => {
  const toolkit = await t.publish(projectId, privateToolkit("mine", "api.one.example.com"));
  await connect({ toolkitSlug: "mine", entityId: "ada", scheme: "api_key", apiKey: "k" });
  expect(await t.access.resolve(ask("mine", { toolkit }))).toMatchObject({ scheme: "api_key" });
  const moved = await t.publish(projectId, privateToolkit("mine", "api.two.example.com"));
  expect(await t.access.resolve(ask("mine", { toolkit: moved }))).toMatchObject({
    kind: "account_unusable",
    message: expect.stringContaining("connect again"),
  });
});

test("a deleted account is not used by a call that resolved it long before", async () => {
  const { id: accountId } = await connect(key);
  const query = ask("plain");
  const account = accountOf(await t.access.resolve(query));
  await t.client(projectId).deleteConnection({ id: accountId });
  t.clock.advance(5_000);
  expect(await t.access.authorize(query, account, bareRequest)).toMatchObject({ kind: "account_unusable" });
});

test("a key that the app refuses expires its account, unless another took its place", async () => {
  await connect(key);
  const query = ask("plain");
  const first = accountOf(await t.access.resolve(query));
  await t.access.authorize(query, first, bareRequest);
  expect(await t.access.refused(query, first)).toBe(false);
  expect(await stateOf(first.id)).toMatchObject({ state: "expired", lastError: expect.stringContaining("401") });
  expect(await t.access.resolve(query)).toMatchObject({
    kind: "account_unusable",
    message: expect.stringContaining("connect again"),
  });
  const second = await connect(key);
  expect((await stateOf(first.id)).state).toBe("superseded");
  expect(await t.access.refused(query, first)).toBe(false);
  expect((await stateOf(second.id)).state).toBe("active");
});

test("of 20 calls at once on two nodes one renews the token, and all carry the new one", async () => {
  await connectOverOauth(t, projectId);
  t.clock.advance(3600_000 - 30_000);
  t.app.tokenRequests.length = 0;
  const options = { ...t.options, clock: runningClock(t.clock) };
  const nodes = [createAccountAccess(options), createAccountAccess(options)];
  const query = ask("tracker");
  const requests = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const node = nodes[index % 2]!;
      return (await node.authorize(query, accountOf(await node.resolve(query)), bareRequest)) as AppRequest;
    }),
  );
  expect(t.app.tokenRequests).toHaveLength(1);
  expect(t.app.tokenRequests[0]?.get("grant_type")).toBe("refresh_token");
  const tokens = new Set(requests.map(({ headers }) => headers["authorization"]));
  expect(tokens.size).toBe(1);
  // The app rotates refresh tokens, so the next renewal must send the refresh token that the previous renewal returned.
  t.clock.advance(3600_000 - 30_000);
  expect((await authorized(query)).headers["authorization"]).not.toBe([...tokens][0]);
  expect(t.app.tokenRequests[1]?.get("refresh_token")).not.toBe(t.app.tokenRequests[0]?.get("refresh_token"));
});

test("a 401 renews the token once for all calls that carried it", async () => {
  await connectOverOauth(t, projectId);
  t.app.tokenRequests.length = 0;
  const query = ask("tracker");
  const accounts = [];
  for (let n = 0; n < 5; n++) {
    const account = accountOf(await t.access.resolve(query));
    await t.access.authorize(query, account, bareRequest);
    accounts.push(account);
  }
  expect(await Promise.all(accounts.map((account) => t.access.refused(query, account)))).toEqual(Array(5).fill(true));
  expect(t.app.tokenRequests).toHaveLength(1);
});

test("an outage of the token endpoint keeps the account, and what is left of its token", async () => {
  const accountId = await connectOverOauth(t, projectId);
  t.app.tokenFailure = { status: 503, body: "" };
  t.clock.advance(3600_000 - 30_000);
  const query = ask("tracker");
  expect((await authorized(query)).headers["authorization"]).toMatch(/^Bearer at-/);
  t.clock.advance(30_000);
  const account = accountOf(await t.access.resolve(query));
  expect(await t.access.authorize(query, account, bareRequest)).toMatchObject({
    kind: "account_unusable",
    message: expect.stringContaining("try again later"),
  });
  expect(await stateOf(accountId)).toMatchObject({ state: "active", lastError: expect.stringContaining("503") });
  t.app.tokenFailure = undefined;
  expect((await authorized(query)).headers["authorization"]).toMatch(/^Bearer at-/);
  expect((await stateOf(accountId)).lastError).toBe("");
});

test.each([
  [400, '{"error":"invalid_grant"}', "expired"],
  [401, '{"error":"invalid_token"}', "expired"],
  [401, '{"error":"invalid_client"}', "active"],
  [400, '{"error":"temporarily_unavailable"}', "active"],
  [400, "<html>", "active"],
  [404, "{}", "active"],
])("a renewal answered %d %s leaves the account %s", async (status, body, state) => {
  const accountId = await connectOverOauth(t, projectId);
  t.app.tokenFailure = { status, body };
  t.clock.advance(3600_000);
  const query = ask("tracker");
  const account = accountOf(await t.access.resolve(query));
  const answer = (await t.access.authorize(query, account, bareRequest)) as AccountFault;
  expect(answer.kind).toBe("account_unusable");
  expect((await stateOf(accountId)).state).toBe(state);
});

test("an account without refresh tokens expires by time, when it is used and when it is read", async () => {
  const accountId = await connectOverOauth(t, projectId, { toolkitSlug: "brief" });
  const query = ask("brief");
  expect((await stateOf(accountId)).expiresAt).toBeDefined();
  t.clock.advance(3600_000);
  expect((await stateOf(accountId)).state).toBe("expired");
  const list = async (state: string) => (await t.client(projectId).listConnections({ state })).accounts.length;
  expect([await list("active"), await list("expired")]).toEqual([0, 1]);
  expect(await t.access.resolve(query)).toMatchObject({
    kind: "account_unusable",
    message: expect.stringContaining("ran out"),
  });
  expect(t.app.tokenRequests.filter((form) => form.get("grant_type") === "refresh_token")).toEqual([]);
});

test("the project's own credential is used by entities that have no account, its token fetched once and kept", async () => {
  await t.client(projectId).setProjectCredential({
    toolkitSlug: "machine",
    clientId: "client-1",
    clientSecret: "client/secret+1",
  });
  const query = ask("machine");
  const first = await Promise.all(Array.from({ length: 6 }, () => authorized(query)));
  expect(new Set(first.map(({ headers }) => headers["authorization"])).size).toBe(1);
  expect(t.app.tokenRequests).toHaveLength(1);
  expect(t.app.tokenRequests[0]?.get("scope")).toBe("all");
  t.clock.advance(3600_000);
  expect((await authorized(query)).headers["authorization"]).not.toBe(first[0]?.headers["authorization"]);
  expect(t.app.tokenRequests).toHaveLength(2);
  expect(await t.access.resolve({ ...query, entityId: "" })).toMatchObject({ scheme: "client_credentials" });
  const account = await connect({ toolkitSlug: "machine", entityId: "ada", scheme: "api_key", apiKey: "k" });
  expect(await t.access.resolve(query)).toMatchObject({ id: account.id });
});

test("a project's credential that the app does not know expires its account", async () => {
  const { account } = await t.client(projectId).setProjectCredential({
    toolkitSlug: "machine",
    clientId: "client-1",
    clientSecret: "wrong",
  });
  const query = ask("machine");
  const resolved = accountOf(await t.access.resolve(query));
  expect(await t.access.authorize(query, resolved, bareRequest)).toMatchObject({ kind: "account_unusable" });
  expect((await stateOf(account!.id)).state).toBe("expired");
});
