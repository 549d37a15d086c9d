import { createId, type ProjectId, uuidOfId } from "@svc/core";
import { findAccountReferences } from "@svc/db/account-references/repo";
import { setProjectPolicy } from "@svc/db/projects/repo";
import { refusalOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestConnections, type TestConnections } from "./test-connections.ts";
import { privateToolkit } from "./test-toolkits.ts";

let t: TestConnections;
let projectId: ProjectId;

beforeAll(async () => {
  t = await createTestConnections();
});
beforeEach(async () => {
  projectId = await t.project();
  t.app.answer = undefined;
  t.app.userId = `user-${projectId}`;
  t.app.seen.length = 0;
});
afterAll(() => t[Symbol.asyncDispose]());

const invalid = (reason: string, field: string) => ({ code: "InvalidArgument", reason, field });
const key = { toolkitSlug: "plain", entityId: "ada", apiKey: "k" };
const server = { toolkitSlug: "own_server", entityId: "ada" };
const host = { hostname: "app.example.com", port: "443" };

test.each([
  [
    { ...key, toolkitSlug: "nowhere" },
    { code: "NotFound", reason: "TOOLKIT_NOT_FOUND", field: "toolkitSlug" },
  ],
  [{ ...key, entityId: "" }, invalid("ENTITY_ID_INVALID", "entityId")],
  [{ ...key, entityId: "x".repeat(201) }, invalid("ENTITY_ID_INVALID", "entityId")],
  [{ ...key, entityId: "a\nb" }, invalid("ENTITY_ID_INVALID", "entityId")],
  [{ ...key, toolkitSlug: "tracker" }, invalid("SCHEME_REQUIRED", "scheme")],
  [{ ...key, scheme: "basic" }, invalid("SCHEME_NOT_DECLARED", "scheme")],
  [{ ...key, scheme: "client_credentials" }, invalid("SCHEME_NOT_DECLARED", "scheme")],
  [{ ...key, toolkitSlug: "machine", scheme: "client_credentials" }, invalid("SCHEME_HELD_BY_PROJECT", "scheme")],
  [{ ...server, accountVariables: { port: "443" } }, invalid("ACCOUNT_VARIABLE_MISSING", "accountVariables.hostname")],
  [
    { ...server, accountVariables: { ...host, region: "x" } },
    invalid("ACCOUNT_VARIABLE_UNKNOWN", "accountVariables.region"),
  ],
  [
    { ...server, accountVariables: { ...host, hostname: "a b" } },
    invalid("ACCOUNT_VARIABLE_INVALID", "accountVariables.hostname"),
  ],
  [
    { ...server, accountVariables: { ...host, port: "99999" } },
    invalid("ACCOUNT_VARIABLE_INVALID", "accountVariables.port"),
  ],
  [
    { ...server, accountVariables: { ...host, hostname: "10.0.0.1" } },
    invalid("ACCOUNT_VARIABLE_INVALID", "accountVariables.hostname"),
  ],
  [
    { ...key, toolkitSlug: "unbound", scheme: "oauth2", apiKey: "" },
    { code: "FailedPrecondition", reason: "TOOLKIT_NOT_CONNECTABLE", field: "scheme" },
  ],
  [{ ...key, apiKey: "" }, invalid("CREDENTIAL_MISSING", "apiKey")],
  [{ ...key, apiKey: "", toolkitSlug: "tracker", scheme: "basic" }, invalid("CREDENTIAL_MISSING", "basic")],
  [{ ...key, toolkitSlug: "tracker", scheme: "none" }, invalid("CREDENTIAL_UNEXPECTED", "apiKey")],
  [{ ...key, basic: { username: "a", password: "b" } }, invalid("CREDENTIAL_UNEXPECTED", "basic")],
  [{ ...key, toolkitSlug: "tracker", scheme: "oauth2" }, invalid("CREDENTIAL_UNEXPECTED", "apiKey")],
  [{ ...key, apiKey: "a\r\nx: y" }, invalid("CREDENTIAL_INVALID", "apiKey")],
  [{ ...key, apiKey: "k".repeat(8193) }, invalid("CREDENTIAL_INVALID", "apiKey")],
  [{ ...key, redirectUrl: "nowhere" }, invalid("REDIRECT_URL_REFUSED", "redirectUrl")],
  [{ ...key, redirectUrl: "javascript:alert(1)" }, invalid("REDIRECT_URL_REFUSED", "redirectUrl")],
  [{ ...key, redirectUrl: "https://evil.example.com/" }, invalid("REDIRECT_URL_REFUSED", "redirectUrl")],
])("InitiateConnection refuses %j", async (request, refusal) => {
  expect(await refusalOf(t.client(projectId).initiateConnection(request))).toEqual(refusal);
  expect((await t.client(projectId).listConnections({})).accounts).toEqual([]);
});

