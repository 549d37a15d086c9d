import { createProject } from "@svc/db";
import { afterAll, expect, test } from "vitest";
import { startRetention, sweepRound } from "./retention.ts";
import { dropTestDatabases } from "./test-databases.ts";
import { createTestStore, type TestStore } from "./test-engine.ts";
import { until } from "./test-until.ts";

afterAll(dropTestDatabases);

const day = 86_400_000;
const forever = new AbortController().signal;

async function counts({ db }: TestStore) {
  const [row] = await db.sql`select (select count(*)::int4 from events where kind <> 'swept') as events,
    (select count(*)::int4 from deliveries) as deliveries, (select count(*)::int4 from delivery_tasks) as tasks`;
  return row;
}

const options = (store: TestStore) => ({ ...store, eventRetentionMs: 30 * day, onError: () => expect.unreachable() });

async function endAll({ db }: TestStore): Promise<void> {
  await db.sql`delete from delivery_tasks`;
  await db.sql`update deliveries set state = 'delivered', next_attempt_at = null`;
}

test("settled events go with their deliveries once they are past their time, and not before", async () => {
  await using store = await createTestStore();
  const { id } = await store.subscribe("https://example.com/");
  await store.publish([id], { count: 5 });
  await endAll(store);
  store.clock.advance(30 * day);
  await sweepRound(options(store), forever);
  expect(await counts(store)).toEqual({ events: 5, deliveries: 5, tasks: 0 });
  store.clock.advance(1);
  await sweepRound(options(store), forever);
  expect(await counts(store)).toEqual({ events: 0, deliveries: 0, tasks: 0 });
});

test("an event with a pending delivery stays whole, however old", async () => {
  await using store = await createTestStore();
  const { id } = await store.subscribe("https://example.com/");
  await store.publish([id], { count: 3 });
  await endAll(store);
  await store.publish([id], { count: 2 });
  store.clock.advance(365 * day);
  await sweepRound(options(store), forever);
  expect(await counts(store)).toEqual({ events: 2, deliveries: 2, tasks: 2 });
});

test("a round goes over every project in small batches, until nothing is left", async () => {
  await using store = await createTestStore();
  await createProject(store.db, "another", store.clock.now());
  const { id } = await store.subscribe("https://example.com/");
  await store.publish([id], { count: 25 });
  await endAll(store);
  store.clock.advance(31 * day);
  const round = sweepRound({ ...options(store), batchMax: 10 }, forever);
  let isOver = false;
  void round.then(() => {
    isOver = true;
  });
  await until(() => {
    store.clock.advance(50);
    return isOver;
  });
  expect(await counts(store)).toEqual({ events: 0, deliveries: 0, tasks: 0 });
});

test("retention goes on after a fault, and stops when told", async () => {
  await using store = await createTestStore();
  const errors: unknown[] = [];
  await store.db.sql`alter table projects rename to projects_away`;
  const retention = startRetention({ ...options(store), onError: (error) => errors.push(error) });
  await until(() => errors.length === 1 && store.clock.waiting() === 1);
  await store.db.sql`alter table projects_away rename to projects`;
  const { id } = await store.subscribe("https://example.com/");
  await store.publish([id]);
  await endAll(store);
  store.clock.advance(31 * day);
  await until(async () => (await counts(store))?.["events"] === 0);
  await retention.stop();
  expect([errors.length, store.clock.waiting()]).toEqual([1, 0]);
});
