import { createId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { withTransaction } from "../connect.ts";
import { enqueueDeliveries } from "../deliveries/enqueue.ts";
import { recordEvents } from "../events/record.ts";
import { eventsForProject } from "../events/repo.ts";
import { putQuarantinedPosts, sweepQuarantinedPosts } from "../quarantine/repo.ts";
import { addProject, addSubscription, eventOf, fillQueue, newEvent, nowMs } from "../test-rows.ts";
import { sweepProjectEvents } from "./sweep.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(
  () => db.sql`truncate events, deliveries, delivery_tasks, quarantined_posts, subscriptions, projects cascade`,
);

const day = 86_400_000;
const lease = { owner: createId("node", nowMs), untilMs: 0 };
const always = { beforeMs: nowMs, rememberFromMs: nowMs };

async function settledQueue(count: number) {
  const projectId = await addProject(db);
  const subscription = await addSubscription(db, projectId);
  const tasks = await fillQueue(db, projectId, subscription, { count });
  await db.sql`delete from delivery_tasks`;
  await db.sql`update deliveries set state = 'delivered', next_attempt_at = null`;
  return { projectId, subscription, tasks };
}

async function count(table: string): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`select count(*)::int4 as count from ${db.sql(table)}`;
  return row?.count ?? 0;
}

test("a batch removes the oldest settled events of one project, with their deliveries", async () => {
  const { projectId } = await settledQueue(10);
  await settledQueue(3);
  expect(await sweepProjectEvents(db, projectId, always, 4)).toBe(4);
  const kept = await db.sql`select min(received_at) > min(removed_before) as yes from events,
    (select min(received_at) + interval '3 seconds' as removed_before from events where project_id <> ${uuidOfId(projectId)}) other
    where project_id = ${uuidOfId(projectId)}`;
  expect(kept).toEqual([{ yes: true }]);
  expect([await count("events"), await count("deliveries")]).toEqual([9, 9]);
  expect(await sweepProjectEvents(db, projectId, always, 100)).toBe(6);
  expect(await sweepProjectEvents(db, projectId, always, 100)).toBe(0);
  expect([await count("events"), await count("deliveries")]).toEqual([3, 3]);
});

test("an event with a pending delivery stays whole, with its other deliveries", async () => {
  const { projectId, subscription } = await settledQueue(2);
  const another = await addSubscription(db, projectId);
  const event = newEvent(projectId, [subscription, another], { receivedAtMs: nowMs - day });
  await recordEvents(db, [event], undefined, lease);
  await db.sql`update deliveries set state = 'dead_letter' where subscription_id = (select min(subscription_id::text)::uuid from delivery_tasks)`;
  await db.sql`delete from delivery_tasks where subscription_id = (select min(subscription_id::text)::uuid from delivery_tasks)`;
  expect(await sweepProjectEvents(db, projectId, always, 100)).toBe(2);
  expect([await count("events"), await count("deliveries"), await count("delivery_tasks")]).toEqual([1, 2, 1]);
});

test("events received at the bound stay", async () => {
  const projectId = await addProject(db);
  await recordEvents(db, [newEvent(projectId), newEvent(projectId, [], { receivedAtMs: nowMs - 1 })], undefined, lease);
  expect(await sweepProjectEvents(db, projectId, always, 100)).toBe(1);
  expect(await count("events")).toBe(1);
});