test("a member's key connects no toolkit whose variables decide the address, an approver's does", async () => {
  const request = { ...server, accountVariables: host };
  expect(await refusalOf(t.client(projectId, "member").initiateConnection(request))).toEqual({
    code: "PermissionDenied",
    reason: "ORIGIN_NEEDS_APPROVER",
    field: "accountVariables",
  });
  const { account } = await t.client(projectId, "approver").initiateConnection(request);
  expect(account).toMatchObject({ state: "active", scheme: "none", accountVariables: host, entityId: "ada" });
});

test("a connected account is active, shows everything but its credential, and is found again", async () => {
  const { account, authorizeUrl } = await t.client(projectId).initiateConnection({
    ...key,
    toolkitSlug: "tracker",
    scheme: "api_key",
  });
  expect(account).toMatchObject({
    id: expect.stringMatching(/^acc_/),
    toolkitSlug: "tracker",
    toolkitOwnerProjectId: "",
    state: "active",
    references: [`user-${projectId}`],
    lastError: "",
  });
  expect(authorizeUrl).toBe("");
  expect(t.app.seen).toMatchObject([{ path: "/me", headers: { "x-key": "Token k" } }]);
  expect((await t.client(projectId).getConnection({ id: account!.id })).account).toEqual(account);
  expect((await t.client(projectId).listConnections({})).accounts).toEqual([account]);
});

test.each([401, 403])("a credential that the app answers %d to is refused, and nothing is kept", async (status) => {
  t.app.answer = { status, body: "{}" };
  const call = t.client(projectId).initiateConnection({ ...key, toolkitSlug: "tracker", scheme: "api_key" });
  expect(await refusalOf(call)).toMatchObject({ code: "FailedPrecondition", reason: "CREDENTIAL_REFUSED" });
  expect((await t.client(projectId).listConnections({})).accounts).toEqual([]);
});

test.each([500, 302, 429])("an app that answers %d to the probe was not asked", async (status) => {
  t.app.answer = { status, body: "{}" };
  const call = t.client(projectId).initiateConnection({ ...key, toolkitSlug: "tracker", scheme: "api_key" });
  expect(await refusalOf(call)).toMatchObject({ code: "Unavailable", reason: "PROBE_FAILED" });
});

test("a probe is left out where the host is not bound, and its id may be a number", async () => {
  const { account } = await t.client(projectId).initiateConnection({
    ...key,
    toolkitSlug: "unbound",
    scheme: "api_key",
  });
  expect(account).toMatchObject({ state: "active", references: [] });
  t.app.userId = 4711;
  const other = await t.client(projectId).initiateConnection({ ...key, toolkitSlug: "tracker", scheme: "api_key" });
  expect(other.account?.references).toEqual(["4711"]);
  await t.client(projectId).deleteConnection({ id: other.account!.id });
});

test.each(["x".repeat(513), "🍎".repeat(513), "a\u0000b", "a\nb", "\ud800", "", true, {}, ["a"], null, undefined])(
  "an own id that can be no reference (%j) leaves the account without one",
  async (userId) => {
    t.app.userId = userId;
    const request = { ...key, toolkitSlug: "tracker", scheme: "api_key" };
    const { account } = await t.client(projectId).initiateConnection(request);
    expect(account).toMatchObject({ state: "active", references: [] });
  },
);

