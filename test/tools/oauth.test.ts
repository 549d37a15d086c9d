import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consent, formOf, openBrowser } from "./browser.ts";
import { type Account, addProject, callTool, connect, readAccount } from "./project.ts";

let server: TestServer;
let entities = 0;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
});
afterAll(() => server?.stop());

/** Starts a connection for a new entity. */
async function initiate(changes: Record<string, unknown> = {}): Promise<{
  account: Account;
  authorizeUrl: string;
  entityId: string;
}> {
  const entityId = `person-${++entities}`;
  return { ...(await connect(server, "calendar", { entityId, scheme: "oauth2", ...changes })), entityId };
}

const listEvents = (entityId: string) =>
  callTool(server, "calendar.list_events", { calendar_id: "primary" }, { entityId });

test("a person allows it: start page, consent page, callback, active, and calls are made with the account", async () => {
  const { account, authorizeUrl, entityId } = await initiate();
  expect(account).toMatchObject({ state: "pending", scheme: "oauth2" });
  expect(authorizeUrl.startsWith(`${server.url}/oauth/start?state=`)).toBe(true);
  expect((await listEvents(entityId)).outcome).toBe("no_account");

  const browser = openBrowser();
  const started = await browser.open(authorizeUrl);
  expect(started.status).toBe(302);
  expect(started.headers.get("set-cookie")).toMatch(/; Path=\/oauth; Max-Age=600; HttpOnly; SameSite=Lax$/);
  const asked = new URL(started.location);
  expect(`${asked.origin}${asked.pathname}`).toBe(`${server.url}/sandbox/authorize`);
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    response_type: "code",
    client_id: "sandbox",
    redirect_uri: `${server.url}/oauth/callback`,
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
  });

  const page = await browser.open(started.location);
  expect(page).toMatchObject({ status: 200 });
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.text).toContain("Connect Calendar");
  const { action, fields } = formOf(page, started.location);
  const decided = await browser.post(action, { ...fields, decision: "allow" });
  expect(decided.status).toBe(302);
  expect(decided.location.startsWith(`${server.url}/oauth/callback?`)).toBe(true);

  const ended = await browser.open(decided.location);
  expect(ended.status).toBe(200);
  expect(ended.text).toContain("Connected");
  expect(ended.headers.get("set-cookie")).toContain("Max-Age=0");
  expect(ended.headers.get("referrer-policy")).toBe("no-referrer");
  expect(await readAccount(server, account.id)).toMatchObject({ state: "active", lastError: "" });
  expect(await listEvents(entityId)).toMatchObject({ outcome: "ok", sandbox: true });
});

test("a person denies it: the account never becomes active", async () => {
  const { account, authorizeUrl, entityId } = await initiate();
  const browser = openBrowser();
  const ended = await browser.open(await consent(browser, authorizeUrl, "deny"));
  expect(ended.status).toBe(400);
  expect(ended.text).toContain("Not connected");
  const after = await readAccount(server, account.id);
  expect(after.state).not.toBe("active");
  expect(after.lastError).toContain("access_denied");
  expect((await listEvents(entityId)).outcome).toBe("no_account");
});

test("a callback that was answered is not answered again, in the same browser or another", async () => {
  const { account, authorizeUrl } = await initiate();
  const browser = openBrowser();
  const callback = await consent(browser, authorizeUrl, "allow");
  expect((await browser.open(callback)).status).toBe(200);
  const { updatedAt } = (await readAccount(server, account.id)) as Account & { updatedAt: string };
  expect((await browser.open(callback)).status).toBe(400);
  expect((await openBrowser().open(callback)).status).toBe(400);
  expect((await browser.open(authorizeUrl)).text).toContain("This link has been used");
  expect(await readAccount(server, account.id)).toMatchObject({ state: "active", updatedAt });
});

test("a consent comes back to the browser that it was started in, or to none", async () => {
  const { account, authorizeUrl } = await initiate();
  const browser = openBrowser();
  const callback = await consent(browser, authorizeUrl, "allow");
  const elsewhere = await openBrowser().open(callback);
  expect(elsewhere.status).toBe(400);
  expect(elsewhere.text).toContain("Another browser started this");
  expect((await readAccount(server, account.id)).state).toBe("pending");
  // An attempt by someone else does not use up the consent.
  expect((await browser.open(callback)).status).toBe(200);
  expect((await readAccount(server, account.id)).state).toBe("active");
});

