import { type ProjectId, parseId } from "@svc/core";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createOauthPages } from "./oauth-flow.ts";
import {
  accountOf,
  bareRequest,
  connectOverOauth,
  createTestConnections,
  publicUrl,
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
  t.app.answer = undefined;
  t.app.clientAuthentication = "basic";
  t.app.userId = `user-${projectId}`;
  t.app.tokenRequests.length = 0;
});
afterAll(() => t[Symbol.asyncDispose]());

const redirectUrl = "http://localhost:3000/done?tab=1";

/** Starts to connect an account over OAuth, and opens the start page as a browser does. */
async function begin(request: object = {}) {
  const { account, authorizeUrl } = await t
    .client(projectId)
    .initiateConnection({ toolkitSlug: "tracker", entityId: "ada", scheme: "oauth2", redirectUrl, ...request });
  const page = await t.pages.handleOauthStart(new URL(authorizeUrl), {});
  const cookie = (page.headers["set-cookie"] ?? "").split(";")[0] ?? "";
  const id = parseId("acc", account!.id)!;
  return { id, authorizeUrl, page, cookie, location: page.headers["location"] ?? "" };
}

const stateOf = async (id: string) => (await t.client(projectId).getConnection({ id })).account!;

test("a person is sent to the app with PKCE, comes back, and the account is active", async () => {
  const { id, authorizeUrl, page, cookie, location } = await begin();
  expect(authorizeUrl).toMatch(/^https:\/\/svc\.example\.com\/oauth\/start\?state=/);
  expect((await stateOf(id)).state).toBe("pending");
  expect(page.status).toBe(302);
  expect(page.headers["set-cookie"]).toBe(`${cookie}; Path=/oauth; Max-Age=600; HttpOnly; SameSite=Lax; Secure`);
  const address = new URL(location);
  expect(address.href.startsWith(`${t.app.url}/authorize?prompt=consent&`)).toBe(true);
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    response_type: "code",
    client_id: "client-1",
    redirect_uri: `${publicUrl}/oauth/callback`,
    scope: "read write",
    code_challenge_method: "S256",
  });
  const answer = await t.pages.handleOauthCallback(t.app.consent(location), { cookie: `a=b; ${cookie}` });
  expect(answer.status).toBe(302);
  expect(answer.headers["location"]).toBe(`${redirectUrl}&connectedAccountId=${id}&status=active`);
  expect(answer.headers["set-cookie"]).toContain("Max-Age=0");
  expect(await stateOf(id)).toMatchObject({
    state: "active",
    grantedScopes: ["read", "write"],
    references: [`user-${projectId}`],
  });
  const query = { projectId, toolkit: t.toolkit("tracker"), entityId: "ada" };
  const request = await t.access.authorize(query, accountOf(await t.access.resolve(query)), bareRequest);
  expect(request).toMatchObject({ headers: { authorization: expect.stringMatching(/^Bearer at-/) } });
});

test("without a redirect URL a plain page says how it went", async () => {
  const { cookie, location } = await begin({ redirectUrl: "" });
  const answer = await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
  expect(answer).toMatchObject({ status: 200, body: expect.stringContaining("Connected") });
  expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
});

test("a consent is used once: neither the callback nor the start page works again", async () => {
  const { id, authorizeUrl, cookie, location } = await begin();
  const back = t.app.consent(location);
  const answers = await Promise.all([1, 2, 3].map(() => t.pages.handleOauthCallback(back, { cookie })));
  expect(answers.map(({ status }) => status).sort()).toEqual([302, 400, 400]);
  expect(t.app.tokenRequests).toHaveLength(1);
  expect((await t.pages.handleOauthCallback(back, { cookie })).status).toBe(400);
  expect((await t.pages.handleOauthStart(new URL(authorizeUrl), {})).status).toBe(400);
  expect((await stateOf(id)).state).toBe("active");
});

test("the callback works in the browser that was sent to the app alone", async () => {
  const { id, cookie, location } = await begin();
  const other = await begin();
  const back = t.app.consent(location);
  for (const wrong of [undefined, "", other.cookie, `${cookie}x`, `${cookie.split("=")[0]}=`]) {
    const answer = await t.pages.handleOauthCallback(back, { cookie: wrong });
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining("Another browser") });
  }
  expect((await stateOf(id)).state).toBe("pending");
  expect(t.app.tokenRequests).toEqual([]);
  expect((await t.pages.handleOauthCallback(back, { cookie })).status).toBe(302);
});

