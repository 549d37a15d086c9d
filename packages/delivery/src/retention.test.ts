import { createProject } from "@svc/db/projects/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { afterAll, expect, test } from "vitest";
import { type EventSweepOptions, eventSweep } from "./retention.ts";
import { createTestStore, type TestStore } from "./test-engine.ts";

afterAll(dropTestDatabases);

const day = 86_400_000;

async function counts({ db }: TestStore) {
  const [row] = await db.sql`select (select count(*)::int4 from events where kind <> 'swept') as events,
    (select count(*)::int4 from deliveries) as deliveries, (select count(*)::int4 from delivery_tasks) as tasks`;
  return row;
}

/** Runs one whole sweep (deletion of old rows) at the current time of the test's clock. Returns how many of its batches were full. */
async function sweep({ db, clock }: TestStore, options: Partial<EventSweepOptions> = {}): Promise<number> {
  let full = 0;
  const round = eventSweep({ db, eventRetentionMs: 30 * day, ...options }).round(clock.now());
  for await (const isFull of round) if (isFull) full++;
  return full;
}

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
  await sweep(store);
  expect(await counts(store)).toEqual({ events: 5, deliveries: 5, tasks: 0 });
  store.clock.advance(1);
  await sweep(store);
  expect(await counts(store)).toEqual({ events: 0, deliveries: 0, tasks: 0 });
});

test("an event with a pending delivery stays whole, however old", async () => {
  await using store = await createTestStore();
  const { id } = await store.subscribe("https://example.com/");
  await store.publish([id], { count: 3 });
  await endAll(store);
  await store.publish([id], { count: 2 });
  store.clock.advance(365 * day);
  await sweep(store);
  expect(await counts(store)).toEqual({ events: 2, deliveries: 2, tasks: 2 });
});

test("a round goes over every project in small batches, until nothing is left", async () => {
  await using store = await createTestStore();
  await createProject(store.db, "another", store.clock.now());
  const { id } = await store.subscribe("https://example.com/");
  await store.publish([id], { count: 25 });
  await endAll(store);
  store.clock.advance(31 * day);
  expect(await sweep(store, { batchMax: 10 })).toBe(2);
  expect(await counts(store)).toEqual({ events: 0, deliveries: 0, tasks: 0 });
});