test("a browser with another consent's cookie does not finish this one", async () => {
  const mine = await initiate();
  const theirs = await initiate();
  const me = openBrowser();
  const them = openBrowser();
  await me.open(mine.authorizeUrl);
  const callback = await consent(them, theirs.authorizeUrl, "allow");
  expect((await me.open(callback)).status).toBe(400);
  expect((await readAccount(server, theirs.account.id)).state).toBe("pending");
});

test("two consents run in one browser at a time", async () => {
  const [first, second] = [await initiate(), await initiate()];
  const browser = openBrowser();
  const callbacks = [
    await consent(browser, first.authorizeUrl, "allow"),
    await consent(browser, second.authorizeUrl, "allow"),
  ];
  for (const callback of callbacks) expect((await browser.open(callback)).status).toBe(200);
  for (const { account } of [first, second]) expect((await readAccount(server, account.id)).state).toBe("active");
});

test("a code or a state that was changed is refused", async () => {
  const { account, authorizeUrl } = await initiate();
  const browser = openBrowser();
  const callback = new URL(await consent(browser, authorizeUrl, "allow"));
  const changed = new URL(callback);
  changed.searchParams.set("state", `${callback.searchParams.get("state")?.slice(0, -2)}AA`);
  expect((await browser.open(changed.href)).text).toContain("This link does not work");
  expect((await readAccount(server, account.id)).state).toBe("pending");
  const forged = new URL(callback);
  forged.searchParams.set("code", "made-up");
  expect((await browser.open(forged.href)).status).toBe(400);
  expect((await readAccount(server, account.id)).state).not.toBe("active");
});

test.each(["", "?state=", "?state=nonsense", "?state=../../x"])("the pages refuse %j", async (query) => {
  for (const path of ["/oauth/start", "/oauth/callback"]) {
    const page = await openBrowser().open(`${server.url}${path}${query}`);
    expect([path, page.status]).toEqual([path, 400]);
  }
});

test("the consent page answers only to forms that it gave out", async () => {
  const page = await openBrowser().post(`${server.url}/sandbox/authorize`, { request: "made-up", decision: "allow" });
  expect(page.status).toBe(400);
  expect(page.location).toBe("");
});

describe("redirectUrl", () => {
  beforeAll(async () => {
    const { json } = await server.admin("ListProjects");
    const projectId = json.projects[0].id as string;
    const redirectUrls = ["https://product.example.com/done"];
    expect((await server.admin("SetProjectPolicy", { projectId, redirectUrls })).status).toBe(200);
  });

  test.each([
    ["http://localhost:3000/back?tab=2", "allow", "active"],
    ["http://127.0.0.1:3000/back", "deny", "failed"],
    ["https://product.example.com/done", "allow", "active"],
    ["https://product.example.com/done?user=7&status=mine&connectedAccountId=x", "allow", "active"],
  ] as const)("%s: after %s the browser ends there with status %s", async (redirectUrl, decision, status) => {
    const { account, authorizeUrl } = await initiate({ redirectUrl });
    const browser = openBrowser();
    const ended = await browser.open(await consent(browser, authorizeUrl, decision));
    expect(ended.status).toBe(302);
    const [wanted, target] = [new URL(redirectUrl), new URL(ended.location)];
    expect(target.origin + target.pathname).toBe(wanted.origin + wanted.pathname);
    expect(target.searchParams.getAll("connectedAccountId")).toEqual([account.id]);
    expect(target.searchParams.getAll("status")).toEqual([status]);
    expect(target.searchParams.get("tab")).toBe(wanted.searchParams.get("tab"));
    expect(target.searchParams.get("user")).toBe(wanted.searchParams.get("user"));
    // Neither the code nor the state is passed on to another site.
    expect([...target.searchParams.keys()]).not.toContain("code");
    expect([...target.searchParams.keys()]).not.toContain("state");
  });

  test.each([
    "https://product.example.com/other",
    "https://product.example.com/done/../other",
    "https://product.example.com:8443/done",
    "http://product.example.com/done",
    "https://product.example.com.evil.example/done",
    "https://user@product.example.com/done",
    "https://evil.example/done",
    "http://localhost.evil.example/",
    "http://127.0.0.1@evil.example/",
    "http://[::ffff:8.8.8.8]/",
    "//evil.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "https://product.example.com/done\r\nset-cookie: a=b",
    "/relative",
    "nonsense",
    `https://product.example.com/done?${"x".repeat(2_100)}`,
  ])("%j is refused", async (redirectUrl) => {
    const answer = await server.call("svc.v1.ConnectionsService/InitiateConnection", {
      toolkitSlug: "calendar",
      entityId: "someone",
      redirectUrl,
    });
    expect([answer.code, answer.reason, answer.field]).toEqual([
      "invalid_argument",
      "REDIRECT_URL_REFUSED",
      "redirectUrl",
    ]);
  });
});

