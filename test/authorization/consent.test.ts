import { createPerson, registerAgent, type TestAgent } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
let agent: TestAgent;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  agent = await registerAgent(svc.url, { name: `<img src=x onerror="alert(1)">` });
});
afterAll(() => svc.stop());

const choice = { decision: "allow", entity: "ada", access: ["read"] };

test("nobody is led to an address that the client did not register, character by character", async () => {
  const person = createPerson(svc.url);
  const foreign = [
    "https://evil.example/callback",
    "http://127.0.0.1:7777/callback/../evil",
    "http://127.0.0.1:7777/callback?next=https://evil.example",
    "http://127.0.0.1:7777@evil.example/callback",
    "http://127.0.0.1.evil.example:7777/callback",
    "http://localhost:7777/callback",
    "https://127.0.0.1:7777/callback",
    "",
  ];
  for (const uri of foreign) {
    const page = await person.open(agent.authorizeUrl({ redirect_uri: uri }));
    expect(page).toMatchObject({ status: 400, location: "" });
    expect(page.html).not.toContain("<form");
  }
  const unknown = await person.open(agent.authorizeUrl({ client_id: "client_of_nobody" }));
  expect(unknown).toMatchObject({ status: 400, location: "" });
  // A program on this machine may use any free port.
  expect((await person.open(agent.authorizeUrl({ redirect_uri: "http://127.0.0.1:50001/callback" }))).status).toBe(200);
});

test("a request that cannot be granted leads nowhere by itself: its page has the way back, with the issuer", async () => {
  const person = createPerson(svc.url);
  const cases: [Record<string, string | null>, string][] = [
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ code_challenge: null }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
  ];
  for (const [changes, error] of cases) {
    const page = await person.open(agent.authorizeUrl(changes));
    expect(page).toMatchObject({ status: 400, location: "" });
    const back = new URL(/href="(http:[^"]+)"/.exec(page.html)?.[1]?.replaceAll("&#38;", "&") ?? "").searchParams;
    expect(Object.fromEntries(back)).toMatchObject({ error, state: "the state", iss: svc.url });
  }
});

test("an answer names who gives it, and what the client gave along", async () => {
  const person = createPerson(svc.url);
  const asked = await person.open(agent.authorizeUrl());
  const denied = await person.send(asked, "key", { decision: "deny" });
  expect(denied.status).toBe(303);
  const answer = Object.fromEntries(new URL(denied.location).searchParams);
  expect(answer).toEqual({ error: "access_denied", state: "the state", iss: svc.url });
  const decided = await person.send(asked, "key", { key: svc.key, decision: "next" });
  const allowed = await person.send(decided, "vouched", choice);
  const given = Object.fromEntries(new URL(allowed.location).searchParams);
  expect(given).toEqual({ code: expect.stringMatching(/^svcac_/), state: "the state", iss: svc.url });
});

test("the page stands in no frame, runs nothing of anyone's, and says where the answer goes", async () => {
  const page = await createPerson(svc.url).open(agent.authorizeUrl());
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self' http://127.0.0.1:7777");
  expect(policy).not.toContain("unsafe");
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.html).not.toContain("<img");
  expect(page.html).toContain("http://127.0.0.1:7777");
  expect(page.html).toContain("Its name is not checked");
});

test("a form is taken from this page in the browser that opened it: not of another origin, cookie or kind", async () => {
  const [person, other] = [createPerson(svc.url), createPerson(svc.url)];
  const asked = await person.open(agent.authorizeUrl());
  await other.open(agent.authorizeUrl());
  const typed = { key: svc.key, decision: "next" };
  expect(await person.send(asked, "key", typed, "https://evil.example")).toMatchObject({ status: 403, location: "" });
  // Another port of this machine is another origin, although it is the same site.
  expect(await person.send(asked, "key", typed, "http://127.0.0.1:1")).toMatchObject({ status: 403, location: "" });
  expect(await other.send(asked, "key", typed)).toMatchObject({ status: 400, location: "" });
  const decided = await person.send(asked, "key", typed);
  expect(await other.send(decided, "vouched", choice)).toMatchObject({ status: 400, location: "" });
  // A request that no person has vouched for must not be accepted as one that a person has vouched for.
  const swapped = { ...asked, html: asked.html.replaceAll('name="asked"', 'name="vouched"') };
  expect(await person.send(swapped, "vouched", choice)).toMatchObject({ status: 400, location: "" });
  expect((await person.send(decided, "vouched", choice)).status).toBe(303);
});

/** Returns the boxes of a page by the name of their field, and which of them are ticked. */
function boxesOf({ html }: { html: string }) {
  const boxes = [...html.matchAll(/type="checkbox" name="([\w-]+)" value="(\w+)"( checked)?/g)];
  const named = (isTicked: boolean) =>
    Object.groupBy(
      boxes
        .filter(([, , , checked]) => !isTicked || checked !== undefined)
        .map(([, name = "", value = ""]) => ({ name, value })),
      ({ name }) => name,
    );
  const values = (of: ReturnType<typeof named>) =>
    Object.fromEntries(Object.entries(of).map(([name, each]) => [name, each?.map(({ value }) => value)]));
  return { offered: values(named(false)), ticked: values(named(true)) };
}

