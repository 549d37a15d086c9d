import { createId, type NodeId, type ProjectId, type SubscriptionId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { SubscriptionPace } from "../documents/subscriptions.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { addProject, addSubscription, claimRequest, fillQueue, nowMs, settlement } from "../test-rows.ts";
import { claimDeliveries, type DeliveryClaimRequest } from "./claim.ts";
import { releaseDeliveries } from "./queue.ts";
import { countPacedDeliveries, deliveriesForProject } from "./repo.ts";
import { settleDeliveries } from "./settle.ts";
import { tryDeliveriesNow } from "./try-now.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(
  () => db.sql`truncate events, deliveries, delivery_tasks, subscription_paces, subscriptions, projects cascade`,
);

const nodes = [createId("node", nowMs), createId("node", nowMs), createId("node", nowMs)];
const [me] = nodes as [NodeId, ...NodeId[]];

async function pacedQueue(pace: SubscriptionPace, count = 100) {
  const projectId = await addProject(db);
  const id = await addSubscription(db, projectId);
  const tasks = await fillQueue(db, projectId, id, { count });
  await setPace(projectId, id, pace);
  return { projectId, id, tasks };
}

function setPace(projectId: ProjectId, id: SubscriptionId, pace: SubscriptionPace | undefined) {
  return subscriptionsForProject(db, projectId).update(id, { settings: pace === undefined ? null : { pace } });
}

const claimAt = (ms: number, changes: Partial<DeliveryClaimRequest> = {}, owner = me) =>
  claimDeliveries(db, claimRequest(owner, { nowMs: nowMs + ms, leaseUntilMs: nowMs + ms + 30_000, ...changes }));
const countAt = async (ms: number) => (await claimAt(ms)).deliveries.length;

test("deliveries that wait for a pace are counted, without those in flight and those of other subscriptions", async () => {
  const { projectId } = await pacedQueue({ concurrency: 2 }, 5);
  await fillQueue(db, projectId, await addSubscription(db, projectId), { count: 3 });
  expect(await countPacedDeliveries(db, nowMs)).toBe(5);
  await claimAt(0);
  expect(await countPacedDeliveries(db, nowMs)).toBe(3);
});

test("a claim takes only what the rate lets start, and says when the next delivery may start", async () => {
  const { id } = await pacedQueue({ max: 10, perMs: 1_000 });
  const first = await claimAt(0);
  expect(first.deliveries).toHaveLength(1);
  expect(first.paced).toEqual(new Map([[id, nowMs + 50]]));
  const early = await claimAt(49);
  expect([early.deliveries, early.paced]).toEqual([[], new Map([[id, nowMs + 50]])]);
  // The first of a quiet queue counts as up to 50 ms late. From then on, they are 100 ms apart.
  expect(await countAt(50)).toBe(1);
  expect(await countAt(149)).toBe(0);
  expect(await countAt(150)).toBe(1);
  // One that starts up to 50 ms late does not delay those after it.
  expect([await countAt(299), await countAt(349), await countAt(350)]).toEqual([1, 0, 1]);
  // What was not used within 50 ms is lost: no burst follows a quiet time.
  expect([await countAt(10_000), await countAt(10_049), await countAt(10_050)]).toEqual([1, 0, 1]);
});

test("a fast rate takes several at once, and each of them counts", async () => {
  await pacedQueue({ max: 1_000, perMs: 1_000 });
  const counts = [];
  for (let ms = 0; ms <= 60; ms += 20) counts.push(await countAt(ms));
  // 51 at the start: those of the last 50 ms, and one for now.
  expect(counts).toEqual([32, 32, 27, 9]);
});