test("an own id of 512 characters, or of more digits than a number holds, is a reference as it is", async () => {
  const request = { ...key, toolkitSlug: "tracker", scheme: "api_key" };
  t.app.userId = "🍎".repeat(512);
  const { account } = await t.client(projectId).initiateConnection(request);
  expect(account?.references).toEqual(["🍎".repeat(512)]);
  await t.client(projectId).deleteConnection({ id: account!.id });
  t.app.answer = { status: 200, body: '{"user":{"id":12345678901234567891}}' };
  const other = await t.client(projectId).initiateConnection(request);
  expect(other.account?.references).toEqual(["12345678901234567891"]);
  await t.client(projectId).deleteConnection({ id: other.account!.id });
});

test("an answer says whether the app was asked about the credential", async () => {
  const connect = (toolkitSlug: string) => {
    return t.client(projectId).initiateConnection({ ...key, entityId: "asked", toolkitSlug, scheme: "api_key" });
  };
  expect((await connect("tracker")).credentialTried).toBe(true);
  expect((await connect("unbound")).credentialTried).toBe(false);
});

test.each(["x", "ä", "🍎"])("an entity has up to 200 characters such as %s", async (character) => {
  const connect = (entityId: string) =>
    t.client(projectId).initiateConnection({ ...key, entityId, toolkitSlug: "unbound", scheme: "api_key" });
  expect((await connect(character.repeat(200))).account?.entityId).toBe(character.repeat(200));
  expect(await refusalOf(connect(character.repeat(201)))).toMatchObject({ reason: "ENTITY_ID_INVALID" });
});

test("a new account supersedes the entity's one of the same toolkit and scheme, and takes over its references", async () => {
  const client = t.client(projectId);
  const request = { ...key, toolkitSlug: "tracker", scheme: "api_key" };
  const first = (await client.initiateConnection(request)).account!;
  const extra = `extra-${projectId}`;
  await client.setAccountReferences({ id: first.id, references: [extra] });
  const basic = await client
    .initiateConnection({
      ...request,
      apiKey: "",
      scheme: "basic",
      entityId: "bob",
      basic: { username: "u", password: "p" },
    })
    .catch((error: unknown) => error);
  // Bob has the same user id in the app as Ada, and the reference already belongs to Ada.
  expect(await refusalOf(Promise.reject(basic))).toMatchObject({ code: "AlreadyExists", reason: "REFERENCE_TAKEN" });
  t.app.userId = `other-${projectId}`;
  const second = (await client.initiateConnection({ ...request, apiKey: "k2" })).account!;
  expect(second.references).toEqual([`other-${projectId}`, extra]);
  const before = (await client.getConnection({ id: first.id })).account!;
  expect(before).toMatchObject({ state: "superseded", references: [] });
  const routed = await findAccountReferences(t.db, [
    { toolkitSlug: "tracker", reference: extra },
    { toolkitSlug: "tracker", reference: `user-${projectId}` },
  ]);
  expect(routed).toMatchObject([{ reference: extra, accountId: second.id, entityId: "ada", projectId }]);
});

test("of 12 connections made at once exactly one is active, and the others are superseded", async () => {
  const client = t.client(projectId);
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      client.initiateConnection({ ...key, toolkitSlug: "tracker", scheme: "api_key", apiKey: `k${index}` }),
    ),
  );
  const states = (await client.listConnections({})).accounts.map(({ state }) => state);
  expect(states.filter((state) => state === "active")).toHaveLength(1);
  expect(states.filter((state) => state === "superseded")).toHaveLength(11);
});

test("deleting erases the credential and gives the references back; again it changes nothing", async () => {
  const client = t.client(projectId);
  const { account } = await client.initiateConnection({ ...key, toolkitSlug: "tracker", scheme: "api_key" });
  await client.deleteConnection({ id: account!.id });
  const ended = (await client.getConnection({ id: account!.id })).account;
  expect(ended).toMatchObject({ state: "revoked", references: [] });
  const [row] = await t.db.sql`select credential from connected_accounts where id = ${uuid(account!.id)}::uuid`;
  expect(row?.["credential"]).toBeNull();
  await client.deleteConnection({ id: account!.id });
  expect((await client.getConnection({ id: account!.id })).account).toEqual(ended);
  const again = await client.initiateConnection({ ...key, entityId: "bob", toolkitSlug: "tracker", scheme: "api_key" });
  expect(again.account?.references).toEqual([`user-${projectId}`]);
});

