import { createId } from "@svc/core";
import { claimDeliveries } from "@svc/db/deliveries/claim";
import type { DeliverySettlement } from "@svc/db/deliveries/settle";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createRecorder, type EndedAttempt } from "./settle.ts";
import { createTestStore, type TestStore } from "./test-engine.ts";

afterAll(dropTestDatabases);

const limits = {
  backoffMinMs: 1_000,
  backoffMaxMs: 300_000,
  failingMaxMs: 432_000_000,
  goneMaxMs: 3_600_000,
  goneMin: 3,
};

/** Claims `count` deliveries and creates a recorder for them. Returns both, and what the recorder reports. */
async function claimed(store: TestStore, count: number) {
  const { id } = await store.subscribe("https://example.com/");
  await store.publish([id], { count });
  const nodeId = createId("node", 0);
  const leaseUntilMs = store.clock.now() + 30_000;
  const { deliveries } = await claimDeliveries(store.db, {
    owner: nodeId,
    nowMs: store.clock.now(),
    leaseUntilMs,
    limit: count,
    share: count,
    slots: new Map(),
    fullProjects: new Set(),
    after: undefined,
    queuesMax: 10,
    lowPriority: false,
  });
  const told = { failed: [] as string[], lost: 0, recovered: [] as string[], health: [] as unknown[] };
  const recorder = createRecorder({
    ...store,
    nodeId,
    limits,
    pendingMax: 100_000,
    // No subscription of these tests has a filter.
    filters: { begin: () => async () => new Map(), countFaults: () => {} },
    observer: {
      attempted: () => {},
      authenticated: () => {},
      leasesLost: (lost) => {
        told.lost += lost;
      },
      failed: (what) => told.failed.push(what),
    },
    onHealth: (health) => told.health.push(health),
    onRecovered: (ids) => told.recovered.push(...ids),
  });
  const settled = (
    index: number,
    statusCode: number,
    changes: { body?: string; wasFailing?: boolean } = {},
  ): EndedAttempt => {
    const delivery = deliveries[index]!;
    const settlement: DeliverySettlement = {
      id: delivery.id,
      projectId: delivery.projectId,
      subscriptionId: id,
      queuedForMs: delivery.queuedForMs,
      leaseUntilMs: delivery.leaseUntilMs,
      behind: delivery.behind,
      state: statusCode === 200 ? "delivered" : "pending",
      dueAtMs: store.clock.now() + 1_000,
      attempt: {
        number: 1,
        startedAt: store.clock.now(),
        durationMs: 1,
        requestUrl: "https://example.com/",
        address: "",
        statusCode,
        error: statusCode === 200 ? "" : `http_${statusCode}`,
        responseHeaders: {},
        responseBody: changes.body ?? "",
      },
    };
    return { settlement, retryAfterMs: 0, wasFailing: changes.wasFailing ?? false, leaseUntilMs, isUnwanted: false };
  };
  return { id, recorder, settled, told };
}

test("attempts that end together are written together; one that the store refuses fails alone", async () => {
  await using store = await createTestStore();
  const { recorder, settled, told } = await claimed(store, 40);
  await store.db.sql`alter table deliveries add constraint no_poison check (attempt_log::text not like '%poison%')`;
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      recorder.record(settled(index, 200, { body: index === 13 ? "poison" : "" })),
    ),
  );
  expect(await store.count("delivered")).toBe(39);
  expect(told).toMatchObject({ failed: ["settle"], lost: 0 });
  await store.db.sql`alter table deliveries drop constraint no_poison`;
});

test("an error that lies in no attempt is waited out: nothing is dropped", async () => {
  await using store = await createTestStore();
  const { recorder, settled, told } = await claimed(store, 3);
  await store.db.sql`alter table deliveries rename to deliveries_away`;
  const recorded = Promise.all([0, 1, 2].map((index) => recorder.record(settled(index, 200))));
  await until(() => told.failed.length > 0);
  await store.db.sql`alter table deliveries_away rename to deliveries`;
  await untilMoved(async () => {
    store.clock.advance(250);
    return (await store.count("delivered")) === 3;
  });
  await recorded;
  expect(told.lost).toBe(0);
});

test("the last word of a batch decides on the endpoint", async () => {
  await using store = await createTestStore();
  const { id, recorder, settled, told } = await claimed(store, 4);
  await Promise.all([recorder.record(settled(0, 500)), recorder.record(settled(1, 200, { wasFailing: true }))]);
  expect(told).toMatchObject({ recovered: [id], health: [] });
  expect((await store.subscription(id)).failingSince).toBeNull();
  await Promise.all([recorder.record(settled(2, 200)), recorder.record(settled(3, 500))]);
  // The backoff ends one second after the failure. The failed attempt took one millisecond.
  expect(told.health).toMatchObject([{ subscriptionId: id, active: true, backoffUntilMs: store.clock.now() + 1_001 }]);
});

test("successes of an endpoint that is well write nothing of its health", async () => {
  await using store = await createTestStore();
  const { recorder, settled, told } = await claimed(store, 2);
  await Promise.all([recorder.record(settled(0, 200)), recorder.record(settled(1, 200))]);
  expect(told).toEqual({ failed: [], lost: 0, recovered: [], health: [] });
});

test("410 counts as gone only when nothing else failed in the batch", async () => {
  await using store = await createTestStore();
  const { id, recorder, settled } = await claimed(store, 5);
  await Promise.all([recorder.record(settled(0, 410)), recorder.record(settled(1, 410))]);
  expect((await store.subscription(id)).goneCount).toBe(2);
  await Promise.all([recorder.record(settled(2, 500)), recorder.record(settled(3, 410))]);
  expect((await store.subscription(id)).goneCount).toBe(0);
});
