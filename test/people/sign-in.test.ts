import { idOfUuid } from "@svc/core";
import { startIdentityProvider } from "@svc/testing/identity-provider";
import type { TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createBrowser, signIn } from "./browser.ts";
import { type PeopleServer, startPeopleServer } from "./server.ts";

let people: PeopleServer;
let svc: TestServer;
let provider: PeopleServer["provider"];
beforeAll(async () => {
  people = await startPeopleServer();
  ({ svc, provider } = people);
});
afterAll(() => people?.stop());

let count = 0;
beforeEach(() => void people.account(`ada${++count}`, ["dev"]));

const account = () => provider.accounts.get(provider.current)!;
const me = "IdentityService/GetIdentity";

test("a person signs in with the company account, works with the role of the groups, and is named in the audit log", async () => {
  const session = await signIn(svc);
  expect(session.seats).toMatchObject([{ keyName: account().mail, projectName: "default", role: "member" }]);
  expect((await session.call(me)).json).toMatchObject({ projectName: "default", role: "ROLE_MEMBER" });
  expect((await session.call("AdminService/ListProjects", {}, "admin")).status).toBe(401);
  expect((await session.call("ConsoleService/EndSession", { id: "ses_00000000000000000000000000" })).status).toBe(404);
  const { events } = (await svc.admin("ListAuditEvents", { action: "ConsoleService.EndSession" })).json;
  expect(events[0].actor).toMatch(/^per_/);
  const [first] = (await svc.admin("ListAuditEvents", { actor: events[0].actor, action: "Person.SignIn" })).json.events;
  expect(first).toMatchObject({ subject: events[0].actor, outcome: "ok" });
});

test("a group gives the role administrator, without the administrator's token", async () => {
  account().groups = ["ops"];
  const session = await signIn(svc);
  expect(session.seats).toMatchObject([{ keyId: "admin", role: "admin" }]);
  expect((await session.call("AdminService/ListProjects", {}, "admin")).status).toBe(200);
  const created = await session.call("AdminService/CreateProject", { name: "of a person" }, "admin");
  expect(created.status).toBe(200);
  const { events } = (await svc.admin("ListAuditEvents", { action: "AdminService.CreateProject" })).json;
  expect(events[0].actor).toMatch(/^per_/);
});

test("an account of another domain, an unverified address and an account without a role are refused, each with its reason", async () => {
  const refused = async () => {
    const { answer, text } = await createBrowser().open(`${svc.url}/sign-in/start`);
    return `${answer.status} ${/<p>([^<]*)<\/p>/.exec(text)?.[1]}`;
  };
  account().mail = "eve@example.org";
  expect(await refused()).toBe("403 The mail address of this account is not one of an allowed domain.");
  account().mail = "eve@example.com";
  account().isMailVerified = false;
  expect(await refused()).toBe("403 The mail address of this account is not one of an allowed domain.");
  account().isMailVerified = true;
  account().groups = ["sales"];
  expect(await refused()).toBe("403 This account has no role in any project.");
});

test("a callback without the browser's own sign-in, a changed state and a replayed code open nothing", async () => {
  const browser = createBrowser();
  const begun = await fetch(`${svc.url}/sign-in/start`, { redirect: "manual" });
  const state = new URL(begun.headers.get("location")!).searchParams.get("state");
  const foreign = await browser.open(`${svc.url}/sign-in/callback?code=abc&state=${state}`);
  expect([foreign.answer.status, browser.cookiesFor(svc.url)]).toEqual([401, ""]);

  const flow = begun.headers.getSetCookie()[0]!.split(";")[0]!;
  const at = async (query: string, cookie = flow) => {
    const answer = await fetch(`${svc.url}/sign-in/callback?${query}`, { redirect: "manual", headers: { cookie } });
    return [answer.status, answer.headers.getSetCookie().length];
  };
  expect(await at("code=abc&state=another")).toEqual([401, 0]);
  expect(await at(`code=abc&state=${state}`)).toEqual([401, 0]);

  // The whole address of a sign-in that succeeded, sent once more with the same cookie.
  let callback = "";
  const jar = createBrowser();
  let url = begun.headers.get("location")!;
  while (!callback) {
    const answer = await fetch(url, { redirect: "manual", headers: { cookie: jar.cookiesFor(url) } });
    const cookies = answer.headers.getSetCookie().map((line) => line.split(";")[0]!.split("=", 2) as [string, string]);
    const known = jar
      .cookiesFor(url)
      .split("; ")
      .filter(Boolean)
      .map((one) => one.split("=", 2) as [string, string]);
    jar.keep(url, new Map([...known, ...cookies]));
    url = new URL(answer.headers.get("location")!, url).href;
    if (url.startsWith(svc.url)) callback = new URL(url).search.slice(1);
  }
  expect(await at(callback)).toEqual([303, 2]);
  expect(await at(callback)).toEqual([401, 0]);
});

test("after the provider has replaced its keys, the next sign-in works at once", async () => {
  await signIn(svc);
  await provider.rotateKeys();
  expect((await signIn(svc)).seats).toHaveLength(1);
});