test("accounts of another project read as missing", async () => {
  const { account } = await t.client(projectId).initiateConnection(key);
  const stranger = t.client(await t.project());
  const missing = { code: "NotFound", reason: "CONNECTION_NOT_FOUND", field: "id" };
  const { id } = account!;
  expect(await refusalOf(stranger.getConnection({ id }))).toEqual(missing);
  expect(await refusalOf(stranger.deleteConnection({ id }))).toEqual(missing);
  expect(await refusalOf(stranger.setAccountReferences({ id, references: [] }))).toEqual(missing);
  expect(await refusalOf(stranger.getConnection({ id: createId("acc", 0) }))).toEqual(missing);
  expect((await stranger.listConnections({})).accounts).toEqual([]);
  expect(await refusalOf(stranger.getConnection({ id: "acc_" }))).toEqual(invalid("ID_MALFORMED", "id"));
});

test("ListConnections filters by toolkit, entity and state, and pages newest first", async () => {
  const client = t.client(projectId);
  const ids: string[] = [];
  for (const [toolkitSlug, entityId] of [
    ["plain", "ada"],
    ["plain", "bob"],
    ["machine", "ada"],
    ["plain", "ada"],
  ] as const) {
    t.clock.advance(1);
    const scheme = "api_key";
    ids.unshift((await client.initiateConnection({ toolkitSlug, entityId, scheme, apiKey: "k" })).account!.id);
  }
  const list = async (filter: object) => (await client.listConnections(filter)).accounts.map(({ id }) => id);
  expect(await list({})).toEqual(ids);
  expect(await list({ toolkitSlug: "machine" })).toEqual([ids[1]]);
  expect(await list({ entityId: "ada", state: "active" })).toEqual([ids[0], ids[1]]);
  expect(await list({ state: "superseded" })).toEqual([ids[3]]);
  const page = await client.listConnections({ pageSize: 3 });
  const { nextPageToken: pageToken } = page;
  expect(page.accounts.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  expect(await list({ pageSize: 3, pageToken })).toEqual(ids.slice(3));
  expect(await refusalOf(client.listConnections({ state: "dead" }))).toEqual(
    invalid("CONNECTION_STATE_INVALID", "state"),
  );
  expect(await refusalOf(client.listConnections({ pageSize: -1 }))).toEqual(invalid("PAGE_SIZE_NEGATIVE", "pageSize"));
  expect(await refusalOf(client.listConnections({ pageToken, entityId: "ada" }))).toEqual(
    invalid("PAGE_TOKEN_INVALID", "pageToken"),
  );
});

test.each([
  [[""], "references[0]"],
  [["a", "x".repeat(513)], "references[1]"],
  [["a\u0007"], "references[0]"],
  [["a", "a"], "references[1]"],
  [Array.from({ length: 101 }, (_, index) => `r${index}`), "references"],
])("SetAccountReferences refuses %j", async (references, field) => {
  const { account } = await t.client(projectId).initiateConnection(key);
  const call = t.client(projectId).setAccountReferences({ id: account!.id, references });
  expect(await refusalOf(call)).toEqual(invalid("REFERENCE_INVALID", field));
});

test("references are replaced but for what the app itself said, and are held once in the deployment", async () => {
  const client = t.client(projectId);
  const { account } = await client.initiateConnection({ ...key, toolkitSlug: "tracker", scheme: "api_key" });
  const { id } = account!;
  const verified = `user-${projectId}`;
  const set = async (references: string[]) =>
    (await client.setAccountReferences({ id, references })).account?.references;
  expect(await set([`a-${projectId}`, `b-${projectId}`])).toEqual([verified, `a-${projectId}`, `b-${projectId}`]);
  expect(await set([`b-${projectId}`, verified])).toEqual([verified, `b-${projectId}`]);

  const other = await t.project();
  t.app.userId = `user-${other}`;
  const stranger = await t.client(other).initiateConnection({ ...key, toolkitSlug: "tracker", scheme: "api_key" });
  const references = [`free-${other}`, `b-${projectId}`];
  const call = t.client(other).setAccountReferences({ id: stranger.account!.id, references });
  expect(await refusalOf(call)).toEqual({ code: "AlreadyExists", reason: "REFERENCE_TAKEN", field: "references" });
  expect((await t.client(other).getConnection({ id: stranger.account!.id })).account?.references).toEqual([
    `user-${other}`,
  ]);
  const [held] = await findAccountReferences(t.db, [{ toolkitSlug: "tracker", reference: `b-${projectId}` }]);
  expect(held).toMatchObject({ accountId: id, projectId });

  await client.deleteConnection({ id });
  expect(await refusalOf(client.setAccountReferences({ id, references: [] }))).toEqual({
    code: "FailedPrecondition",
    reason: "CONNECTION_NOT_USABLE",
    field: "id",
  });
});

test("of a toolkit without events a set reference is held once too, and the app's own id may be shared", async () => {
  const connect = async (entityId: string) =>
    (await t.client(projectId).initiateConnection({ ...key, toolkitSlug: "quiet", entityId })).account!;
  const [ada, bob] = [await connect("ada"), await connect("bob")];
  expect([ada.references, bob.references]).toEqual([[`user-${projectId}`], [`user-${projectId}`]]);
  const set = (id: string) => t.client(projectId).setAccountReferences({ id, references: [`set-${projectId}`] });
  expect((await set(ada.id)).account?.references).toEqual([`user-${projectId}`, `set-${projectId}`]);
  expect(await refusalOf(set(bob.id))).toMatchObject({ code: "AlreadyExists", reason: "REFERENCE_TAKEN" });
  expect((await connect("ada")).references).toEqual([`user-${projectId}`, `set-${projectId}`]);
  expect(await refusalOf(set(bob.id))).toMatchObject({ reason: "REFERENCE_TAKEN" });
});

test("the project's own credential is set, replaced and erased", async () => {
  const client = t.client(projectId);
  const request = { toolkitSlug: "machine", clientId: "client-1", clientSecret: "s" };
  const call = (changes: object) => refusalOf(client.setProjectCredential({ ...request, ...changes }));
  expect(await call({ toolkitSlug: "nowhere" })).toMatchObject({ reason: "TOOLKIT_NOT_FOUND" });
  expect(await call({ toolkitSlug: "plain" })).toEqual(invalid("SCHEME_NOT_DECLARED", "toolkitSlug"));
  expect(await call({ clientId: "" })).toEqual(invalid("CREDENTIAL_MISSING", "clientId"));
  expect(await call({ clientSecret: "" })).toEqual(invalid("CREDENTIAL_MISSING", "clientSecret"));
  expect(await call({ clientSecret: "a\n" })).toEqual(invalid("CREDENTIAL_INVALID", "clientSecret"));
  expect(await call({ accountVariables: { a: "b" } })).toMatchObject({ reason: "ACCOUNT_VARIABLE_UNKNOWN" });
  const missing = { code: "NotFound", reason: "PROJECT_CREDENTIAL_NOT_FOUND", field: "toolkitSlug" };
  expect(await refusalOf(client.deleteProjectCredential({ toolkitSlug: "machine" }))).toEqual(missing);
  const first = (await client.setProjectCredential(request)).account!;
  expect(first).toMatchObject({ scheme: "client_credentials", entityId: "", state: "active" });
  const second = (await client.setProjectCredential({ ...request, clientSecret: "s2" })).account!;
  expect((await client.getConnection({ id: first.id })).account?.state).toBe("superseded");
  await client.deleteProjectCredential({ toolkitSlug: "machine" });
  expect((await client.getConnection({ id: second.id })).account?.state).toBe("revoked");
  expect(await refusalOf(client.deleteProjectCredential({ toolkitSlug: "machine" }))).toEqual(missing);
});

test("a redirect URL is loopback, or has origin and path of one in the project's policy", async () => {
  await setProjectPolicy(t.db, projectId, { planApproval: "never", redirectUrls: ["https://me.example.com/done"] });
  const call = (redirectUrl: string) => t.client(projectId).initiateConnection({ ...key, redirectUrl });
  for (const url of [
    "http://localhost:3000/x",
    "http://127.0.0.1/y",
    "http://[::1]:9/",
    "https://me.example.com/done?a=1",
  ])
    expect((await call(url)).account?.state).toBe("active");
  for (const url of [
    "https://me.example.com/done/more",
    "https://me.example.com.evil.example/done",
    "https://user@me.example.com/done",
    "http://me.example.com/done",
    "http://localhost.evil.example/",
    `https://me.example.com/done?${"a".repeat(2050)}`,
  ])
    expect(await refusalOf(call(url))).toEqual(invalid("REDIRECT_URL_REFUSED", "redirectUrl"));
});

test("in the sandbox a credential may be left out", async () => {
  const transport = {
    send: async () => ({ kind: "answer", status: 200, headers: {}, body: Buffer.from("{}") }) as const,
  };
  const client = t.client(projectId, "approver", { sandboxMode: "force", transport });
  for (const scheme of ["api_key", "basic", "none"]) {
    const { account } = await client.initiateConnection({ toolkitSlug: "tracker", entityId: "ada", scheme });
    expect(account).toMatchObject({ state: "active", scheme });
  }
  const failing = { send: async () => ({ kind: "answer", status: 429, headers: {}, body: Buffer.alloc(0) }) as const };
  const scenario = t.client(projectId, "approver", { sandboxMode: "force", transport: failing });
  const request = { toolkitSlug: "tracker", entityId: "sandbox:429", scheme: "api_key" };
  expect((await scenario.initiateConnection(request)).account?.state).toBe("active");
});

test("a private toolkit that hides a shared one never meets its accounts", async () => {
  const client = t.client(projectId);
  const shared = (await client.initiateConnection(key)).account!;
  await t.publish(projectId, privateToolkit("plain", "api.mine.example.com"));
  const own = (await client.initiateConnection({ ...key, scheme: "api_key" })).account!;
  expect(own).toMatchObject({ toolkitOwnerProjectId: projectId, state: "active" });
  expect((await client.getConnection({ id: shared.id })).account?.state).toBe("active");
  expect(await refusalOf(client.initiateConnection({ ...key, apiKey: "", scheme: "oauth2" }))).toMatchObject({
    reason: "TOOLKIT_NOT_CONNECTABLE",
  });
  // In the sandbox, every toolkit has an OAuth client.
  const registered = {
    clientId: "c",
    clientSecret: "s",
    authorizeUrl: "https://a.example/",
    tokenUrl: "https://a.example/",
  };
  const oauth = { ...t.options.oauth, clientOf: async () => registered };
  const sandbox = t.client(projectId, "approver", { sandboxMode: "force", isOauthRegistered: () => true, oauth });
  expect((await sandbox.initiateConnection({ ...key, apiKey: "", scheme: "oauth2" })).account?.state).toBe("pending");
});

test("a toolkit whose addresses the deployment leaves open is not connectable, and the message says which", async () => {
  const client = t.client(projectId, "approver", { isOauthRegistered: () => true });
  const call = client.initiateConnection({ toolkitSlug: "unbound", entityId: "ada", scheme: "oauth2" });
  await expect(call).rejects.toThrow(/toolkits\.unbound\.auth_url/);
});

test("no column of the store, and no answer, holds a credential in the clear", async () => {
  const client = t.client(projectId);
  const markers = ["MARKER-key", "MARKER-user", "MARKER-password", "MARKER-secret"];
  const answers = [
    await client.initiateConnection({ ...key, apiKey: "MARKER-key" }),
    await client.initiateConnection({
      toolkitSlug: "tracker",
      scheme: "basic",
      entityId: "ada",
      basic: { username: "MARKER-user", password: "MARKER-password" },
    }),
    await client.setProjectCredential({ toolkitSlug: "machine", clientId: "c", clientSecret: "MARKER-secret" }),
    await client.listConnections({}),
  ];
  const rows = await t.db
    .sql`select row_to_json(a)::text as text, encode(credential, 'escape') as bytes from connected_accounts a`;
  for (const text of [
    JSON.stringify(rows),
    JSON.stringify(answers, (_key, value) => (typeof value === "bigint" ? String(value) : value)),
  ]) {
    for (const marker of markers) expect(text).not.toContain(marker);
  }
});

function uuid(id: string): string {
  return uuidOfId(id as Parameters<typeof uuidOfId>[0]);
}
