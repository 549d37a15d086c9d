import { createId, type ProjectId, parseId } from "@svc/core";
import { settleAccountRefresh } from "@svc/db/connections/refresh";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RenewalObservation } from "./observer.ts";
import { createRefresher, type Refresher } from "./refresher.ts";
import { connectOverOauth, createTestConnections, type TestConnections } from "./test-connections.ts";

let t: TestConnections;
let projectId: ProjectId;
let errors: unknown[];
let observed: RenewalObservation[];
let running: Refresher[];

beforeEach(async () => {
  t = await createTestConnections();
  projectId = await t.project();
  errors = [];
  observed = [];
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((refresher) => refresher.stop()));
  expect(errors).toEqual([]);
  await t[Symbol.asyncDispose]();
});

/** Starts the given number of nodes. Resolves when each has checked for due accounts. */
async function start(nodes = 1): Promise<void> {
  running = Array.from({ length: nodes }, () =>
    createRefresher({
      ...t.options,
      renewalObserver: { renewed: (renewal) => observed.push(renewal) },
      onError: (error) => errors.push(error),
    }),
  );
  for (const refresher of running) refresher.start();
  await rounds();
}

/** Resolves when every refresher has ended its round and waits for the next. */
async function rounds(): Promise<void> {
  while (t.clock.waiting() < running.length) await new Promise((resolve) => setImmediate(resolve));
}

/** Moves the clock forward by `ms`, in steps of one round of the refreshers. */
async function pass(ms: number): Promise<void> {
  t.clock.advance(ms);
  await rounds();
}

const minute = 60_000;
const refreshes = () => t.app.tokenRequests.filter((form) => form.get("grant_type") === "refresh_token").length;
const rowOf = async (id: string) => (await connectedAccountsForProject(t.db, projectId).find(parseId("acc", id)!))!;

test("a rotated refresh token is kept whatever the app says beside it", async () => {
  const id = await connectOverOauth(t, projectId);
  await start();
  const odd = { scope: "a\u0000b", expires_in: 1e15, token_type: "bearer" };
  t.app.tokenFailure = {
    status: 200,
    body: JSON.stringify({ access_token: "at-odd", refresh_token: "rt-odd", ...odd }),
  };
  await pass(55 * minute);
  expect(refreshes()).toBe(1);
  expect(await rowOf(id)).toMatchObject({ state: "active", lastError: "", grantedScopes: ["read", "write"] });
  await pass(24 * 60 * minute);
  expect(t.app.tokenRequests.at(-1)?.get("refresh_token")).toBe("rt-odd");
});

test("a token is renewed 5 minutes ahead of its end, by one of three nodes, again and again", async () => {
  const id = await connectOverOauth(t, projectId);
  await start(3);
  await pass(54 * minute);
  expect(refreshes()).toBe(0);
  await pass(minute);
  expect(refreshes()).toBe(1);
  await pass(54 * minute);
  expect(refreshes()).toBe(1);
  await pass(minute);
  expect(refreshes()).toBe(2);
  expect(await rowOf(id)).toMatchObject({ state: "active", lastError: "", refreshLeaseUntil: null, expiresAt: null });
});

test("a token that lives for long, or says nothing of its end, is renewed daily", async () => {
  t.app.expiresIn = 90 * 24 * 3600;
  await connectOverOauth(t, projectId);
  t.app.expiresIn = undefined;
  t.app.userId = "user-2";
  await connectOverOauth(t, await t.project());
  await start();
  await pass(23 * 60 * minute);
  expect(refreshes()).toBe(0);
  // In this time, the second account's token is renewed too. It makes no difference if the app's answer contains a new refresh token.
  await pass(60 * minute);
  expect(refreshes()).toBe(2);
});

test("an outage is met with waits that grow, and the account stays active until the app is back", async () => {
  const id = await connectOverOauth(t, projectId);
  t.app.tokenFailure = { status: 502, body: "" };
  await start();
  await pass(55 * minute);
  expect(refreshes()).toBe(1);
  await pass(25_000);
  expect(refreshes()).toBe(1);
  await pass(5_000);
  expect(refreshes()).toBe(2);
  // The account had been due for 30 seconds when the first retry failed, so the next retry follows after 30 more.
  await pass(25_000);
  expect(refreshes()).toBe(2);
  await pass(5_000);
  expect(refreshes()).toBe(3);
  await pass(55_000);
  expect(refreshes()).toBe(3);
  await pass(2 * 60 * minute);
  expect(refreshes()).toBe(4);
  expect(await rowOf(id)).toMatchObject({ state: "active", lastError: expect.stringContaining("502") });
  await pass(14 * minute);
  expect(refreshes()).toBe(4);
  t.app.tokenFailure = undefined;
  await pass(minute);
  expect(refreshes()).toBe(5);
  expect(await rowOf(id)).toMatchObject({ state: "active", lastError: "" });
});

/** Payloads of the operational events about accounts, oldest first. */
async function expiries(): Promise<unknown[]> {
  const rows = await t.db.sql<{ payload: string }[]>`
    select payload from events where trigger_slug = 'svc.account_expired' order by id`;
  return rows.map(({ payload }) => JSON.parse(payload));
}

async function subscribeToExpiries(): Promise<void> {
  const [id, createdAt] = [createId("sub", t.clock.now()), t.clock.now()];
  const endpoint = { endpointUrl: "https://ops.example.com/", signingSecret: Buffer.from("sealed") };
  const slugs = { toolkitSlug: "svc", triggerSlug: "svc.account_expired" };
  await subscriptionsForProject(t.db, projectId).create({ id, createdAt, ...endpoint, ...slugs });
}