test("a newer account takes the older one's place when it becomes active, not before", async () => {
  const older = await initiate();
  const browser = openBrowser();
  await browser.open(await consent(browser, older.authorizeUrl, "allow"));
  const newer = await connect(server, "calendar", { entityId: older.entityId, scheme: "oauth2" });
  expect((await readAccount(server, older.account.id)).state).toBe("active");
  expect((await listEvents(older.entityId)).outcome).toBe("ok");
  await browser.open(await consent(browser, newer.authorizeUrl, "allow"));
  expect((await readAccount(server, older.account.id)).state).toBe("superseded");
  expect((await readAccount(server, newer.account.id)).state).toBe("active");
});

test("an account that was deleted while the person consented stays deleted", async () => {
  const { account, authorizeUrl } = await initiate();
  const browser = openBrowser();
  const callback = await consent(browser, authorizeUrl, "allow");
  await server.call("svc.v1.ConnectionsService/DeleteConnection", { id: account.id });
  expect((await browser.open(callback)).status).toBe(400);
  expect((await readAccount(server, account.id)).state).toBe("revoked");
});

test("a private toolkit is connected like a shared one: the page has its own name, and its own app decides on refresh tokens", async () => {
  const definitionOf = (refresh: boolean) =>
    JSON.stringify({
      toolkit: {
        slug: "calendar",
        name: "Our own planner",
        description: "A calendar of our own that hides the shared one, for tests of the sandbox.",
        version: "0.1.0",
        category: "scheduling",
        baseUrl: "https://planner.example.com",
        auth: [
          {
            type: "oauth2",
            authorizeUrl: "https://planner.example.com/authorize",
            tokenUrl: "https://planner.example.com/token",
            defaultScopes: ["plan"],
            refresh,
          },
        ],
      },
      tools: {
        list_plans: {
          kind: "action",
          class: "read",
          description: "Lists the plans of the calendar of our own, one page, in no particular order.",
          intents: ["what is planned", "show my week", "list what comes up"],
          input: { type: "object", additionalProperties: false, properties: {} },
          output: { type: "object", properties: { items: { type: "array", items: { type: "string" } } } },
          request: { method: "GET", path: "/plans" },
        },
      },
    });
  const project = await addProject(server, "planners");
  for (const refresh of [true, false]) {
    const published = await server.call(
      "svc.v1.CatalogService/PublishToolkit",
      { definitionJson: definitionOf(refresh) },
      { bearer: project.approver },
    );
    expect(published.code, JSON.stringify(published.json)).toBe("ok");
    const bearer = project.member;
    const { account, authorizeUrl } = await connect(server, "calendar", { bearer, scheme: "oauth2" });
    const browser = openBrowser();
    const started = await browser.open(authorizeUrl);
    const page = await browser.open(started.location);
    expect(page.text).toContain("<h1>Connect Our own planner</h1>");
    const { action, fields } = formOf(page, started.location);
    const decided = await browser.post(action, { ...fields, decision: "allow" });
    expect((await browser.open(decided.location)).status).toBe(200);
    const { json } = await server.call("svc.v1.ConnectionsService/GetConnection", { id: account.id }, { bearer });
    expect(json.account).toMatchObject({ state: "active", sandbox: true, toolkitOwnerProjectId: project.id });
    // Without a refresh token, the account expires with its access token.
    expect(json.account.expiresAt === undefined).toBe(refresh);
    expect(await callTool(server, "calendar.list_plans", {}, { bearer })).toMatchObject({
      outcome: "ok",
      sandbox: true,
    });
    // The sealed part of the address is valid for its own toolkit only.
    const foreign = new URL(started.location);
    foreign.searchParams.set("toolkit", "chat_workspace");
    expect((await openBrowser().open(foreign.href)).status).toBe(400);
  }
});
