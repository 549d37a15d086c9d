import { createId, type ProjectId, type SubscriptionId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { withTransaction } from "../connect.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { addProject, addSubscription, claimRequest, eventOf, fillQueue, nowMs } from "../test-rows.ts";
import { claimDeliveries } from "./claim.ts";
import { enqueueDeliveries } from "./enqueue.ts";
import { expireDeliveries } from "./expire.ts";
import { releaseDeliveries } from "./queue.ts";
import { deliveriesForProject } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate events, deliveries, delivery_tasks, subscriptions, projects cascade`);

const [me, other] = [createId("node", nowMs), createId("node", nowMs)];

async function queueOf(count: number, owner?: typeof me) {
  const projectId = await addProject(db);
  const subscriptionId = await addSubscription(db, projectId);
  const tasks = await fillQueue(db, projectId, subscriptionId, owner === undefined ? { count } : { count, owner });
  return { projectId, subscriptionId, tasks };
}

const deactivate = (projectId: ProjectId, id: SubscriptionId) =>
  subscriptionsForProject(db, projectId).update(id, { active: false });

async function leased(): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::int4 as count from delivery_tasks where lease_owner is not null`;
  return row?.count ?? 0;
}

test("a lease given back is free at once; one that belongs to another node is not touched", async () => {
  const mine = await queueOf(3, me);
  const theirs = await queueOf(2, other);
  await releaseDeliveries(db, me, [...mine.tasks.slice(0, 2), ...theirs.tasks]);
  expect(await leased()).toBe(3);
  const { deliveries } = await claimDeliveries(db, claimRequest(other));
  expect(deliveries.map(({ id }) => id).sort()).toEqual(
    mine.tasks
      .slice(0, 2)
      .map(({ id }) => id)
      .sort(),
  );
  await releaseDeliveries(db, me, []);
  expect(await leased()).toBe(5);
});

test("a subscription that is active expires nothing", async () => {
  const { subscriptionId } = await queueOf(3);
  expect(await expireDeliveries(db, subscriptionId, nowMs, 100)).toBe(0);
});

test("the pending deliveries of an inactive subscription end, a batch at a time; what is in flight is left to its owner", async () => {
  const { projectId, subscriptionId, tasks } = await queueOf(10);
  const deliveries = deliveriesForProject(db, projectId);
  await claimDeliveries(db, claimRequest(me, { share: 2 }));
  await deactivate(projectId, subscriptionId);
  expect(await expireDeliveries(db, subscriptionId, nowMs, 5)).toBe(5);
  expect(await expireDeliveries(db, subscriptionId, nowMs, 5)).toBe(3);
  expect(await expireDeliveries(db, subscriptionId, nowMs, 5)).toBe(0);
  const [inFlight, ended] = [tasks[0]!, tasks[9]!];
  expect(await deliveries.find(inFlight.id)).toMatchObject({ state: "pending" });
  expect(await deliveries.find(ended.id)).toMatchObject({
    state: "dead_letter",
    nextAttemptAt: null,
    lastError: expect.stringMatching(/^subscription_inactive: /),
  });
  // After its lease has expired, the node can no longer settle the task (store its result).
  expect(await expireDeliveries(db, subscriptionId, nowMs + 30_000, 5)).toBe(2);
  expect(await deliveries.find(inFlight.id)).toMatchObject({ state: "dead_letter" });
});

test("two nodes that expire at once end each delivery once", async () => {
  const { projectId, subscriptionId } = await queueOf(500);
  await deactivate(projectId, subscriptionId);
  const ended = await Promise.all(Array.from({ length: 6 }, () => expireDeliveries(db, subscriptionId, nowMs, 100)));
  const left = await expireDeliveries(db, subscriptionId, nowMs, 1_000);
  expect(ended.reduce((sum, count) => sum + count) + left).toBe(500);
});

test("fresh deliveries of stored events are queued unleased and marked, across the size of one statement", async () => {
  const { projectId, subscriptionId, tasks } = await queueOf(1);
  const eventId = eventOf(tasks[0]!.id);
  const fresh = Array.from({ length: 5_001 }, () => ({ id: createId("dlv", nowMs), eventId, subscriptionId }));
  await enqueueDeliveries(db, { projectId, dueAtMs: nowMs + 7, lowPriority: false }, fresh);
  const rows = await db.sql`select replayed, state, count(*)::int4 as count from deliveries group by 1, 2 order by 1`;
  expect(rows).toEqual([
    { replayed: false, state: "pending", count: 1 },
    { replayed: true, state: "pending", count: 5_001 },
  ]);
  expect(await deliveriesForProject(db, projectId).find(fresh[5_000]!.id)).toMatchObject({
    eventId,
    nextAttemptAt: nowMs + 7,
  });
  expect(await leased()).toBe(0);
});

test("a queue that fails half way leaves nothing, and one in a transaction ends with it", async () => {
  const { projectId, subscriptionId, tasks } = await queueOf(1);
  const eventId = eventOf(tasks[0]!.id);
  const id = createId("dlv", nowMs);
  const fresh = Array.from({ length: 5_001 }, () => ({ id: createId("dlv", nowMs), eventId, subscriptionId }));
  const twins = [{ id, eventId, subscriptionId }, ...fresh.slice(0, 5_000), { id, eventId, subscriptionId }];
  await expect(enqueueDeliveries(db, { projectId, dueAtMs: nowMs, lowPriority: false }, twins)).rejects.toThrow();
  const undone = withTransaction(db, async (tx) => {
    await enqueueDeliveries(tx, { projectId, dueAtMs: nowMs, lowPriority: false }, fresh.slice(0, 2));
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  const [row] = await db.sql`select count(*)::int4 as count from deliveries`;
  expect(row).toEqual({ count: 1 });
});

test("deliveries are found within their project, and listed newest first by either filter", async () => {
  const { projectId, subscriptionId, tasks } = await queueOf(4);
  const stranger = deliveriesForProject(db, await addProject(db));
  const deliveries = deliveriesForProject(db, projectId);
  const newest = tasks.map(({ id }) => id).reverse();
  const page = { after: undefined, limit: 3 };
  const bySubscription = { eventId: undefined, subscriptionId };
  expect((await deliveries.list(bySubscription, page)).map(({ id }) => id)).toEqual(newest.slice(0, 3));
  const rest = await deliveries.list(bySubscription, { after: newest[2]!, limit: 3 });
  expect(rest.map(({ id }) => id)).toEqual(newest.slice(3));
  const byEvent = { eventId: eventOf(newest[1]!), subscriptionId: undefined };
  expect((await deliveries.list(byEvent, page)).map(({ id }) => id)).toEqual([newest[1]]);
  expect(await stranger.list(bySubscription, page)).toEqual([]);
  expect(await stranger.find(newest[0]!)).toBeUndefined();
  expect(await stranger.findAttempts(newest[0]!)).toBeUndefined();
  expect(await deliveries.findAttempts(newest[0]!)).toEqual([]);
});