test("a change of groups changes the role within minutes; removal at the provider ends the session and the keys made with it", async () => {
  const session = await signIn(svc);
  account().groups = ["cn=leads,ou=all"];
  await people.checkPeople();
  await until(async () => (await session.call(me)).json.role === "ROLE_APPROVER");
  const made = await session.call("GrantsService/CreateAgentKey", { name: "of a person", toolkitSlugs: ["calendar"] });
  expect(made.status).toBe(200);
  const asAgent = () => svc.call(`svc.v1.${me}`, {}, { bearer: made.json.key });
  expect((await asAgent()).status).toBe(200);
  provider.accounts.delete(provider.current);
  await people.checkPeople();
  await until(async () => (await session.call(me)).status === 401);
  expect(await asAgent()).toMatchObject({ status: 401, reason: "API_KEY_INVALID" });
});

test("a logout at the provider ends the session; its token works once, and tokens of others are refused", async () => {
  const session = await signIn(svc);
  const other = provider.current;
  const claims = {
    ...{ sub: other, aud: provider.clientId, iat: Math.floor(Date.now() / 1000), jti: "logout-1" },
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  };
  const send = async (token: string) => {
    const body = new URLSearchParams({ logout_token: token });
    return (await fetch(`${svc.url}/sign-in/logout`, { method: "POST", body })).status;
  };
  const stranger = await startIdentityProvider();
  const forged = await stranger.sign({ ...claims, iss: provider.url }, "logout+jwt");
  await stranger.stop();
  expect(await send(forged)).toBe(401);
  expect(await send(await provider.sign({ ...claims, aud: "another-client" }, "logout+jwt"))).toBe(401);
  expect(await send(await provider.sign({ ...claims, events: {} }, "logout+jwt"))).toBe(401);
  expect((await session.call(me)).status).toBe(200);
  const token = await provider.sign(claims, "logout+jwt");
  expect(await send(token)).toBe(200);
  expect((await session.call(me)).status).toBe(401);
  expect(await send(token)).toBe(401);
});

test("who signs out of the console gets the provider's address for signing out there", async () => {
  const session = await signIn(svc);
  const { status, json } = await session.session({}, "DELETE");
  expect(status).toBe(200);
  const address = new URL(json.signOutUrl);
  expect(address.origin).toBe(provider.url);
  expect(address.searchParams.get("post_logout_redirect_uri")).toBe(`${svc.url}/console/`);
  expect((await session.call(me)).status).toBe(401);
});

/** Returns the stored refresh token of the account, encrypted, and the time of its last confirmation, both as text. */
async function stored(): Promise<{ refresh: string | null; confirmed: string }> {
  const [row] = (await svc.database.db.sql.unsafe(
    `select refresh::text, confirmed_at::text as confirmed from people where subject = '${provider.current}'`,
  )) as { refresh: string | null; confirmed: string }[];
  return row!;
}

test("a sign-in without a refresh token leaves the stored one", async () => {
  await signIn(svc);
  const { refresh } = await stored();
  provider.givesRefreshTokens = false;
  try {
    await signIn(svc);
  } finally {
    provider.givesRefreshTokens = true;
  }
  expect(refresh).not.toBeNull();
  expect((await stored()).refresh).toBe(refresh);
});

test("without refresh tokens, the access and the keys end SVC_SESSION_MAX after the last sign-in, once, and a sign-in gives access again", async () => {
  provider.givesRefreshTokens = false;
  try {
    account().groups = ["cn=leads,ou=all"];
    const session = await signIn(svc);
    const made = await session.call("GrantsService/CreateAgentKey", {
      name: "of a person",
      toolkitSlugs: ["calendar"],
    });
    expect(made.status).toBe(200);
    const asAgent = () => svc.call(`svc.v1.${me}`, {}, { bearer: made.json.key });
    const ended = async () => {
      const [row] = (await svc.database.db.sql.unsafe(
        `select id::text from people where subject = '${provider.current}'`,
      )) as { id: string }[];
      const id = idOfUuid("per", row?.id ?? "");
      const { events } = (await svc.admin("ListAuditEvents", { action: "Person.End" })).json;
      return events.filter((event: { subject: string }) => event.subject === id).length;
    };
    const age = (time: string) =>
      svc.database.db.sql.unsafe(
        `update people set signed_in_at = now() - interval '${time}' where subject = '${provider.current}'`,
      );
    // The loop runs every 10 s. The second account shows that it has run.
    const first = provider.current;
    await age("6 days 23 hours");
    people.account(`late${count}`, ["dev"]);
    const late = await signIn(svc);
    await age("7 days 1 minute");
    await until(async () => (await late.call(me)).status === 401);
    provider.current = first;
    expect((await asAgent()).status).toBe(200);
    await age("7 days 1 minute");
    await until(async () => (await asAgent()).status === 401);
    expect((await session.call(me)).status).toBe(401);
    const again = await signIn(svc);
    expect((await again.call(me)).status).toBe(200);
    expect(await ended()).toBe(1);
  } finally {
    provider.givesRefreshTokens = true;
  }
});

test("the next refresh token is kept if the provider fails after giving it, so that the person stays signed in", async () => {
  const session = await signIn(svc);
  const before = await stored();
  provider.isUserinfoDown = true;
  try {
    await people.checkPeople();
    await until(async () => (await stored()).refresh !== before.refresh);
  } finally {
    provider.isUserinfoDown = false;
  }
  expect((await stored()).confirmed).toBe(before.confirmed);
  await people.checkPeople();
  await until(async () => (await stored()).confirmed !== before.confirmed);
  expect((await session.call(me)).status).toBe(200);
});

test("keys and the administrator's token work as before", async () => {
  expect((await svc.call(`svc.v1.${me}`)).status).toBe(200);
  expect((await svc.admin("ListProjects")).status).toBe(200);
});