test("a request for more than the key has is cut to it, and a grant has what is ticked and nothing more", async () => {
  const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
  const keyOf = async (binding: object) =>
    (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "small", ...binding })).json.key as string;
  const small = await keyOf({
    ...{ entityId: "ada", accessClasses: ["read", "write"], toolkitSlugs: ["calendar", "sales_crm"] },
    agentTools: ["operate", "repair"],
  });
  const person = createPerson(svc.url);
  const scope = "read write destructive toolkit:sales_crm toolkit:messaging_bot";
  const decide = async (key: string, changes: Record<string, string>) =>
    person.send(await person.open(agent.authorizeUrl(changes)), "key", { key, decision: "next" });
  const page = await decide(small, { scope });
  const { offered, ticked } = boxesOf(page);
  expect(offered["access"]).toEqual(["read", "write"]);
  expect(offered["toolkit"]?.toSorted()).toEqual(["calendar", "sales_crm"]);
  // A key that is scoped to a part of the project cannot give tools for seeing and repairing the whole project.
  expect(offered["agent-tools"]).toEqual(["programs", "connect"]);
  expect(ticked).toEqual({ access: ["read", "write"], toolkit: ["sales_crm"] });
  expect(page.html).not.toContain('name="entity"');
  const grantOf = async (from: typeof page, typed: Record<string, string | string[]>) => {
    const left = await person.send(from, "vouched", { decision: "allow", ...typed });
    if (left.status !== 303) return left;
    const { status } = await agent.change(new URL(left.location).searchParams.get("code") ?? "");
    expect(status).toBe(200);
    return (await svc.call("svc.v1.GrantsService/ListGrants", { pageSize: 1 })).json.grants[0];
  };
  expect(await grantOf(page, { access: ["read", "write"], toolkit: ["sales_crm"] })).toMatchObject({
    ...{ entityId: "ada", accessClasses: ["read", "write"], toolkitSlugs: ["sales_crm"], agentTools: [] },
  });
  // Values that the form sends but the page did not offer are not granted.
  const posted = { entity: "bob", "any-entity": "yes", access: ["read", "destructive"], toolkit: ["calendar"] };
  expect(await grantOf(page, { ...posted, "agent-tools": ["connect", "operate", "repair", "all"] })).toMatchObject({
    ...{ entityId: "ada", accessClasses: ["read"], toolkitSlugs: ["calendar"], agentTools: ["connect"] },
  });
  // The client asked for toolkits. A person who chooses none of them has not given access to all others.
  expect(page.html).toContain("It also asks for messaging_bot, which this key may not give.");
  const none = { access: ["read"] };
  for (const typed of [
    { access: ["destructive"] },
    { access: ["read"], toolkit: ["messaging_bot"] },
    { access: [] },
    none,
  ])
    expect(await grantOf(page, typed)).toMatchObject({ status: 400, location: "" });
  const every = { access: ["read"], toolkit: ["sales_crm"], "any-toolkit": "yes" };
  expect(await grantOf(page, every)).toMatchObject({ toolkitSlugs: ["calendar", "sales_crm"] });
  // A key of the whole project may give both groups of operator tools, but not to a client that acts for one entity.
  const whole = await decide(await keyOf({ agentTools: ["operate", "repair"] }), { scope: "read" });
  expect(boxesOf(whole).offered["agent-tools"]).toEqual(["programs", "connect", "operate", "repair"]);
  expect(boxesOf(whole).ticked).toEqual({ access: ["read"] });
  const operating = { access: ["read"], "agent-tools": ["operate", "repair"] };
  expect(await grantOf(whole, { ...operating, entity: "ada" })).toMatchObject({ entityId: "ada", agentTools: [] });
  expect(await grantOf(whole, { ...operating, "any-entity": "yes" })).toMatchObject({
    ...{ entityId: "", accessClasses: ["read"], toolkitSlugs: [], agentTools: ["operate", "repair"] },
  });
});

test("a key that opens nothing is told so on the page, and counted with the sign-ins that fail", async () => {
  const person = createPerson(svc.url);
  let page = await person.open(agent.authorizeUrl());
  for (let tries = 0; tries < 10; tries++) {
    page = await person.send(page, "key", { key: "no key at all", decision: "next" });
    expect(page.status).toBe(401);
  }
  page = await person.send(page, "key", { key: svc.key, decision: "next" });
  expect(page).toMatchObject({ status: 429, location: "" });
  const session = await svc.call("console/session", { key: svc.key }, { bearer: null, headers: { origin: svc.url } });
  expect(session).toMatchObject({ status: 429, reason: "SIGN_INS_EXCEEDED" });
});
