import type { TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBrowser, type PersonSession, signIn } from "./browser.ts";
import { type PeopleServer, startPeopleServer } from "./server.ts";

let people: PeopleServer;
let svc: TestServer;
let projectId: string;
beforeAll(async () => {
  people = await startPeopleServer();
  ({ svc } = people);
  ({ projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json);
});
afterAll(() => people?.stop());

const invite = async (more = {}) => svc.admin("CreateInvitation", { projectId, role: "ROLE_MEMBER", ...more });
const tokenOf = (answer: { json: { url: string } }) => answer.json.url.split("#")[1]!;

/** Opens an invitation with the account that the provider now uses, as its page does. */
function accept(token: string): Promise<PersonSession> {
  return signIn(svc, createBrowser(), { invitation: token });
}

test("an invitation gives its role once, to a person without any group", async () => {
  people.account("bob");
  const made = await invite({ role: "ROLE_APPROVER" });
  expect(made.json.url).toMatch(/\/sign-in\/invitation#[\w-]{43}$/);
  const session = await accept(tokenOf(made));
  expect(session.seats).toMatchObject([{ projectName: "default", role: "approver" }]);
  expect((await signIn(svc)).seats).toHaveLength(1);
  people.account("eve");
  await expect(accept(tokenOf(made))).rejects.toThrow("The invitation was used already");
});

test("an invitation for a mail address, an expired one and an unknown one let no other person in", async () => {
  people.account("mallory");
  const forAda = tokenOf(await invite({ mail: "Ada@example.com" }));
  await expect(accept(forAda)).rejects.toThrow("for another mail address");
  const old = tokenOf(await invite());
  await svc.database.db.sql.unsafe("update invitations set expires_at = now() where mail = ''");
  await expect(accept(old)).rejects.toThrow("has expired");
  await expect(accept("A".repeat(43))).rejects.toThrow("is unknown");
  people.account("ada");
  const ada = people.provider.accounts.get("ada")!;
  ada.isMailVerified = false;
  await expect(accept(forAda)).rejects.toThrow("has not verified the mail address");
  ada.isMailVerified = true;
  expect((await accept(forAda)).seats).toHaveLength(1);
  expect((await invite({ mail: "ada@example.org" })).reason).toBe("MAIL_INVALID");
  expect((await invite({ role: "ROLE_ADMIN" })).reason).toBe("ROLE_INVALID");
});

test("opening an invitation changes nothing: its page has a form, and the token is in no request", async () => {
  const page = await fetch(`${svc.url}/sign-in/invitation`);
  const text = await page.text();
  expect([page.status, text.includes('<form method="post"')]).toEqual([200, true]);
  expect(page.headers.get("content-security-policy")).toContain(`form-action 'self' ${people.provider.url}`);
});

test("the administrator lists people, changes their roles and removes them; a removed person has no session, key or name left", async () => {
  people.account("carol");
  const session = await accept(tokenOf(await invite()));
  const list = async () =>
    (await svc.admin("ListPeople")).json.people as { id: string; mail: string; seats: unknown[] }[];
  const { id, seats } = (await list()).find(({ mail }) => mail === "carol@example.com")!;
  expect(seats).toMatchObject([{ projectId, role: "ROLE_MEMBER", givenRole: "ROLE_MEMBER", active: true }]);
  const me = () => session.call("IdentityService/GetIdentity");
  expect((await svc.admin("SetPersonRole", { personId: id, projectId, role: "ROLE_APPROVER" })).status).toBe(200);
  expect((await me()).json.role).toBe("ROLE_APPROVER");
  const made = await session.call("GrantsService/CreateAgentKey", { name: "of carol", toolkitSlugs: ["calendar"] });
  expect(made.status).toBe(200);
  const audited = await svc.admin("ListAuditEvents", { actor: id });
  expect(audited.json.events.map(({ action }: { action: string }) => action)).toContain("GrantsService.CreateAgentKey");

  expect((await svc.admin("RemovePerson", { id })).status).toBe(200);
  expect((await me()).status).toBe(401);
  expect((await svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: made.json.key })).status).toBe(401);
  expect((await list()).some((one) => one.id === id)).toBe(false);
  const [{ left }] = (await svc.database.db.sql.unsafe(
    "select count(*)::int4 as left from people p where p::text like '%carol%'",
  )) as [{ left: number }];
  expect(left).toBe(0);
  expect((await svc.admin("RemovePerson", { id })).reason).toBe("PERSON_NOT_FOUND");
});

test("a lower role ends the keys that a person made with the higher one, and an invitation lowers no role", async () => {
  people.account("frank");
  const session = await accept(tokenOf(await invite({ role: "ROLE_APPROVER" })));
  const made = await session.call("GrantsService/CreateAgentKey", { name: "of frank", toolkitSlugs: ["calendar"] });
  const asAgent = () => svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: made.json.key });
  const again = await accept(tokenOf(await invite({ role: "ROLE_VIEWER" })));
  expect(again.seats).toMatchObject([{ keyId: session.seats[0].keyId, role: "approver" }]);
  expect((await asAgent()).status).toBe(200);
  const { json } = await svc.admin("ListPeople");
  const { id, seats } = json.people.find(({ mail }: { mail: string }) => mail === "frank@example.com");
  expect(seats).toMatchObject([{ role: "ROLE_APPROVER", givenRole: "ROLE_APPROVER" }]);

  const lowered = await svc.admin("SetPersonRole", { personId: id, projectId, role: "ROLE_VIEWER" });
  expect(lowered.json.person.seats).toMatchObject([{ role: "ROLE_VIEWER", givenRole: "ROLE_VIEWER", active: true }]);
  expect(await asAgent()).toMatchObject({ status: 401, reason: "API_KEY_INVALID" });
  expect((await signIn(svc)).seats).toMatchObject([{ role: "viewer" }]);
});

test("without the role that was given, a person cannot sign in any more", async () => {
  people.account("dave");
  const session = await accept(tokenOf(await invite()));
  const { json } = await svc.admin("ListPeople");
  const { id } = json.people.find(({ mail }: { mail: string }) => mail === "dave@example.com");
  await svc.admin("SetPersonRole", { personId: id, projectId, role: "ROLE_UNSPECIFIED" });
  expect((await session.call("IdentityService/GetIdentity")).status).toBe(401);
  await expect(signIn(svc)).rejects.toThrow("has no role in any project");
});
