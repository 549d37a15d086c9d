import { uuidOfId } from "@svc/core";
import { askMcp, letIn, registerAgent } from "@svc/testing/agent";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// Tests of requests that wait while their caller loses its access: they must return nothing more.

let svc: TestServer;
let projectId: string;
beforeAll(async () => {
  svc = await startTestServer({
    variables: { SVC_SANDBOX: "force", SVC_WEBHOOK_SECRET_CALENDAR: "secret-of-the-calendar-0123456789" },
  });
  ({ projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json);
});
afterAll(() => svc.stop());

const name = "calendar.events_changed";

async function makeKey(): Promise<{ id: string; token: string }> {
  const { json } = await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "waiting" });
  return { id: json.apiKey.id, token: json.key };
}

/** Creates a grant that was given with a key. `token`: its access token. */
async function makeGrant(key: string): Promise<{ id: string; token: string }> {
  const agent = await registerAgent(svc.url);
  const answer = await letIn({ url: svc.url, key }, agent, {
    entity: "",
    "any-entity": "yes",
    toolkit: ["calendar", "sales_crm"],
  });
  const { json } = await agent.change(answer.get("code") ?? "");
  const listed = await svc.call("svc.v1.GrantsService/ListGrants", { pageSize: 1 }, { bearer: key });
  return { id: listed.json.grants[0].id, token: json.access_token };
}

/** Starts a poll that waits. `ended`: resolves when it is answered. */
async function startPoll(token: string) {
  const first = await askMcp(svc.url, token, "events/poll", { name });
  const { cursor } = ((await first.json()) as { result: { cursor: string } }).result;
  const poll = { isOver: false };
  const answered = askMcp(svc.url, token, "events/poll", { name, cursor, timeoutMs: 25_000 }).then(async (res) => {
    poll.isOver = true;
    return { status: res.status, text: await res.text() };
  });
  return { poll, answered };
}

let message = 0;
async function post(): Promise<void> {
  const headers = {
    "x-calendar-channel-id": "waiting",
    "x-calendar-message-number": String(++message),
    "x-calendar-resource-id": "resource-1",
    "x-calendar-resource-state": "exists",
    "x-calendar-resource-uri": "https://calendar.example/calendar/v3/calendars/primary/events?alt=json",
  };
  const address = `${svc.url}/webhooks/calendar?token=secret-of-the-calendar-0123456789`;
  expect((await fetch(address, { method: "POST", headers })).status).toBe(202);
}

const grants = (method: string, body: object, bearer: string) =>
  svc.call(`svc.v1.GrantsService/${method}`, body, { bearer });

/** The ways in which a waiting caller can lose its access, each with its request and the error that it then gets. */
const endings: Record<
  string,
  () => Promise<{ token: string; end: () => Promise<unknown>; status: number; says: string }>
> = {
  "its key is revoked": async () => {
    const { id, token } = await makeKey();
    return { token, end: () => svc.admin("RevokeApiKey", { id }), status: 401, says: "API_KEY_INVALID" };
  },
  "its key is revoked by another node": async () => {
    const { id, token } = await makeKey();
    const end = () => svc.database.db.sql`update api_keys set revoked_at = now() where id = ${uuidOfId(id as never)}`;
    return { token, end, status: 401, says: "API_KEY_INVALID" };
  },
  "its key expires": async () => {
    const { id, token } = await makeKey();
    const end = () => svc.database.db.sql`update api_keys set expires_at = now() where id = ${uuidOfId(id as never)}`;
    return { token, end, status: 401, says: "API_KEY_INVALID" };
  },
  "its grant is ended": async () => {
    const giver = await makeKey();
    const { id, token } = await makeGrant(giver.token);
    return { token, end: () => grants("RevokeGrant", { id }, giver.token), status: 401, says: "GRANT_INVALID" };
  },
  "the key that vouches for its grant is revoked": async () => {
    const giver = await makeKey();
    const { token } = await makeGrant(giver.token);
    return { token, end: () => svc.admin("RevokeApiKey", { id: giver.id }), status: 401, says: "GRANT_INVALID" };
  },
  "its access token is over": async () => {
    const giver = await makeKey();
    const { token } = await makeGrant(giver.token);
    const end = () => svc.database.db.sql`update grant_tokens set expires_at = now() where expires_at > now()`;
    return { token, end, status: 401, says: "GRANT_INVALID" };
  },
  "its grant is narrowed": async () => {
    const giver = await makeKey();
    const { id, token } = await makeGrant(giver.token);
    const end = () => grants("UpdateGrant", { id, toolkitSlugs: ["sales_crm"] }, giver.token);
    return { token, end, status: 400, says: "GRANT_CHANGED" };
  },
};

test.each(Object.keys(endings))("a poll that waits ends, and hands out nothing, when %s", async (what) => {
  const { token, end, status, says } = (await endings[what]?.()) ?? expect.unreachable();
  const { poll, answered } = await startPoll(token);
  await end();
  // A node caches a key for at most a second.
  await until(() => poll.isOver, "the poll ends");
  await post();
  const answer = await answered;
  expect(answer).toMatchObject({ status, text: expect.stringContaining(says) });
  expect(answer.text).not.toContain("eventId");
});

test("an event that comes while the end is not noticed yet is not handed out", async () => {
  const { id, token } = await makeKey();
  const { poll, answered } = await startPoll(token);
  const begun = Date.now();
  await until(() => Date.now() - begun > 1_500, "the poll has been waiting");
  expect(poll.isOver).toBe(false);
  await svc.admin("RevokeApiKey", { id });
  await post();
  expect(await answered).toMatchObject({ status: 401, text: expect.stringContaining("API_KEY_INVALID") });
});

test("a poll whose caller stays is answered with what comes", async () => {
  const { token } = await makeKey();
  const { poll, answered } = await startPoll(token);
  const begun = Date.now();
  await until(() => Date.now() - begun > 2_500, "the poll has been looked at");
  expect(poll.isOver).toBe(false);
  await post();
  expect(await answered).toMatchObject({ status: 200, text: expect.stringContaining("eventId") });
});
