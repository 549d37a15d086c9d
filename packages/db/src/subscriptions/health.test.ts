import { createId, operationalEventTypes, type ProjectId, pendingCountMax, type SubscriptionId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { countFailingEndpoints } from "../activity/backlog.ts";
import { claimDeliveries } from "../deliveries/claim.ts";
import { settleDeliveries } from "../deliveries/settle.ts";
import { recordEvents } from "../events/record.ts";
import { addProject, addSubscription, claimRequest, fillQueue, newEvent, nowMs, settlement } from "../test-rows.ts";
import { reportSubscriptionFailures, reportSubscriptionRecoveries, type SubscriptionFailures } from "./health.ts";
import { readSubscriptionProgress } from "./read-progress.ts";
import { subscriptionsForProject } from "./repo.ts";
import { readProjectRouting } from "./routing.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate events, deliveries, delivery_tasks, subscriptions, projects cascade`);

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const limits = { backoffMinMs: second, backoffMaxMs: 300 * second, failingMaxMs: 5 * day, goneMaxMs: hour, goneMin: 3 };

async function setUp() {
  const projectId = await addProject(db);
  const id = await addSubscription(db, projectId);
  const fail = async (atMs: number, report: Partial<SubscriptionFailures> = {}) => {
    const full = { subscriptionId: id, startedAtMs: nowMs + atMs, retryAfterMs: 0, goneCount: 0, ...report };
    const [health] = await reportSubscriptionFailures(db, [full], nowMs + atMs, limits);
    return health!;
  };
  const read = async () => (await subscriptionsForProject(db, projectId).find(id))!;
  return { projectId, id, fail, read };
}

const versionOf = async (id: ProjectId) => (await readProjectRouting(db, [id])).get(id)?.version;

async function deliver(projectId: ProjectId, id: SubscriptionId, atMs: number): Promise<void> {
  const me = createId("node", 0);
  await recordEvents(db, [newEvent(projectId, [id], { receivedAtMs: atMs })], undefined, { owner: me, untilMs: 0 });
  await db.sql`update subscriptions set failing_since = null`;
  const { deliveries } = await claimDeliveries(db, claimRequest(me, { nowMs: atMs }));
  await settleDeliveries(
    db,
    me,
    deliveries.map((one) => settlement(projectId, one, { attempt: { startedAt: atMs } })),
  );
}

test("failing and given up endpoints are counted, without healthy ones, those that a caller deactivated, and those of others", async () => {
  const { projectId, id, fail } = await setUp();
  const counts = () => countFailingEndpoints(db, projectId);
  const [other, off] = [await addSubscription(db, projectId), await addSubscription(db, projectId, "ada")];
  await setUp();
  expect(await counts()).toEqual({ failing: 0, givenUp: 0 });
  await fail(0);
  await fail(0, { subscriptionId: other });
  await fail(0, { subscriptionId: off });
  await subscriptionsForProject(db, projectId).update(off, { active: false });
  expect(await counts()).toEqual({ failing: 2, givenUp: 0 });
  await fail(6 * day, { giveUpAfterMs: day });
  expect(await counts()).toEqual({ failing: 1, givenUp: 1 });
  await reportSubscriptionRecoveries(db, [other]);
  await subscriptionsForProject(db, projectId).update(id, { active: true });
  expect(await counts()).toEqual({ failing: 0, givenUp: 0 });
});

test("pending deliveries are counted up to the number that the event svc.subscription_disabled names", async () => {
  const { projectId, id } = await setUp();
  const pending = async () => (await readSubscriptionProgress(db, projectId, id)).pending;
  await fillQueue(db, projectId, id, { count: pendingCountMax - 1 });
  expect(await pending()).toBe(pendingCountMax - 1);
  await fillQueue(db, projectId, id, { count: 2, fromMs: nowMs });
  expect(await pending()).toBe(pendingCountMax);
  const { schema } = operationalEventTypes.subscription_disabled.fields.pendingCount;
  expect(schema["description"]).toContain(`Exact up to ${pendingCountMax.toLocaleString("en-US")};`);
});

test("the first failure backs off for the least time; each probe that fails doubles it, up to the most", async () => {
  const { fail, read } = await setUp();
  let atMs = 0;
  const waits: number[] = [];
  for (let count = 0; count < 11; count++) {
    const { backoffUntilMs } = await fail(atMs);
    waits.push((backoffUntilMs - nowMs - atMs) / second);
    atMs = backoffUntilMs - nowMs;
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  expect(await read()).toMatchObject({ failingSince: nowMs, backoffMs: 300 * second });
});

test("failures of attempts that began before the backoff was set, or in its moment, do not double it", async () => {
  const { fail, read } = await setUp();
  await fail(10);
  await fail(20, { startedAtMs: nowMs + 5 });
  await fail(20, { startedAtMs: nowMs + 10 });
  expect(await read()).toMatchObject({
    failingSince: nowMs + 10,
    backoffMs: second,
    backoffUntil: nowMs + 10 + second,
  });
});

test("a Retry-After holds the endpoint back for longer, never for less", async () => {
  const { fail } = await setUp();
  expect((await fail(0, { retryAfterMs: 60 * second })).backoffUntilMs).toBe(nowMs + 60 * second);
  expect((await fail(1, { startedAtMs: nowMs })).backoffUntilMs).toBe(nowMs + 60 * second);
  expect((await fail(60 * second, { retryAfterMs: 500 })).backoffUntilMs).toBe(nowMs + 62 * second);
});

test("a success ends the backoff, and only that of a subscription that failed", async () => {
  const { projectId, id, fail, read } = await setUp();
  await fail(0, { goneCount: 2 });
  await reportSubscriptionRecoveries(db, [id, createId("sub", 0)]);
  const fresh = {
    failingSince: null,
    backoffUntil: null,
    backoffSetAt: null,
    backoffMs: 0,
    goneSince: null,
    goneCount: 0,
  };
  expect(await read()).toMatchObject({ ...fresh, active: true });
  await reportSubscriptionRecoveries(db, []);
  expect(await versionOf(projectId)).toBe(2);
});

test.each([
  ["410 three times within an hour", [0, 1, 59 * 60 * second], "410", ""],
  ["410 twice, an hour apart", [0, hour], "410", ""],
  ["410 three times over an hour", [0, 1, hour], "410", "gone"],
  ["failures for just under five days", [0, day, 5 * day - 1], "500", ""],
  ["failures for five days", [0, day, 5 * day], "500", "failing"],
])("%s", async (_what, times, status, inactiveReason) => {
  const { projectId, fail, read } = await setUp();
  const before = await versionOf(projectId);
  for (const atMs of times) await fail(atMs, { goneCount: status === "410" ? 1 : 0 });
  expect(await read()).toMatchObject({ inactiveReason, active: inactiveReason === "" });
  expect(await versionOf(projectId)).toBe((before ?? 0) + (inactiveReason === "" ? 0 : 1));
});

test("another failure among the 410s begins their count again", async () => {
  const { fail, read } = await setUp();
  await fail(0, { goneCount: 2 });
  await fail(hour);
  expect(await read()).toMatchObject({ goneCount: 0, goneSince: null });
  await fail(2 * hour, { goneCount: 3 });
  expect(await read()).toMatchObject({ active: true, goneCount: 3, goneSince: nowMs + 2 * hour });
});

test("what was given up stays so, with its first reason, and moves the routing version once", async () => {
  const { projectId, fail, read } = await setUp();
  await fail(0, { goneCount: 3 });
  expect((await fail(hour, { goneCount: 1 })).active).toBe(false);
  const version = await versionOf(projectId);
  expect((await fail(6 * day)).active).toBe(false);
  expect((await read()).inactiveReason).toBe("gone");
  expect(await versionOf(projectId)).toBe(version);
});

test("a delivery that arrived in between, also through a node without known failures, keeps an endpoint active", async () => {
  const { projectId, id, fail, read } = await setUp();
  await fail(0);
  await deliver(projectId, id, nowMs + day);
  await db.sql`update subscriptions set failing_since = ${new Date(nowMs).toISOString()}::timestamptz`;
  expect((await fail(6 * day)).active).toBe(true);
  expect((await read()).inactiveReason).toBe("");
});

test("reports of many subscriptions are written together; one that is gone is left out", async () => {
  const projectId = await addProject(db);
  const ids = [await addSubscription(db, projectId), await addSubscription(db, projectId), createId("sub", 0)];
  const reports = ids.map((subscriptionId) => ({ subscriptionId, startedAtMs: nowMs, retryAfterMs: 0, goneCount: 0 }));
  const health = await reportSubscriptionFailures(db, reports, nowMs, limits);
  expect(health.map(({ subscriptionId }) => subscriptionId).sort()).toEqual(ids.slice(0, 2).sort());
  expect(await reportSubscriptionFailures(db, [], nowMs, limits)).toEqual([]);
});

test("a subscription is deactivated after its own time of failures, or never", async () => {
  const { fail, read } = await setUp();
  await fail(0);
  expect((await fail(6 * day, { giveUpAfterMs: null })).active).toBe(true);
  expect((await fail(7 * day, { giveUpAfterMs: 8 * day })).active).toBe(true);
  expect((await fail(8 * day, { giveUpAfterMs: 8 * day })).active).toBe(false);
  expect((await read()).inactiveReason).toBe("failing");
});