test("over three nodes that claim at the same moment, rate and concurrency hold exactly", async () => {
  const { projectId } = await pacedQueue({ max: 100, perMs: 1_000, concurrency: 3 }, 400);
  let [taken, inFlight] = [0, [] as Awaited<ReturnType<typeof claimAt>>["deliveries"]];
  for (let ms = 0; ms < 2_000; ms += 20) {
    const claims = await Promise.all(nodes.map((owner) => claimAt(ms, {}, owner)));
    const claimed = claims.flatMap(({ deliveries }) => deliveries);
    inFlight.push(...claimed);
    taken += claimed.length;
    expect(inFlight.length).toBeLessThanOrEqual(3);
    expect(taken).toBeLessThanOrEqual(6 + Math.floor(ms / 10));
    const [{ leases }] =
      (await db.sql`select count(*)::int4 as leases from delivery_tasks where lease_owner is not null`) as [
        { leases: number },
      ];
    expect(leases).toBe(inFlight.length);
    // Every other round, the first two end: one is delivered, and one waits for a retry.
    if (ms % 40 === 0) continue;
    for (const owner of nodes) {
      const ended = inFlight.filter((_, index) => index < 3);
      await settleDeliveries(
        db,
        owner,
        ended.map((task, index) =>
          settlement(projectId, task, index === 0 ? { state: "pending", dueAtMs: nowMs + ms + 500 } : {}),
        ),
      );
    }
    inFlight = [];
  }
  expect(taken).toBe(150);
});

test("a claimed delivery keeps its due time, is counted while it is leased, and is the first again when its lease ends", async () => {
  const { projectId, id } = await pacedQueue({ concurrency: 1 }, 3);
  const [task] = (await claimAt(0)).deliveries;
  const due = async () => (await deliveriesForProject(db, projectId).find(task!.id))?.nextAttemptAt;
  expect(await due()).toBe(nowMs - 86_399_000);
  expect(await countAt(29_999)).toBe(0);
  expect((await claimAt(30_000)).deliveries).toMatchObject([{ id: task!.id }]);
  await releaseDeliveries(db, me, [{ ...task!, leaseUntilMs: nowMs + 60_000 }]);
  expect(await tryDeliveriesNow(db, id, { deliveryId: undefined, nowMs: nowMs + 30_001 })).toBe(3);
  expect(await due()).toBe(nowMs + 30_001);
  expect((await claimAt(30_002)).deliveries).toMatchObject([{ id: task!.id }]);
});

test("a queue whose rate is used up leaves the others alone, and takes at most half of a claim", async () => {
  const { projectId } = await pacedQueue({ max: 10_000, perMs: 1_000 });
  const plain = await addSubscription(db, projectId);
  await fillQueue(db, projectId, plain, { count: 20 });
  const { deliveries } = await claimAt(0, { limit: 8 });
  expect(deliveries.filter(({ subscriptionId }) => subscriptionId === plain)).toHaveLength(4);
  await setPace(projectId, plain, { max: 1, perMs: 3_600_000 });
  expect(await countAt(1)).toBe(33);
});

test("a changed pace holds from the next claim on; without a pace, nothing is held back", async () => {
  const { projectId, id } = await pacedQueue({ max: 1, perMs: 3_600_000 });
  expect([await countAt(0), await countAt(1_000)]).toEqual([1, 0]);
  await setPace(projectId, id, { max: 2, perMs: 1_000 });
  expect([await countAt(1_000), await countAt(1_449), await countAt(1_450)]).toEqual([1, 0, 1]);
  await setPace(projectId, id, undefined);
  expect(await countAt(1_451)).toBe(32);
  expect(await db.sql`select from subscription_paces`).toHaveLength(0);
  await setPace(projectId, id, { concurrency: 1 });
  await subscriptionsForProject(db, projectId).delete(id);
  expect(await db.sql`select from subscription_paces`).toHaveLength(0);
});

test("throttled replays and probes of a failing endpoint count too", async () => {
  const { id } = await pacedQueue({ max: 10, perMs: 1_000, concurrency: 2 });
  await db.sql`update delivery_tasks set epoch = -1 where delivery_id in (select delivery_id from delivery_tasks limit 50)`;
  expect((await claimAt(0, { lowPriority: true })).deliveries).toHaveLength(1);
  expect((await claimAt(10)).deliveries).toHaveLength(0);
  await db.sql`update subscriptions set failing_since = ${new Date(nowMs).toISOString()}, backoff_until = ${new Date(nowMs).toISOString()}`;
  expect((await claimAt(100)).deliveries).toMatchObject([{ subscriptionId: id, probe: true }]);
  expect((await claimAt(200, { lowPriority: true })).deliveries).toHaveLength(0);
});
