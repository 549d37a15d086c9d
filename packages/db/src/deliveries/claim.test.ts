import { createId, idOfUuid, type SubscriptionId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { sentBy } from "../../plans/planner/explain.ts";
import { openDatabase } from "../connect.ts";
import { recordEvents } from "../events/record.ts";
import { reportSubscriptionFailures } from "../subscriptions/health.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { addProject, addSubscription, claimRequest, fillQueue, newEvent, nowMs, settlement } from "../test-rows.ts";
import { claimDeliveries } from "./claim.ts";
import { releaseDeliveries } from "./queue.ts";
import { settleDeliveries } from "./settle.ts";

const { db, url, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate events, deliveries, delivery_tasks, subscriptions, projects cascade`);

const me = createId("node", nowMs);
const other = createId("node", nowMs);
const limits = {
  backoffMinMs: 1_000,
  backoffMaxMs: 300_000,
  failingMaxMs: 432_000_000,
  goneMaxMs: 3_600_000,
  goneMin: 3,
};

async function addFailing(projectId: Awaited<ReturnType<typeof addProject>>): Promise<SubscriptionId> {
  const id = await addSubscription(db, projectId);
  await reportSubscriptionFailures(
    db,
    [{ subscriptionId: id, startedAtMs: nowMs - 10_000, retryAfterMs: 0, goneCount: 0 }],
    nowMs - 10_000,
    limits,
  );
  return id;
}

test("a claim returns all that sending needs, and the row is leased", async () => {
  const projectId = await addProject(db);
  const subscriptionId = await addSubscription(db, projectId);
  const event = newEvent(projectId, [subscriptionId], {
    entityId: "ü",
    payload: '{"a":"\\u0000 \\"{,}"}',
    occurredAtMs: nowMs - 7,
  });
  await recordEvents(db, [event], undefined, { owner: me, untilMs: 0 });
  const { deliveries, next, ended } = await claimDeliveries(db, claimRequest(me));
  expect(deliveries).toEqual([
    {
      id: event.deliveries[0]?.id,
      projectId,
      subscriptionId,
      attempts: 0,
      behind: false,
      queuedForMs: nowMs,
      leaseUntilMs: nowMs + 30_000,
      endpoint: {
        endpointUrl: "https://example.com/hook",
        signingSecret: Buffer.from("sealed"),
        mcpId: "",
        cursor: "",
        formerSecret: null,
        formerUntil: null,
        settings: null,
        credentials: null,
      },
      probe: false,
      event: {
        id: event.id,
        kind: "event",
        toolkitSlug: "code_host",
        triggerSlug: "code_host.issue_opened",
        entityId: "ü",
        payload: '{"a":"\\u0000 \\"{,}"}',
        occurredAtMs: nowMs - 7,
        receivedAtMs: nowMs,
        traceparent: null,
      },
    },
  ]);
  expect([next, ended]).toEqual([undefined, []]);
  expect((await claimDeliveries(db, claimRequest(other))).deliveries).toEqual([]);
});

test("what is not due, or leased, is left alone; a lease that ran out is free", async () => {
  const projectId = await addProject(db);
  const subscriptionId = await addSubscription(db, projectId);
  const leased = newEvent(projectId, [subscriptionId]);
  for (const delivery of leased.deliveries) delivery.leased = true;
  await recordEvents(db, [leased], undefined, { owner: other, untilMs: nowMs + 30_000 });
  await recordEvents(db, [newEvent(projectId, [subscriptionId], { receivedAtMs: nowMs + 1 })], undefined, {
    owner: me,
    untilMs: 0,
  });
  const ids = async (atMs: number) =>
    (await claimDeliveries(db, claimRequest(me, { nowMs: atMs, leaseUntilMs: atMs + 1 }))).deliveries.length;
  expect(await ids(nowMs)).toBe(0);
  expect(await ids(nowMs + 1)).toBe(1);
  expect(await ids(nowMs + 29_999)).toBe(1);
  expect(await ids(nowMs + 30_000)).toBe(2);
});

test("a claim takes the oldest of each queue, up to its share, and up to its free slots if given", async () => {
  const projectId = await addProject(db);
  const [full, roomy, plain] = [
    await addSubscription(db, projectId),
    await addSubscription(db, projectId),
    await addSubscription(db, projectId),
  ];
  for (const id of [full, roomy, plain]) await fillQueue(db, projectId, id, { count: 20 });
  const rooms = new Map([
    [full, 0],
    [roomy, 7],
  ]);
  const { deliveries } = await claimDeliveries(db, claimRequest(me, { share: 5, slots: rooms }));
  const of = (id: SubscriptionId) => deliveries.filter((delivery) => delivery.subscriptionId === id);
  expect([of(full).length, of(roomy).length, of(plain).length]).toEqual([0, 5, 5]);
  const oldest =
    await db.sql`select max(due_at) <= (select min(due_at) from delivery_tasks where lease_owner is null and subscription_id = any(
    select subscription_id from delivery_tasks where lease_owner is not null)) as yes from delivery_tasks where lease_owner is not null`;
  expect(oldest).toEqual([{ yes: true }]);
});

test("a project that uses its share of the node gets nothing, and no probe of it is spent", async () => {
  const [full, other] = [await addProject(db), await addProject(db)];
  const [busy, failing] = [await addSubscription(db, full), await addFailing(full)];
  const free = await addSubscription(db, other);
  for (const id of [busy, failing]) await fillQueue(db, full, id, { count: 3 });
  await fillQueue(db, other, free, { count: 3 });
  const { deliveries } = await claimDeliveries(db, claimRequest(me, { fullProjects: new Set([full]) }));
  expect(deliveries.map(({ subscriptionId }) => subscriptionId)).toEqual([free, free, free]);
  const later = await claimDeliveries(db, claimRequest(me));
  expect(later.deliveries.filter(({ probe }) => probe)).toMatchObject([{ subscriptionId: failing }]);
});

test("a claim that its limit stopped continues there: every queue gets its turn", async () => {
  const projectId = await addProject(db);
  const ids: SubscriptionId[] = [];
  for (let lane = 0; lane < 10; lane++) ids.push(await addSubscription(db, projectId));
  for (const id of ids) await fillQueue(db, projectId, id, { count: 20 });
  const served: SubscriptionId[][] = [];
  let after: SubscriptionId | undefined;
  for (let look = 0; look < 4; look++) {
    const { deliveries, next } = await claimDeliveries(db, claimRequest(me, { limit: 6, share: 2, after }));
    served.push([...new Set(deliveries.map((delivery) => delivery.subscriptionId))].sort());
    after = next;
  }
  const sorted = ids.sort();
  expect(served).toEqual([sorted.slice(0, 3), sorted.slice(3, 6), sorted.slice(6, 9), sorted.slice(9)]);
  expect(after).toBeUndefined();
});

test("queues beyond one scan's maximum come in the next", async () => {
  const projectId = await addProject(db);
  const ids: SubscriptionId[] = [];
  for (let lane = 0; lane < 5; lane++) ids.push(await addSubscription(db, projectId));
  await recordEvents(db, [newEvent(projectId, ids)], undefined, { owner: me, untilMs: 0 });
  ids.sort();
  const first = await claimDeliveries(db, claimRequest(me, { queuesMax: 2 }));
  expect(first.next).toBe(ids[1]);
  const second = await claimDeliveries(db, claimRequest(me, { queuesMax: 2, after: first.next }));
  expect(second.next).toBe(ids[3]);
  const third = await claimDeliveries(db, claimRequest(me, { queuesMax: 2, after: second.next }));
  expect([third.next, third.deliveries.length]).toEqual([undefined, 1]);
});

test("a failing subscription gives nothing before its backoff has passed, then one probe", async () => {
  const projectId = await addProject(db);
  const id = await addFailing(projectId);
  await fillQueue(db, projectId, id, { count: 5 });
  expect((await claimDeliveries(db, claimRequest(me, { nowMs: nowMs - 9_001 }))).deliveries).toEqual([]);
  const { deliveries } = await claimDeliveries(db, claimRequest(me));
  expect(deliveries).toMatchObject([{ subscriptionId: id, probe: true }]);
  // The backoff of the endpoint now lasts until the probe's lease ends.
  expect((await claimDeliveries(db, claimRequest(other, { nowMs: nowMs + 29_999 }))).deliveries).toEqual([]);
  expect((await claimDeliveries(db, claimRequest(other, { nowMs: nowMs + 30_000 }))).deliveries).toHaveLength(1);
});

test("nodes that claim at the same moment send one probe in all", async () => {
  const projectId = await addProject(db);
  for (let round = 0; round < 10; round++) {
    const id = await addFailing(projectId);
    await fillQueue(db, projectId, id, { count: 20 });
    const found = await Promise.all(
      Array.from({ length: 6 }, () => claimDeliveries(db, claimRequest(createId("node", nowMs)))),
    );
    expect(found.flatMap(({ deliveries }) => deliveries)).toHaveLength(1);
    await subscriptionsForProject(db, projectId).update(id, { active: false });
  }
});

test("queues of inactive or deleted subscriptions are reported, and give nothing", async () => {
  const projectId = await addProject(db);
  const [inactive, gone, well] = [
    await addSubscription(db, projectId),
    await addSubscription(db, projectId),
    await addSubscription(db, projectId),
  ];
  await recordEvents(db, [newEvent(projectId, [inactive, gone, well])], undefined, { owner: me, untilMs: 0 });
  await subscriptionsForProject(db, projectId).update(inactive, { active: false });
  await subscriptionsForProject(db, projectId).delete(gone);
  const { deliveries, ended } = await claimDeliveries(db, claimRequest(me));
  expect(deliveries.map((delivery) => delivery.subscriptionId)).toEqual([well]);
  expect([...ended].sort()).toEqual([inactive, gone].sort());
});

test("claims of many owners at once never hand out one delivery twice", async () => {
  const projectId = await addProject(db);
  const ids: SubscriptionId[] = [];
  for (let lane = 0; lane < 4; lane++) ids.push(await addSubscription(db, projectId));
  for (const id of ids) await fillQueue(db, projectId, id, { count: 250 });
  const handedOut: string[] = [];
  const work = async () => {
    const owner = createId("node", nowMs);
    for (;;) {
      const { deliveries } = await claimDeliveries(db, claimRequest(owner, { limit: 40, share: 13 }));
      handedOut.push(...deliveries.map(({ id }) => id));
      if (handedOut.length >= 1_000) return;
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(handedOut).toHaveLength(1_000);
  expect(new Set(handedOut).size).toBe(1_000);
});

test("a claim races with settlements and releases without handing out what has ended", async () => {
  const projectId = await addProject(db);
  const id = await addSubscription(db, projectId);
  await fillQueue(db, projectId, id, { count: 300 });
  let settled = 0;
  const work = async () => {
    const owner = createId("node", nowMs);
    while (settled < 300) {
      const { deliveries } = await claimDeliveries(db, claimRequest(owner, { share: 20 }));
      const [kept, given] = [deliveries.slice(0, 10), deliveries.slice(10)];
      await releaseDeliveries(db, owner, given);
      const lost = await settleDeliveries(
        db,
        owner,
        kept.map((delivery) => settlement(projectId, delivery)),
      );
      expect(lost).toEqual([]);
      settled += kept.length;
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  const rows = await db.sql`select state, count(*)::int4 as count from deliveries group by 1`;
  expect(rows).toEqual([{ state: "delivered", count: 300 }]);
  expect(settled).toBe(300);
});

test("queues that wait for a retry cost a claim one statement of two probes, however many they are, and get their turn when due", async () => {
  const projectId = await addProject(db);
  const dueAtMs = nowMs + 3 * 3_600_000;
  const lanes = 2_000;
  await db.sql`insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, signing_secret, created_at)
    select gen_random_uuid(), ${uuidOfId(projectId)}::uuid, 'https://example.com/hook', '', '', '', now() from generate_series(1, ${lanes}::int4)`;
  const ids = await db.sql<{ id: string }[]>`select id from subscriptions`;
  const event = newEvent(
    projectId,
    ids.map(({ id }) => idOfUuid("sub", id)),
  );
  for (const delivery of event.deliveries) delivery.leased = true;
  await recordEvents(db, [event], undefined, { owner: me, untilMs: nowMs + 30_000 });
  const failed = { state: "pending", dueAtMs, attempt: { error: "http_500" } } as const;
  const leases = event.deliveries.map(({ id, subscriptionId }) => {
    return { id, subscriptionId, queuedForMs: nowMs, leaseUntilMs: nowMs + 30_000, behind: false };
  });
  const lost = await settleDeliveries(
    db,
    me,
    leases.map((task) => settlement(projectId, task, failed)),
  );
  expect(lost).toEqual([]);
  await db.sql`vacuum delivery_tasks`;

  const one = openDatabase({ url, connectionsMax: 1 });
  const read = async () => {
    await one.sql`select pg_stat_force_next_flush()`;
    const [row] = await one.sql<{ read: number }[]>`
      select sum(idx_tup_read)::int4 as read from pg_stat_user_indexes where relname = 'delivery_tasks'`;
    return row!.read;
  };
  const request = claimRequest(me, { nowMs: dueAtMs - 1, leaseUntilMs: dueAtMs });
  expect(await sentBy(one, (tx) => claimDeliveries(tx, request))).toHaveLength(1);
  const before = await read();
  expect(await claimDeliveries(one, request)).toEqual({
    deliveries: [],
    next: undefined,
    ended: [],
    hasLowPriority: false,
    paced: new Map(),
  });
  expect((await read()) - before).toBeLessThanOrEqual(2);
  await one.close();

  const first = await claimDeliveries(db, claimRequest(me, { nowMs: dueAtMs, leaseUntilMs: dueAtMs + 30_000 }));
  expect(first.deliveries).toHaveLength(256);
  const after = { after: first.next, nowMs: dueAtMs, leaseUntilMs: dueAtMs + 30_000, limit: lanes, queuesMax: lanes };
  expect((await claimDeliveries(db, claimRequest(other, after))).deliveries).toHaveLength(lanes - 256);
});

test("a retry for an ended subscription does not wait: its queue is reported at once", async () => {
  const projectId = await addProject(db);
  const id = await addSubscription(db, projectId);
  const [task] = await fillQueue(db, projectId, id, { count: 1, owner: me });
  await subscriptionsForProject(db, projectId).update(id, { active: false });
  const failed = { state: "pending", dueAtMs: nowMs + 3_600_000, attempt: { error: "http_500" } } as const;
  expect(await settleDeliveries(db, me, [settlement(projectId, task!, failed)])).toEqual([]);
  expect((await claimDeliveries(db, claimRequest(me))).ended).toEqual([id]);
});