test("an event whose key must be remembered longer is emptied, and its key still refuses a duplicate; then it is deleted", async () => {
  const projectId = await addProject(db);
  const event = newEvent(projectId, [], { receivedAtMs: nowMs - 2 * day, dedupeKey: "k", payload: '{"secret":1}' });
  const unkeyed = newEvent(projectId, [], { receivedAtMs: nowMs - 2 * day });
  await recordEvents(db, [event, unkeyed], undefined, lease);
  const week = { beforeMs: nowMs - day, rememberFromMs: nowMs - 7 * day };
  expect(await sweepProjectEvents(db, projectId, week, 100)).toBe(2);
  expect(await db.sql`select kind, payload from events`).toEqual([{ kind: "swept", payload: "" }]);
  expect(await eventsForProject(db, projectId).find(event.id)).toBeUndefined();
  expect(await sweepProjectEvents(db, projectId, week, 100)).toBe(0);
  const twin = newEvent(projectId, [], { dedupeKey: "k" });
  expect(await recordEvents(db, [twin], undefined, lease)).toEqual({ stale: false, duplicates: new Set([twin.id]) });
  expect(await sweepProjectEvents(db, projectId, { beforeMs: nowMs - day, rememberFromMs: nowMs - day }, 100)).toBe(1);
  expect(await recordEvents(db, [twin], undefined, lease)).toEqual({ stale: false, duplicates: new Set() });
});

test("sweeps of two nodes at once never wait for each other and remove each event once", async () => {
  const { projectId } = await settledQueue(300);
  const removed = await Promise.all(Array.from({ length: 5 }, () => sweepProjectEvents(db, projectId, always, 50)));
  const rest = await sweepProjectEvents(db, projectId, always, 1_000);
  expect(removed.reduce((sum, one) => sum + one) + rest).toBe(300);
  expect(await count("deliveries")).toBe(0);
});

test("quarantined posts go by their age, released or not", async () => {
  const post = (atMs: number, releasedAt: number | null) => {
    const id = createId("qrn", atMs);
    const text = { toolkitSlug: "t", reason: "no_trigger" as const, detail: "" };
    return {
      ...text,
      id,
      headers: {},
      query: {},
      body: Buffer.alloc(1),
      envelope: null,
      projectId: null,
      bodyBytes: 1,
      receivedAt: atMs,
      releasedAt,
    };
  };
  await putQuarantinedPosts(db, [post(nowMs - 2, null), post(nowMs - 1, nowMs), post(nowMs, null)]);
  expect(await sweepQuarantinedPosts(db, nowMs, 1)).toBe(1);
  expect(await sweepQuarantinedPosts(db, nowMs, 10)).toBe(1);
  expect(await count("quarantined_posts")).toBe(1);
});

test("a replay and a sweep at the same moment: a delivery never outlives its event", async () => {
  const { projectId, subscription, tasks } = await settledQueue(2);
  const [first, second] = tasks.map(({ id }) => eventOf(id));
  const replay = (eventId = first) => [{ id: createId("dlv", nowMs), eventId: eventId!, subscriptionId: subscription }];
  // The replay is not committed yet, so the sweep (deletion of old events) skips the event that the replay delivers again.
  await withTransaction(db, async (tx) => {
    await enqueueDeliveries(tx, { projectId, dueAtMs: nowMs, lowPriority: false }, replay(first));
    expect(await sweepProjectEvents(db, projectId, always, 100)).toBe(1);
  });
  expect(await sweepProjectEvents(db, projectId, always, 100)).toBe(0);
  expect([await count("events"), await count("delivery_tasks")]).toEqual([1, 1]);
  expect((await enqueueDeliveries(db, { projectId, dueAtMs: nowMs, lowPriority: false }, replay(second))).size).toBe(1);

  // The sweep (deletion of old events) is not committed yet. The replay waits for it, and then finds the event deleted.
  await db.sql`delete from delivery_tasks`;
  await db.sql`update deliveries set state = 'delivered'`;
  const [late] = replay(first);
  let enqueued: Promise<Set<string>> | undefined;
  await withTransaction(db, async (tx) => {
    expect(await sweepProjectEvents(tx, projectId, always, 100)).toBe(1);
    enqueued = enqueueDeliveries(db, { projectId, dueAtMs: nowMs, lowPriority: false }, [late!]);
    await waiting();
  });
  expect(await enqueued).toEqual(new Set([late!.id]));
  expect([await count("events"), await count("deliveries"), await count("delivery_tasks")]).toEqual([0, 0, 0]);
});

/** Resolves when a database session waits for a lock that another session holds. */
async function waiting(): Promise<void> {
  for (;;) {
    const rows =
      await db.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    if (rows.length > 0) return;
  }
}
