import { createId, type EventId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type Executor, withTransaction } from "../connect.ts";
import { enqueueDeliveries } from "../deliveries/enqueue.ts";
import { recordEvents } from "../events/record.ts";
import { eventsForProject } from "../events/repo.ts";
import { putQuarantinedPosts, sweepQuarantinedPosts } from "../quarantine/repo.ts";
import { closePause, endPause, openPause } from "../replays/pause.ts";
import { replaysForProject } from "../replays/repo.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { addProject, addSubscription, eventOf, fillQueue, newEvent, nowMs } from "../test-rows.ts";
import { type EventRetention, sweepProjectEvents } from "./sweep.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(
  () => db.sql`truncate events, deliveries, delivery_tasks, quarantined_posts, subscriptions, projects cascade`,
);

const day = 86_400_000;
const lease = { owner: createId("node", nowMs), untilMs: 0 };
const always = { beforeMs: nowMs, rememberFromMs: nowMs };

/** Deletes a batch of a project's events, as the first batch of a round. Returns the number of deleted events. */
async function sweep(on: Executor, projectId: ProjectId, retention: EventRetention, limit: number): Promise<number> {
  return (await sweepProjectEvents(on, projectId, retention, { limit })).count;
}

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
  expect(await sweep(db, projectId, always, 4)).toBe(4);
  const kept = await db.sql`select min(received_at) > min(removed_before) as yes from events,
    (select min(received_at) + interval '3 seconds' as removed_before from events where project_id <> ${uuidOfId(projectId)}) other
    where project_id = ${uuidOfId(projectId)}`;
  expect(kept).toEqual([{ yes: true }]);
  expect([await count("events"), await count("deliveries")]).toEqual([9, 9]);
  expect(await sweep(db, projectId, always, 100)).toBe(6);
  expect(await sweep(db, projectId, always, 100)).toBe(0);
  expect([await count("events"), await count("deliveries")]).toEqual([3, 3]);
});

test("an event with a pending delivery stays whole, with its other deliveries", async () => {
  const { projectId, subscription } = await settledQueue(2);
  const another = await addSubscription(db, projectId);
  const event = newEvent(projectId, [subscription, another], { receivedAtMs: nowMs - day });
  await recordEvents(db, [event], undefined, lease);
  await db.sql`update deliveries set state = 'dead_letter' where subscription_id = (select min(subscription_id::text)::uuid from delivery_tasks)`;
  await db.sql`delete from delivery_tasks where subscription_id = (select min(subscription_id::text)::uuid from delivery_tasks)`;
  expect(await sweep(db, projectId, always, 100)).toBe(2);
  expect([await count("events"), await count("deliveries"), await count("delivery_tasks")]).toEqual([1, 2, 1]);
});

test("events received at the bound stay", async () => {
  const projectId = await addProject(db);
  await recordEvents(db, [newEvent(projectId), newEvent(projectId, [], { receivedAtMs: nowMs - 1 })], undefined, lease);
  expect(await sweep(db, projectId, always, 100)).toBe(1);
  expect(await count("events")).toBe(1);
});

test("an event whose key must be remembered longer is emptied, and its key still refuses a duplicate; then it is deleted", async () => {
  const projectId = await addProject(db);
  const event = newEvent(projectId, [], { receivedAtMs: nowMs - 2 * day, dedupeKey: "k", payload: '{"secret":1}' });
  const unkeyed = newEvent(projectId, [], { receivedAtMs: nowMs - 2 * day });
  await recordEvents(db, [event, unkeyed], undefined, lease);
  const week = { beforeMs: nowMs - day, rememberFromMs: nowMs - 7 * day };
  expect(await sweep(db, projectId, week, 100)).toBe(2);
  expect(await db.sql`select kind, payload from events`).toEqual([{ kind: "swept", payload: "" }]);
  expect(await eventsForProject(db, projectId).find(event.id)).toBeUndefined();
  expect(await sweep(db, projectId, week, 100)).toBe(0);
  const twin = newEvent(projectId, [], { dedupeKey: "k" });
  expect(await recordEvents(db, [twin], undefined, lease)).toEqual({ stale: false, duplicates: new Set([twin.id]) });
  expect(await sweep(db, projectId, { beforeMs: nowMs - day, rememberFromMs: nowMs - day }, 100)).toBe(1);
  expect(await recordEvents(db, [twin], undefined, lease)).toEqual({ stale: false, duplicates: new Set() });
});

test("sweeps of two nodes at once never wait for each other and remove each event once", async () => {
  const { projectId } = await settledQueue(300);
  const removed = await Promise.all(Array.from({ length: 5 }, () => sweep(db, projectId, always, 50)));
  const rest = await sweep(db, projectId, always, 1_000);
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
    expect(await sweep(db, projectId, always, 100)).toBe(1);
  });
  expect(await sweep(db, projectId, always, 100)).toBe(0);
  expect([await count("events"), await count("delivery_tasks")]).toEqual([1, 1]);
  expect((await enqueueDeliveries(db, { projectId, dueAtMs: nowMs, lowPriority: false }, replay(second))).size).toBe(1);

  // The sweep (deletion of old events) is not committed yet. The replay waits for it, and then finds the event deleted.
  await db.sql`delete from delivery_tasks`;
  await db.sql`update deliveries set state = 'delivered'`;
  const [late] = replay(first);
  let enqueued: Promise<Set<string>> | undefined;
  await withTransaction(db, async (tx) => {
    expect(await sweep(tx, projectId, always, 100)).toBe(1);
    enqueued = enqueueDeliveries(db, { projectId, dueAtMs: nowMs, lowPriority: false }, [late!]);
    await waiting();
  });
  expect(await enqueued).toEqual(new Set([late!.id]));
  expect([await count("events"), await count("deliveries"), await count("delivery_tasks")]).toEqual([0, 0, 0]);
});