test("a state that was changed, made for the other page, or is not there leads nowhere", async () => {
  const { authorizeUrl, cookie, location } = await begin();
  const back = t.app.consent(location);
  const state = back.searchParams.get("state") ?? "";
  const start = new URL(authorizeUrl).searchParams.get("state") ?? "";
  const changed = `${state.slice(0, 40)}${state[40] === "A" ? "B" : "A"}${state.slice(41)}`;
  for (const wrong of [changed, start, "", `${state}=`, `${state} `, "x"]) {
    back.searchParams.set("state", wrong);
    expect((await t.pages.handleOauthCallback(back, { cookie })).status, wrong).toBe(400);
  }
  for (const wrong of [state, "", "x"]) {
    const page = await t.pages.handleOauthStart(new URL(`${publicUrl}/oauth/start?state=${wrong}`), {});
    expect(page.status).toBe(400);
  }
  expect(t.app.tokenRequests).toEqual([]);
});

test("start page and consent each run out after 10 minutes", async () => {
  const first = await begin();
  const back = t.app.consent(first.location);
  t.clock.advance(10 * 60_000);
  const answer = await t.pages.handleOauthCallback(back, { cookie: first.cookie });
  expect(answer).toMatchObject({ status: 400, body: expect.stringContaining("expired") });
  expect((await t.pages.handleOauthStart(new URL(first.authorizeUrl), {})).status).toBe(400);
  expect((await stateOf(first.id)).state).toBe("pending");
  // The next attempt to connect removes pending consents that have expired.
  t.clock.advance(10 * 60_000);
  await begin({ entityId: "bob" });
  expect((await stateOf(first.id)).state).toBe("pending");
  const second = await begin();
  expect(await stateOf(first.id)).toMatchObject({ state: "revoked", lastError: expect.stringContaining("in time") });
  expect((await stateOf(second.id)).state).toBe("pending");
});

test("an app that says no ends the account, and its words are reflected nowhere", async () => {
  const { id, cookie, location } = await begin();
  const words = { error: "access_denied<script>", error_description: "<script>alert(1)</script>" };
  const back = t.app.consent(location, words);
  const answer = await t.pages.handleOauthCallback(back, { cookie });
  const parameters = new URL(answer.headers["location"] ?? "").searchParams;
  expect(Object.fromEntries(parameters)).toEqual({
    tab: "1",
    connectedAccountId: id,
    status: "failed",
    reason: "consent was not given: the app answered an error it names itself",
  });
  expect(await stateOf(id)).toMatchObject({ state: "revoked", lastError: expect.stringContaining("names itself") });
  const row = await connectedAccountsForProject(t.db, projectId).find(id);
  expect(row?.credential).toBeNull();
  const plain = await begin({ redirectUrl: "" });
  const page = await t.pages.handleOauthCallback(t.app.consent(plain.location, words), { cookie: plain.cookie });
  expect(page).toMatchObject({ status: 400, body: expect.stringContaining("Not connected") });
  expect(page.body).not.toContain("script");
});

test.each([
  [400, '{"error":"invalid_grant"}'],
  [500, "oops"],
  [200, "not json"],
  [200, '{"token_type":"bearer"}'],
  [302, ""],
])("a token endpoint that answers %d %s ends the account, and the one before stays active", async (status, body) => {
  const before = await connectOverOauth(t, projectId);
  const { id, cookie, location } = await begin();
  t.app.tokenFailure = { status, body };
  const answer = await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
  expect(answer.headers["location"]).toContain("status=failed");
  expect(await stateOf(id)).toMatchObject({
    state: "revoked",
    lastError: expect.stringMatching(/could not be exchanged/),
  });
  expect((await stateOf(before)).state).toBe("active");
});

test.each([
  ["scopes with U+0000", { scope: "a\u0000b read" }, ["read"]],
  ["a list of scopes", { scope: ["read", "write"] }, ["read", "write"]],
  ["scopes of no form", { scope: { read: true } }, []],
  ["a life beyond time", { expires_in: 1e15 }, []],
  ["a life in the past", { expires_in: -5 }, []],
  ["a life that is no number", { expires_in: "soon" }, []],
  ["a refresh token that is none", { refresh_token: 5 }, []],
])("a token that comes with %s is kept all the same", async (_what, extras, scopes) => {
  const { id, cookie, location } = await begin();
  t.app.tokenFailure = { status: 200, body: JSON.stringify({ access_token: "t", token_type: "bearer", ...extras }) };
  const answer = await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
  expect(answer.headers["location"]).toContain("status=active");
  const account = await stateOf(id);
  expect(account).toMatchObject({ state: "active", grantedScopes: scopes });
  expect(account.expiresAt).toBeUndefined();
});