test("a refusal by the app expires the account, which is reported once, and it is asked no more", async () => {
  await subscribeToExpiries();
  const id = await connectOverOauth(t, projectId);
  t.app.tokenFailure = { status: 400, body: '{"error":"invalid_grant"}' };
  await start();
  await pass(55 * minute);
  expect(await rowOf(id)).toMatchObject({ state: "expired", lastError: expect.stringContaining("invalid_grant") });
  await pass(24 * 60 * minute);
  expect(refreshes()).toBe(1);
  const { toolkitSlug, entityId, lastError } = await rowOf(id);
  expect(await expiries()).toEqual([
    { accountId: id, toolkitSlug, entityId, expiredAt: expect.any(String), lastError },
  ]);
});

test.each([
  '{"error":"invalid_grant"}',
  '{"ok":false,"error":"invalid_refresh_token"}',
  "error=bad_refresh_token&error_description=gone",
  '{"error":{"type":"OAuthException","message":"revoked","code":190}}',
])("a refusal under a good status (%s) expires the account", async (body) => {
  const id = await connectOverOauth(t, projectId);
  t.app.tokenFailure = { status: 200, body };
  await start();
  await pass(55 * minute);
  expect(await rowOf(id)).toMatchObject({ state: "expired" });
});

test.each([
  '{"error":"temporarily_unavailable"}',
  '{"ok":false,"error":"ratelimited"}',
  '{"ok":true}',
  "<html>busy</html>",
])("what says nothing of the consent (%s) expires nothing", async (body) => {
  const id = await connectOverOauth(t, projectId);
  t.app.tokenFailure = { status: 200, body };
  await start();
  await pass(55 * minute);
  expect(await rowOf(id)).toMatchObject({
    state: "active",
    lastError: expect.stringContaining("could not be renewed"),
  });
});

test("each renewal is told of once, with the account and what came of it, and without a token", async () => {
  const id = await connectOverOauth(t, projectId);
  await start(3);
  await pass(55 * minute);
  t.app.tokenFailure = { status: 502, body: "" };
  await pass(55 * minute);
  t.app.tokenFailure = { status: 400, body: '{"error":"invalid_grant"}' };
  await pass(minute);
  const facts = { accountId: id, projectId, toolkitSlug: "tracker", scheme: "oauth2", sandbox: false, durationMs: 0 };
  expect(observed).toEqual([
    { ...facts, outcome: "renewed", error: "" },
    { ...facts, outcome: "failed", error: expect.stringContaining("502") },
    { ...facts, outcome: "ended", error: expect.stringContaining("invalid_grant") },
  ]);
});

test("an account that cannot be renewed expires when its time is over", async () => {
  t.app.givesRefreshTokens = false;
  const ids = [await connectOverOauth(t, projectId), await connectOverOauth(t, projectId, { toolkitSlug: "brief" })];
  await subscribeToExpiries();
  await start(2);
  await pass(59 * minute);
  for (const id of ids) expect((await rowOf(id)).state).toBe("active");
  await pass(minute);
  for (const id of ids)
    expect(await rowOf(id)).toMatchObject({ state: "expired", lastError: "its credential ran out" });
  const reported = (await expiries()).map((payload) => (payload as { accountId: string }).accountId);
  expect(reported.toSorted()).toEqual(ids.toSorted());
  expect(refreshes()).toBe(0);
});

test("an account that is deleted while it is renewed stays deleted, without the new token", async () => {
  const id = await connectOverOauth(t, projectId);
  t.app.whileAsked = async () => {
    await t.client(projectId).deleteConnection({ id });
  };
  await start();
  await pass(55 * minute);
  expect(await rowOf(id)).toMatchObject({ state: "revoked", credential: null });
  expect(observed).toMatchObject([{ accountId: id, outcome: "superseded" }]);
});

test("a node that died while it renewed leaves the account to the others after a minute", async () => {
  const id = await connectOverOauth(t, projectId);
  const leaseUntil = new Date(t.clock.now() + 56 * minute).toISOString();
  await t.db.sql`update connected_accounts set refresh_lease_until = ${leaseUntil}`;
  await start();
  await pass(55 * minute);
  expect(refreshes()).toBe(0);
  await pass(minute);
  expect(refreshes()).toBe(1);
  expect((await rowOf(id)).refreshLeaseUntil).toBeNull();
});

test("a token that comes after the lease was lost is kept all the same, and whoever took the lease changes nothing", async () => {
  const id = await connectOverOauth(t, projectId);
  const stolen = t.clock.now() + 120 * minute;
  t.app.whileAsked = async () => {
    await t.db.sql`update connected_accounts set refresh_lease_until = ${new Date(stolen).toISOString()}`;
  };
  await start();
  await pass(55 * minute);
  t.app.whileAsked = undefined;
  const lease = { projectId, id: parseId("acc", id)!, leaseUntilMs: stolen };
  expect(await settleAccountRefresh(t.db, lease, { state: "expired", updatedAt: 0 })).toBe(false);
  expect(await rowOf(id)).toMatchObject({ state: "active", refreshLeaseUntil: null });
  // The next renewal must send the refresh token that the last renewal returned. The app refuses any other.
  await pass(55 * minute);
  expect(refreshes()).toBe(2);
  expect(await rowOf(id)).toMatchObject({ state: "active", lastError: "" });
});