/** Stores events of entities (customers or users), one second apart and the last one second before now. Returns their ids, oldest first. */
async function storeOf(projectId: ProjectId, entities: readonly string[]): Promise<EventId[]> {
  const posted = entities.map((entityId, at) =>
    newEvent(projectId, [], { entityId, receivedAtMs: nowMs - (entities.length - at) * 1_000 }),
  );
  await recordEvents(db, posted, undefined, lease);
  return posted.map(({ id }) => id);
}

/** Pauses a subscription. Its replay keeps events from a minute before `atMs` on. */
async function pauseAt(projectId: ProjectId, id: SubscriptionId, atMs: number) {
  const found = await subscriptionsForProject(db, projectId).find(id);
  if (found === undefined) throw new Error("the subscription is missing");
  const paused = { ...found, createdAt: 0 };
  const pausedReplayId = await openPause(db, paused, { nowMs: atMs, freshId: createId("rpl", atMs), origin: "" });
  await subscriptionsForProject(db, projectId).update(id, { active: false, inactiveReason: "paused", pausedReplayId });
  return { ...paused, pausedReplayId };
}

const keptOf = async (projectId: ProjectId) => {
  const rows = await db.sql<{ entity_id: string }[]>`
    select entity_id from events where project_id = ${uuidOfId(projectId)} order by id`;
  return rows.map(({ entity_id }) => entity_id);
};

test("the pause of one entity's subscription keeps the events of this entity from its beginning on, and no others", async () => {
  const projectId = await addProject(db);
  const ada = await addSubscription(db, projectId, "ada");
  await addSubscription(db, projectId, "bob");
  const paused = await pauseAt(projectId, ada, nowMs + 55_500);
  await storeOf(projectId, ["ada", "bob", "", "ada", "bob", "", "ada"]);
  expect(await sweep(db, projectId, always, 100)).toBe(5);
  expect(await keptOf(projectId)).toEqual(["ada", "ada"]);
  // The events stay until the replay of the pause has ended.
  await closePause(db, paused, nowMs);
  expect(await sweep(db, projectId, always, 100)).toBe(0);
  await endPause(db, paused, { nowMs, reason: "requested" });
  expect(await sweep(db, projectId, always, 100)).toBe(2);
});

test("a replay to one entity's subscription keeps its events; one to all subscriptions or to the project's own keeps every event", async () => {
  const projectId = await addProject(db);
  const [ada, own] = [await addSubscription(db, projectId, "ada"), await addSubscription(db, projectId)];
  const start = (subscriptionId: SubscriptionId | null) =>
    replaysForProject(db, projectId).start(
      {
        ...{ id: createId("rpl", nowMs), toolkitSlug: "", triggerSlug: "", subscriptionId, onlyUndelivered: false },
        ...{ onlyFailed: false, since: nowMs - 2_500, until: nowMs, perSecond: 1, total: 0, uncountedFromId: null },
        ...{ pacedAt: nowMs, createdAt: nowMs, origin: "" },
      },
      { ofProject: 10, ofCustomers: 100 },
    );
  const end = () =>
    db.sql`update replays set ended_at = now(), state = 'done' where project_id = ${uuidOfId(projectId)}`;
  await storeOf(projectId, ["bob", "ada", "bob", "ada"]);
  await start(ada);
  expect(await sweep(db, projectId, always, 100)).toBe(3);
  expect(await keptOf(projectId)).toEqual(["ada"]);
  await end();
  expect(await sweep(db, projectId, always, 100)).toBe(1);
  for (const to of [own, null]) {
    await storeOf(projectId, ["bob", "", "bob", "ada"]);
    await start(to);
    expect(await sweep(db, projectId, always, 100)).toBe(2);
    expect(await keptOf(projectId)).toEqual(["bob", "ada"]);
    await end();
    expect(await sweep(db, projectId, always, 100)).toBe(2);
  }
});

test.each([["with"], ["without"]])(
  "the pause of a deleted subscription keeps nothing, in a project %s other entities",
  async (others) => {
    const projectId = await addProject(db);
    const ada = await addSubscription(db, projectId, "ada");
    if (others === "with") await addSubscription(db, projectId, "bob");
    await pauseAt(projectId, ada, nowMs);
    await storeOf(projectId, ["ada", "bob"]);
    // An erasure deletes a subscription without a call.
    await db.sql`delete from subscriptions where id = ${uuidOfId(ada)}`;
    expect(await sweep(db, projectId, always, 100)).toBe(2);
  },
);

test("each batch continues after the last event of the batch before", async () => {
  const projectId = await addProject(db);
  const ids = await storeOf(projectId, ["a", "b", "c", "d"]);
  const first = await sweepProjectEvents(db, projectId, always, { limit: 2 });
  expect(first).toEqual({ count: 2, last: ids[1] });
  expect(await sweepProjectEvents(db, projectId, always, { limit: 9, after: ids[2] })).toEqual({
    count: 1,
    last: ids[3],
  });
  expect(await sweepProjectEvents(db, projectId, always, { limit: 9, after: ids[3] })).toEqual({
    count: 0,
    last: undefined,
  });
  expect(await sweep(db, projectId, always, 9)).toBe(1);
});

/** Resolves when a database session waits for a lock that another session holds. */
async function waiting(): Promise<void> {
  for (;;) {
    const rows =
      await db.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    if (rows.length > 0) return;
  }
}