test.each<[string, number, string, string]>([
  [
    "a form",
    200,
    "access_token=t&token_type=bearer&scope=read%2Cwrite&expires_in=3600",
    "application/x-www-form-urlencoded",
  ],
  ["a form under another name", 200, "access_token=t&scope=read,write", "text/plain; charset=utf-8"],
  ["a bot's token", 200, '{"ok":true,"access_token":"t","token_type":"bot","scope":"read,write"}', "application/json"],
  [
    "a life as text",
    200,
    '{"access_token":"t","token_type":"Token","expires_in":"3600","scope":["read","write"]}',
    "text/html",
  ],
  ["a byte order mark", 200, '\ufeff{"access_token":"t","token_type":"user","scope":"read write"}', "application/json"],
])("%s is a token", async (_what, status, body, type) => {
  const { id, cookie, location } = await begin();
  t.app.tokenFailure = { status, body, headers: { "content-type": type } };
  await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
  expect(await stateOf(id)).toMatchObject({ state: "active", grantedScopes: ["read", "write"] });
});

test.each<[string, number, string, RegExp]>([
  [
    "a status of its own",
    400,
    '{"error":"invalid_grant","error_description":"The code has expired"}',
    /"invalid_grant" \(The code has expired\)$/,
  ],
  ["a good status", 200, '{"error":"bad_verification_code"}', /"bad_verification_code"$/],
  ["a form", 200, "error=bad_verification_code&error_description=The+code+is+wrong", /\(The code is wrong\)$/],
  [
    "an object",
    200,
    '{"error":{"code":"code_used","message":"It was used before"}}',
    /"code_used" \(It was used before\)$/,
  ],
  ["a token that signs", 200, '{"access_token":"t","token_type":"mac"}', /signs requests, which is not supported$/],
  [
    "a word that may be a secret",
    400,
    '{"error":"invalid_grant","error_description":"bad code a1b2c3d4e5"}',
    /"invalid_grant"$/,
  ],
])(
  "a code that is refused by %s says why: to the person, to the caller and at the account",
  async (_what, status, body, why) => {
    t.app.tokenFailure = { status, body, headers: { "content-type": "text/plain" } };
    const first = await begin();
    const sent = await t.pages.handleOauthCallback(t.app.consent(first.location), { cookie: first.cookie });
    expect(new URL(sent.headers["location"] ?? "").searchParams.get("reason")).toMatch(why);
    expect((await stateOf(first.id)).lastError).toMatch(why);
    const plain = await begin({ redirectUrl: "" });
    const page = await t.pages.handleOauthCallback(t.app.consent(plain.location), { cookie: plain.cookie });
    expect(page).toMatchObject({ status: 400, body: expect.stringContaining("could not be exchanged: the app ") });
  },
);

test("a token with bytes that are not text is no token", async () => {
  const { id, cookie, location } = await begin();
  t.app.tokenFailure = { status: 200, body: Buffer.from('{"access_token":"caf\xe9"}', "latin1") };
  await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
  expect((await stateOf(id)).state).toBe("revoked");
});

test("an error that quotes what was sent is kept nowhere", async () => {
  for (const [field, status] of [
    ["code", 400],
    ["code_verifier", 400],
    ["code", 403],
  ] as const) {
    const { id, cookie, location } = await begin();
    let sent = "";
    t.app.whileAsked = async () => {
      sent = t.app.tokenRequests.at(-1)?.get(field) ?? "";
      t.app.tokenFailure = { status, body: JSON.stringify({ error: `no_${sent}`.slice(0, 40) }) };
    };
    await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
    const { lastError } = await stateOf(id);
    expect(sent.length).toBeGreaterThan(20);
    expect(lastError).toMatch(/^the code could not be exchanged: the app answered .*an error it names itself$/);
  }
  const { id, cookie, location } = await begin();
  const back = t.app.consent(location, { error: "no_planted-code-7f3a", code: "planted-code-7f3a" });
  await t.pages.handleOauthCallback(back, { cookie });
  expect((await stateOf(id)).lastError).not.toContain("planted");
});

