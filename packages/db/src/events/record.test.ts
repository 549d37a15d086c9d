import { createId, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { deliveriesForProject } from "../deliveries/repo.ts";
import { readDeploymentRouting } from "../projects/repo.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { readEntityRouting, readProjectRouting } from "../subscriptions/routing.ts";
import { addProject, addSubscription, newEvent, nowMs } from "../test-rows.ts";
import { type RoutingSnapshot, recordEvents } from "./record.ts";
import { eventsForProject } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate events, deliveries, delivery_tasks, subscriptions, projects cascade`);

const me = createId("node", nowMs);
const lease = { owner: me, untilMs: nowMs + 30_000 };

async function routingNow(ids: readonly ProjectId[]): Promise<RoutingSnapshot> {
  const { version } = await readDeploymentRouting(db);
  const routing = await readProjectRouting(db, ids);
  return { version, projects: new Map([...routing].map(([id, project]) => [id, project.version])) };
}

async function count(table: string): Promise<number> {
  const [row] = await db.sql<{ count: number }[]>`select count(*)::int4 as count from ${db.sql(table)}`;
  return row?.count ?? 0;
}

test("events, deliveries and tasks are stored together, leased if the caller sends them itself", async () => {
  const projectId = await addProject(db);
  const [sent, left] = [await addSubscription(db, projectId), await addSubscription(db, projectId)];
  const event = newEvent(projectId, [sent, left], {
    entityId: "e",
    occurredAtMs: nowMs - 5,
    payload: '{"a":"\\u0000"}',
  });
  event.deliveries[0]!.leased = true;
  expect(await recordEvents(db, [event], await routingNow([projectId]), lease)).toEqual({
    stale: false,
    duplicates: new Set(),
  });
  expect(await eventsForProject(db, projectId).find(event.id)).toEqual({
    projectId,
    id: event.id,
    kind: "event",
    toolkitSlug: "code_host",
    triggerSlug: "code_host.issue_opened",
    entityId: "e",
    payload: '{"a":"\\u0000"}',
    occurredAt: nowMs - 5,
    receivedAt: nowMs,
    dedupeKey: "",
    account: null,
    traceparent: null,
  });
  const deliveries = deliveriesForProject(db, projectId);
  const pending = {
    state: "pending",
    attempts: 0,
    lastError: "",
    lastAttemptAt: null,
    nextAttemptAt: nowMs,
    replayed: false,
  };
  for (const { id } of event.deliveries) expect(await deliveries.find(id)).toMatchObject(pending);
  const tasks = await db.sql`select subscription_id, lease_owner from delivery_tasks order by lease_owner nulls last`;
  expect(tasks).toEqual([
    { subscription_id: uuidOfId(sent), lease_owner: uuidOfId(me) },
    { subscription_id: uuidOfId(left), lease_owner: null },
  ]);
});

test("nothing is stored on routing that the store has moved on from", async () => {
  const projectId = await addProject(db);
  const before = await routingNow([projectId]);
  const id = await addSubscription(db, projectId);
  const store = (seen: RoutingSnapshot) => recordEvents(db, [newEvent(projectId)], seen, lease);
  expect(await store(before)).toEqual({ stale: true });
  const after = await routingNow([projectId]);
  expect(await store(after)).toMatchObject({ stale: false });
  await subscriptionsForProject(db, projectId).update(id, { active: false });
  expect(await store(after)).toEqual({ stale: true });
  const current = await routingNow([projectId]);
  await addProject(db);
  expect(await store(current)).toEqual({ stale: true });
  expect(await recordEvents(db, [], current, lease)).toEqual({ stale: true });
  expect(await store({ version: current.version, projects: new Map([[createId("prj", 0), 0]]) })).toEqual({
    stale: true,
  });
  expect(await count("events")).toBe(1);
});

test("nothing is stored on subscriptions of an entity that the store has moved on from, and other shards do not matter", async () => {
  const projectId = await addProject(db);
  const of = async (entityId: string) => (await readEntityRouting(db, [{ projectId, entityId }]))[0]!;
  const seenOf = async (...names: string[]) => {
    const shards = (await Promise.all(names.map(of))).map(({ shard, version }) => ({ projectId, shard, version }));
    return { ...(await routingNow([projectId])), shards };
  };
  const store = async ({ shards }: RoutingSnapshot) => {
    const event = newEvent(projectId, [], { entityId: "ada", subscribedVersion: 1 });
    const outcome = await recordEvents(db, [event], { ...(await routingNow([projectId])), shards: shards! }, lease);
    return outcome.stale ? "stale" : "stored";
  };
  const before = await seenOf("ada");
  expect(before.shards).toMatchObject([{ version: 0 }]);
  expect(await store(before)).toBe("stored");
  const id = await addSubscription(db, projectId, "ada");
  expect(await store(before)).toBe("stale");
  const after = await seenOf("ada", "bob");
  expect(await store(after)).toBe("stored");
  await addSubscription(db, projectId, "bob");
  expect(await store(after)).toBe("stale");
  expect(await store({ ...after, shards: after.shards.slice(0, 1) })).toBe("stored");
  await subscriptionsForProject(db, projectId).update(id, { active: false });
  expect(await store(await seenOf("bob"))).toBe("stored");
  expect(await store(after)).toBe("stale");
  const [counted] = await db.sql`select count(*)::int4 as count from standing_arrivals`;
  expect(counted).toEqual({ count: await count("events") });
});

test("if only shards have changed, the answer has their present versions, so that nothing else is read again", async () => {
  const projectId = await addProject(db);
  const id = await addSubscription(db, projectId, "ada");
  await addSubscription(db, projectId, "bob");
  const entities = ["ada", "bob"].map((entityId) => ({ projectId, entityId }));
  const shards = (await readEntityRouting(db, entities)).map(({ shard, version }) => ({ projectId, shard, version }));
  const seen = { ...(await routingNow([projectId])), shards };
  const store = () => recordEvents(db, [newEvent(projectId, [], { entityId: "ada" })], seen, lease);
  expect(await store()).toMatchObject({ stale: false });
  await subscriptionsForProject(db, projectId).update(id, { active: false });
  expect(await store()).toEqual({ stale: true, moved: [{ ...shards[0], version: 2 }] });
  await addSubscription(db, projectId);
  expect(await store()).toEqual({ stale: true, moved: undefined });
});

test("a known key is reported, and nothing of that event is stored", async () => {
  const projectId = await addProject(db);
  const subscription = await addSubscription(db, projectId);
  const seen = await routingNow([projectId]);
  const first = newEvent(projectId, [subscription], { dedupeKey: "k" });
  await recordEvents(db, [first], seen, lease);
  const [again, other, unkeyed] = [
    newEvent(projectId, [subscription], { dedupeKey: "k" }),
    newEvent(projectId, [subscription], { dedupeKey: "k", triggerSlug: "code_host.push_received" }),
    newEvent(projectId, [subscription]),
  ];
  expect(await recordEvents(db, [again, other, unkeyed], seen, lease)).toEqual({
    stale: false,
    duplicates: new Set([again.id]),
  });
  expect([await count("events"), await count("deliveries"), await count("delivery_tasks")]).toEqual([3, 3, 3]);
});

test("keys are distinguished by their whole content, and by project and trigger", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const triggerSlug = "code_host.push_received";
  const keys = [
    "k",
    "K",
    " k",
    "a/b",
    "a\\b",
    "a\\\\b",
    "\\x61",
    "\\141",
    "é",
    "e\u0301",
    "🧾",
    "%",
    "'",
    "\n",
    "sha256:00",
  ];
  const keyed = (owner: ProjectId, part: object) =>
    keys.map((dedupeKey) => newEvent(owner, [], { dedupeKey, ...part }));
  const all = () => [...keyed(projectId, {}), ...keyed(projectId, { triggerSlug }), ...keyed(other, {})];
  expect(await recordEvents(db, all(), undefined, lease)).toMatchObject({ duplicates: new Set() });
  const again = all();
  const expected = new Set(again.map(({ id }) => id));
  expect(await recordEvents(db, again, undefined, lease)).toEqual({ stale: false, duplicates: expected });
  expect(await count("events")).toBe(3 * keys.length);
});

test("concurrent batches with the same keys store each once, and none fails", async () => {
  const projectId = await addProject(db);
  const seen = await routingNow([projectId]);
  const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, node) => {
      const rotated = [...keys.slice(node * 6), ...keys.slice(0, node * 6)];
      return recordEvents(
        db,
        rotated.map((dedupeKey) => newEvent(projectId, [], { dedupeKey })),
        seen,
        lease,
      );
    }),
  );
  const stored = outcomes.map((outcome) => (outcome.stale ? 0 : 50 - outcome.duplicates.size));
  expect(stored.reduce((sum, one) => sum + one)).toBe(50);
  expect(await count("events")).toBe(50);
});

test("a batch in which one row is refused stores nothing", async () => {
  const projectId = await addProject(db);
  const seen = await routingNow([projectId]);
  const bad = newEvent(projectId, [], { entityId: "a\0b" });
  await expect(recordEvents(db, [newEvent(projectId), bad], seen, lease)).rejects.toThrow();
  expect(await count("events")).toBe(0);
});

test("deliveries that rest on no routing are stored without asking for it", async () => {
  const projectId = await addProject(db);
  const event = newEvent(projectId, [await addSubscription(db, projectId)], { kind: "test" });
  expect(await recordEvents(db, [event], undefined, lease)).toEqual({ stale: false, duplicates: new Set() });
  expect(await count("delivery_tasks")).toBe(1);
});
