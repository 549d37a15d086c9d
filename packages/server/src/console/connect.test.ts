import { sendAsPage } from "@svc/testing/console-session";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
let addresses = 0;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_TRUSTED_PROXIES: "127.0.0.1/32", SVC_SANDBOX: "force" } });
});
afterAll(() => svc.stop());

const connections = (name: string, body: unknown, bearer = svc.key) =>
  svc.call(`svc.v1.ConnectionsService/${name}`, body, { bearer });

async function linkOf(body: object): Promise<string> {
  const { json, code } = await connections("CreateConnectLink", { entityId: "ada", ...body });
  expect(code, JSON.stringify(json)).toBe("ok");
  expect(json.url).toMatch(new RegExp(`^${svc.url}/console/connect#[\\w-]{43}$`));
  return json.url.split("#")[1];
}

/** Posts like the console's page, each time from another address. */
const post = (body: object): Promise<TestAnswer> =>
  sendAsPage(svc, "/console/connect", body, { headers: { "x-forwarded-for": `192.0.2.${++addresses}` } });

const accounts = async (toolkitSlug: string) =>
  (await connections("ListConnections", { toolkitSlug })).json.accounts as { state: string; entityId: string }[];

test("opening a link shows the form of its scheme, and changes nothing", async () => {
  const token = await linkOf({ toolkitSlug: "sales_crm" });
  await fetch(`${svc.url}/console/connect`);
  for (const { json } of [await post({ token }), await post({ token })]) {
    expect(json).toMatchObject({
      toolkitName: expect.any(String),
      spec: { toolkitSlug: "sales_crm", authSchemes: [{ type: "api_key" }], accountVariables: [] },
      expiresAt: expect.any(String),
    });
  }
  expect(await accounts("sales_crm")).toEqual([]);
});

test("a key that is filled in goes to the vault, and into no answer or line of the log; the link is spent by it", async () => {
  const token = await linkOf({ toolkitSlug: "sales_crm" });
  const apiKey = "the-key-that-a-person-filled-in";
  const connected = await post({ token, connect: { apiKey } });
  expect(connected.json).toEqual({ state: "active", authorizeUrl: "" });
  expect(await accounts("sales_crm")).toEqual([expect.objectContaining({ state: "active", entityId: "ada" })]);
  for (const body of [{ token }, { token, connect: { apiKey } }]) {
    const again = await post(body);
    expect(again).toMatchObject({ status: 401, reason: "LINK_INVALID" });
    expect(again.json.message).toContain("used already");
  }
  const rows = await svc.database.db.sql.unsafe<{ row: string }[]>("select l::text as row from console_links l");
  const texts = rows.map(({ row }) => row).join("") + svc.logs.join("") + JSON.stringify(connected.json);
  for (const secret of [apiKey, token]) expect(texts).not.toContain(secret);
});

test("what InitiateConnection refuses is refused, and the link stays", async () => {
  const token = await linkOf({ toolkitSlug: "sales_crm", entityId: "bob" });
  expect(await post({ token, connect: { apiKey: "a\u0000b" } })).toMatchObject({ reason: "CREDENTIAL_INVALID" });
  expect(await post({ token, connect: { accountVariables: { other: "x" } } })).toMatchObject({
    ...{ status: 400, reason: "ACCOUNT_VARIABLE_UNKNOWN" },
  });
  expect(await post({ token, connect: "now" })).toMatchObject({ status: 400, reason: "REQUEST_MALFORMED" });
  expect((await post({ token, connect: { apiKey: "a-good-key" } })).json.state).toBe("active");
});

test("of several keys sent at once, one is connected", async () => {
  const token = await linkOf({ toolkitSlug: "incident_mgmt", entityId: "many" });
  const keys = Array.from({ length: 8 }, (_, nth) => post({ token, connect: { apiKey: `key-${nth}` } }));
  const statuses = (await Promise.all(keys)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, ...Array(7).fill(401)]);
  expect(await accounts("incident_mgmt")).toHaveLength(1);
});

test("consent is asked for by the app's own page, and the link is spent once it was given", async () => {
  const token = await linkOf({ toolkitSlug: "calendar", entityId: "eve", redirectUrl: "http://127.0.0.1:9/done" });
  const started = await post({ token, connect: {} });
  expect(started.json).toEqual({ state: "pending", authorizeUrl: expect.stringContaining(`${svc.url}/oauth/start?`) });
  expect((await post({ token })).json.spec.toolkitSlug).toBe("calendar");
  await consent(started.json.authorizeUrl);
  expect(await accounts("calendar")).toEqual([expect.objectContaining({ state: "active", entityId: "eve" })]);
  expect(await post({ token })).toMatchObject({ status: 401, reason: "LINK_INVALID" });
  const { json } = await svc.admin("ListAuditEvents", { actor: "link" });
  expect(json.events.slice(0, 2)).toMatchObject([
    { action: "ConsentPage.Connect", subject: expect.stringMatching(/^acc_/), outcome: "ok" },
    { action: "ConnectLink.Connect", subject: "calendar", outcome: "ok" },
  ]);
});