test("no code goes to an app whose address was published after the account was started", async () => {
  const definition = JSON.parse(privateToolkit("mine", "api.one.example.com"));
  for (const scheme of definition.toolkit.auth) {
    if (scheme.type === "oauth2")
      Object.assign(scheme, { authorizeUrl: `${t.app.url}/a`, tokenUrl: `${t.app.url}/token` });
  }
  await t.publish(projectId, JSON.stringify(definition));
  await t.client(projectId).putToolkitClient({ toolkitSlug: "mine", clientId: "client-1" });
  const [first, second] = [await begin({ toolkitSlug: "mine" }), await begin({ toolkitSlug: "mine", entityId: "bob" })];
  expect([first.page.status, second.page.status]).toEqual([302, 302]);
  definition.toolkit.baseUrl = "https://api.two.example.com";
  await t.publish(projectId, JSON.stringify(definition));
  const again = await t.pages.handleOauthStart(new URL(first.authorizeUrl), {});
  expect(again).toMatchObject({ status: 400, body: expect.stringContaining("definition has changed") });
  const { pathname } = new URL(new URL(second.location).searchParams.get("redirect_uri") ?? "");
  const back = new URL(`${publicUrl}${pathname}?code=c`);
  back.searchParams.set("state", new URL(second.location).searchParams.get("state") ?? "");
  await t.pages.handleOauthCallback(back, { cookie: second.cookie });
  expect(await stateOf(second.id)).toMatchObject({ lastError: expect.stringContaining("sends credentials elsewhere") });
  expect(t.app.tokenRequests).toEqual([]);
});

test("a pending account supersedes nothing until it is active", async () => {
  const before = await connectOverOauth(t, projectId);
  const { id, cookie, location } = await begin();
  expect((await stateOf(before)).state).toBe("active");
  await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
  expect((await stateOf(before)).state).toBe("superseded");
  expect((await stateOf(id)).state).toBe("active");
});

test("two consents that end at once leave exactly one active account", async () => {
  const flows = [await begin(), await begin()];
  await Promise.all(
    flows.map(({ cookie, location }) => t.pages.handleOauthCallback(t.app.consent(location), { cookie })),
  );
  const states = await Promise.all(flows.map(async ({ id }) => (await stateOf(id)).state));
  expect(states.sort()).toEqual(["active", "superseded"]);
});

test("an account deleted during consent stays deleted", async () => {
  const { id, cookie, location } = await begin();
  t.app.whileAsked = async () => {
    await t.client(projectId).deleteConnection({ id });
  };
  const answer = await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
  expect(answer.headers["location"]).toContain("status=failed");
  expect((await stateOf(id)).state).toBe("revoked");
});

test("an app that wants the client's secret in the body gets it there", async () => {
  t.app.clientAuthentication = "post";
  const id = await connectOverOauth(t, projectId);
  expect((await stateOf(id)).state).toBe("active");
});

test("behind http and a path the cookie is not Secure and has the path", async () => {
  const pages = createOauthPages({ ...t.options, publicUrl: () => "http://127.0.0.1:8080/svc/" });
  const { authorizeUrl } = await begin();
  const page = await pages.handleOauthStart(new URL(authorizeUrl), {});
  expect(page.headers["set-cookie"]).toMatch(/; Path=\/svc\/oauth; Max-Age=600; HttpOnly; SameSite=Lax$/);
  const redirectUri = new URL(page.headers["location"] ?? "").searchParams.get("redirect_uri");
  expect(redirectUri).toBe("http://127.0.0.1:8080/svc/oauth/callback");
});

test("state, cookie and verifier stand in no column in the clear", async () => {
  const { cookie, location } = await begin();
  await t.pages.handleOauthCallback(t.app.consent(location), { cookie });
  const secrets = [
    cookie.split("=")[1] ?? "",
    t.app.tokenRequests[0]?.get("code_verifier") ?? "",
    new URL(location).searchParams.get("state") ?? "",
  ];
  const rows = JSON.stringify(
    await t.db
      .sql`select row_to_json(a)::text as text, encode(credential, 'escape') as bytes from connected_accounts a`,
  );
  for (const secret of [...secrets, "at-1", "rt-1"]) {
    expect(secret).not.toBe("");
    expect(rows).not.toContain(`"${secret}`);
    if (secret.length > 10) expect(rows).not.toContain(secret);
  }
});
