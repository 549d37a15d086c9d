import { createId } from "@svc/core";
import { enqueueDeliveries } from "@svc/db/deliveries/enqueue";
import type { SubscriptionPace } from "@svc/db/documents/subscriptions";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestStore, startTestEngine, type TestEngine, type TestStore } from "./test-engine.ts";

afterAll(dropTestDatabases);

const setPace = (store: TestStore, id: Awaited<ReturnType<TestStore["subscribe"]>>["id"], pace: SubscriptionPace) =>
  subscriptionsForProject(store.db, store.projectId).update(id, { settings: { pace } });

/** Resolves when no engine has anything to do at the present time of the clock: all of them wait for the clock, and hold nothing. */
async function untilQuiet({ clock }: TestStore, engines: readonly TestEngine[]) {
  const isQuiet = () =>
    clock.waiting() === engines.length && engines.every(({ dispatcher }) => dispatcher.stats().held === 0);
  await until(async () => {
    if (!isQuiet()) return false;
    // A round that is about to begin has left the wait by now.
    await new Promise(setImmediate);
    return isQuiet();
  });
}

test("over three nodes, the rate and the concurrency hold exactly, through failures, retries and replays; nothing is lost", async () => {
  await using receiver = await startTestReceiver();
  await using store = await createTestStore();
  const { id } = await store.subscribe(receiver.url);
  await setPace(store, id, { max: 10, perMs: 1_000, concurrency: 2 });
  const startedAtMs = store.clock.now();
  const arrivals: number[] = [];
  receiver.script((_req, res) => {
    arrivals.push(store.clock.now() - startedAtMs);
    res.writeHead([6, 15].includes(arrivals.length) ? 503 : 200).end();
  });
  const [live] = await store.publish([id], { count: 20 });
  const { eventId } = await store.delivery(live!);
  const replayed = Array.from({ length: 10 }, () => ({
    id: createId("dlv", startedAtMs),
    eventId,
    subscriptionId: id,
  }));
  const to = { projectId: store.projectId, dueAtMs: startedAtMs, lowPriority: true };
  await enqueueDeliveries(store.db, to, replayed);
  const engines = Array.from({ length: 3 }, () => startTestEngine(store, { limits: { pollMs: 20 } }));
  for (let ms = 0; ms < 8_000 && (await store.count("delivered")) < 30; ms += 50) {
    await untilQuiet(store, engines);
    store.clock.advance(50);
  }
  for (const engine of engines) await engine[Symbol.asyncDispose]();
  expect(await store.count("delivered")).toBe(30);
  expect(arrivals).toHaveLength(32);
  expect(receiver.inFlightMax()).toBeLessThanOrEqual(2);
  // In any span of time: one at its start, one for each 100 ms, and one that was late by up to 50 ms.
  for (const [index, from] of arrivals.entries())
    for (const [more, at] of arrivals.slice(index).entries())
      expect(more).toBeLessThanOrEqual(Math.floor((at - from + 50) / 100));
  // The nodes use all that the rate allows: the first counts as 50 ms late, and the next ones start 100 ms apart.
  expect(arrivals.slice(0, 5)).toEqual([0, 50, 150, 250, 350]);
});

test("an attempt that ends makes room for the next at once, on every node; a full pace does not delay other endpoints", async () => {
  await using receiver = await startTestReceiver();
  await using other = await startTestReceiver();
  await using store = await createTestStore();
  const { id } = await store.subscribe(receiver.url);
  const plain = await store.subscribe(other.url);
  await setPace(store, id, { concurrency: 2 });
  receiver.hold();
  // The pause between two claims is longer than the test, so an ended attempt has to wake its node.
  const limits = { pollMs: 3_600_000 };
  await using first = startTestEngine(store, { limits });
  await using second = startTestEngine(store, { limits });
  const deliveries = await store.publish([id], { count: 300 });
  for (const { dispatcher } of [first, second]) dispatcher.wake();
  await until(() => receiver.inFlight() === 2);
  await store.publish([plain.id], { count: 100 });
  second.dispatcher.wake();
  await until(() => other.requests.length === 100);
  expect(receiver.requests).toHaveLength(2);
  receiver.release();
  await until(async () => (await store.delivery(deliveries.at(-1)!)).state === "delivered");
  await until(async () => (await store.count("delivered")) === 400);
  expect(receiver.inFlightMax()).toBe(2);
});