test("one of the consents requested through a link connects, and the link is then used", async () => {
  const token = await linkOf({ toolkitSlug: "calendar", entityId: "twice" });
  const [first, second, third] = [
    await post({ token, connect: {} }),
    await post({ token, connect: {} }),
    await post({ token, connect: {} }),
  ].map(({ json }) => json.authorizeUrl as string);
  const ofTwice = async () => (await accounts("calendar")).filter(({ entityId }) => entityId === "twice");
  // Gives the earliest consent. The account of a later attempt has already replaced its account in the link.
  await consent(first ?? "");
  const active = (await ofTwice()).filter(({ state }) => state === "active");
  expect(active).toHaveLength(1);
  const isSpent = async () => {
    for (const body of [{ token }, { token, connect: {} }]) {
      expect(await post(body)).toMatchObject({ status: 401, reason: "LINK_INVALID" });
    }
  };
  await isSpent();
  await Promise.all([consent(second ?? ""), consent(third ?? "")]);
  expect((await ofTwice()).filter(({ state }) => state === "active")).toEqual(active);
  await isSpent();
  const { id } = active[0] as unknown as { id: string };
  expect((await connections("DeleteConnection", { id })).code).toBe("ok");
  await isSpent();
});

test("a consent that is refused leaves its link good", async () => {
  const token = await linkOf({ toolkitSlug: "calendar", entityId: "again" });
  await consent((await post({ token, connect: {} })).json.authorizeUrl, "deny");
  expect((await post({ token })).json.spec.toolkitSlug).toBe("calendar");
  await consent((await post({ token, connect: {} })).json.authorizeUrl);
  expect(await post({ token })).toMatchObject({ status: 401, reason: "LINK_INVALID" });
});

/** Acts like a browser: opens the app's consent page, sends its form, and follows the redirect back. */
async function consent(authorizeUrl: string, decision = "allow"): Promise<void> {
  const start = await fetch(authorizeUrl, { redirect: "manual" });
  const cookie = (start.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const page = await (await fetch(start.headers.get("location") ?? "")).text();
  const form = new URLSearchParams({ decision });
  for (const [, name = "", value = ""] of page.matchAll(/name="(\w+)"[^>]*value="([^"]*)"/g)) {
    if (name !== "decision") form.set(name, value);
  }
  const action = new URL(/<form[^>]*action="([^"]*)"/.exec(page)?.[1] ?? "", start.headers.get("location") ?? "");
  const decided = await fetch(action, { method: "POST", body: form, redirect: "manual" });
  await fetch(decided.headers.get("location") ?? "", { headers: { cookie }, redirect: "manual" });
}

test("a link is refused for what could never be connected, and for a key that may not decide where calls go", async () => {
  const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
  const member = (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "member" })).json.key;
  const refusals: [object, string, string?][] = [
    [{ toolkitSlug: "nope" }, "TOOLKIT_NOT_FOUND"],
    [{ toolkitSlug: "sales_crm", entityId: "" }, "ENTITY_ID_INVALID"],
    [{ toolkitSlug: "sales_crm", scheme: "oauth2" }, "SCHEME_NOT_DECLARED"],
    [{ toolkitSlug: "scheduling" }, "SCHEME_REQUIRED"],
    [{ toolkitSlug: "calendar", redirectUrl: "https://evil.example.com" }, "REDIRECT_URL_REFUSED"],
    [{ toolkitSlug: "vector_db" }, "ORIGIN_NEEDS_APPROVER", member],
    [
      { toolkitSlug: "sales_crm", expiresAt: new Date(Date.now() + 8 * 86_400_000).toISOString() },
      "LINK_EXPIRY_INVALID",
    ],
  ];
  for (const [body, reason, bearer] of refusals)
    expect((await connections("CreateConnectLink", { entityId: "ada", ...body }, bearer)).reason).toBe(reason);
});

test("a link ends with its key", async () => {
  const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
  const { apiKey, key } = (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "x" })).json;
  const { json } = await connections("CreateConnectLink", { toolkitSlug: "sales_crm", entityId: "zoe" }, key);
  await svc.admin("RevokeApiKey", { id: apiKey.id });
  const dead = await post({ token: json.url.split("#")[1], connect: { apiKey: "k-of-zoe" } });
  expect(dead).toMatchObject({ status: 401, reason: "LINK_INVALID" });
});
