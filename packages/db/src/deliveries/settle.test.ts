import { createId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../connect.ts";
import { addProject, addSubscription, claimRequest, fillQueue, nowMs, settlement } from "../test-rows.ts";
import { claimDeliveries } from "./claim.ts";
import type { DeliveryTaskKey } from "./enqueue.ts";
import { releaseDeliveries } from "./queue.ts";
import { deliveriesForProject } from "./repo.ts";
import { settleDeliveries } from "./settle.ts";

const { db, url, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate events, deliveries, delivery_tasks, subscriptions, projects cascade`);

const me = createId("node", nowMs);

async function leased(count: number, owner = me) {
  const projectId = await addProject(db);
  const tasks = await fillQueue(db, projectId, await addSubscription(db, projectId), { count, owner });
  return { projectId, tasks, deliveries: deliveriesForProject(db, projectId) };
}

test("a batch writes each attempt with the change of state it causes", async () => {
  const { projectId, tasks, deliveries } = await leased(3);
  const [delivered, pending, dead] = tasks as [DeliveryTaskKey, DeliveryTaskKey, DeliveryTaskKey];
  const failure = { error: "http_500", statusCode: 500 };
  const dueAtMs = nowMs + 5_000;
  const lost = await settleDeliveries(db, me, [
    settlement(projectId, delivered),
    settlement(projectId, pending, { state: "pending", dueAtMs, attempt: failure }),
    settlement(projectId, dead, { state: "dead_letter", attempt: { ...failure, number: 10 } }),
  ]);
  expect(lost).toEqual([]);
  const ended = { nextAttemptAt: null, lastAttemptAt: nowMs };
  expect(await deliveries.find(delivered.id)).toMatchObject({
    ...ended,
    state: "delivered",
    attempts: 1,
    lastError: "",
  });
  expect(await deliveries.find(dead.id)).toMatchObject({
    ...ended,
    state: "dead_letter",
    attempts: 1,
    lastError: "http_500",
  });
  expect(await deliveries.find(pending.id)).toMatchObject({
    state: "pending",
    attempts: 1,
    lastError: "http_500",
    nextAttemptAt: dueAtMs,
  });
  expect(await db.sql`select attempts, lease_owner from delivery_tasks`).toEqual([{ attempts: 1, lease_owner: null }]);
  expect(await deliveries.findAttempts(delivered.id)).toEqual([settlement(projectId, delivered).attempt]);
});

test("attempts of one delivery are in order", async () => {
  const { projectId, tasks, deliveries } = await leased(1);
  const [task] = tasks as [DeliveryTaskKey];
  await settleDeliveries(db, me, [settlement(projectId, task, { state: "pending", attempt: { error: "timeout" } })]);
  const [claimed] = (await claimDeliveries(db, claimRequest(me))).deliveries;
  await settleDeliveries(db, me, [settlement(projectId, claimed!, { attempt: { number: 2 } })]);
  const attempts = await deliveries.findAttempts(task.id);
  expect(attempts?.map(({ number, error }) => [number, error])).toEqual([
    [1, "timeout"],
    [2, ""],
  ]);
});

test("of a batch, what is leased to another node or has ended is named, and nothing of it is written", async () => {
  const mine = await leased(2);
  const theirs = await leased(1, createId("node", nowMs));
  const [[held, ended], [foreign]] = [mine.tasks, theirs.tasks] as [
    [DeliveryTaskKey, DeliveryTaskKey],
    [DeliveryTaskKey],
  ];
  await settleDeliveries(db, me, [settlement(mine.projectId, ended)]);
  const lost = await settleDeliveries(db, me, [
    settlement(mine.projectId, held),
    settlement(mine.projectId, ended, { state: "pending", attempt: { number: 2 } }),
    settlement(theirs.projectId, foreign),
  ]);
  expect([...lost].sort()).toEqual([ended.id, foreign.id].sort());
  expect(await mine.deliveries.find(ended.id)).toMatchObject({ state: "delivered", attempts: 1 });
  expect(await theirs.deliveries.find(foreign.id)).toMatchObject({ state: "pending", attempts: 0 });
  expect(await theirs.deliveries.findAttempts(foreign.id)).toEqual([]);
});

test("a task that was rescheduled meanwhile is another lease: the old one cannot settle it", async () => {
  const { projectId, tasks, deliveries } = await leased(1);
  const [task] = tasks as [DeliveryTaskKey];
  const failed = settlement(projectId, task, { state: "pending", dueAtMs: nowMs + 1, attempt: { error: "timeout" } });
  await settleDeliveries(db, me, [failed]);
  await claimDeliveries(db, claimRequest(me, { nowMs: nowMs + 1 }));
  expect(await settleDeliveries(db, me, [settlement(projectId, task)])).toEqual([task.id]);
  expect(await deliveries.find(task.id)).toMatchObject({ state: "pending", attempts: 1 });
});

test("a lease that ran out and was granted to the same node again is another: the old attempt acts on neither", async () => {
  const { projectId, tasks, deliveries } = await leased(1);
  const [task] = tasks as [DeliveryTaskKey];
  const later = nowMs + 30_000;
  const [again] = (await claimDeliveries(db, claimRequest(me, { nowMs: later, leaseUntilMs: later + 30_000 })))
    .deliveries;
  expect(again?.id).toBe(task.id);
  await releaseDeliveries(db, me, [task]);
  expect(await settleDeliveries(db, me, [settlement(projectId, task)])).toEqual([task.id]);
  expect(await deliveries.find(task.id)).toMatchObject({ state: "pending", attempts: 0 });
  expect(await settleDeliveries(db, me, [settlement(projectId, again!)])).toEqual([]);
  expect(await deliveries.find(task.id)).toMatchObject({ state: "delivered", attempts: 1 });
});

test("texts and headers of any kind come back as they were", async () => {
  const { projectId, tasks, deliveries } = await leased(1);
  const [task] = tasks as [DeliveryTaskKey];
  const text = "\u0001\n\t\"'\\{},null NULL ü 😀 \u2028";
  const odd = { error: text, responseBody: text, address: "", responseHeaders: { "x-a": text, "": "" } };
  await settleDeliveries(db, me, [settlement(projectId, task, { attempt: odd })]);
  expect(await deliveries.findAttempts(task.id)).toMatchObject([odd]);
  expect(await deliveries.find(task.id)).toMatchObject({ lastError: text });
});

/**
 * Settles `count` deliveries of a new database in waves, with `batches` statements per wave. Each wave is settled after the next one was
 * queued. Returns the share of HOT updates and the size of the table per delivery.
 */
async function settleInWaves(
  count: number,
  waveSize: number,
  batches: number,
): Promise<{ hotShare: number; bytesEach: number }> {
  const { db: one, drop: dropStore } = await createTestDatabase({ connectionsMax: 1 });
  const projectId = await addProject(one);
  const lane = await addSubscription(one, projectId);
  const read = async () => {
    await one.sql`select pg_stat_force_next_flush()`;
    const [row] = await one.sql<{ updated: number; hot: number; bytes: number }[]>`
      select n_tup_upd::int4 as updated, n_tup_hot_upd::int4 as hot, pg_relation_size(relid)::int4 as bytes
      from pg_stat_user_tables where relname = 'deliveries'`;
    return row!;
  };
  // Without autovacuum, PostgreSQL keeps the old versions of rows, as it does while another transaction reads them.
  await one.sql`alter table deliveries set (autovacuum_enabled = false)`;
  const before = await read();
  let underWay: DeliveryTaskKey[] = [];
  for (let queued = 0; queued <= count; queued += waveSize) {
    const ended = underWay;
    underWay = queued < count ? await fillQueue(one, projectId, lane, { count: waveSize, owner: me }) : [];
    // The batches are settled in another order than they were claimed.
    for (let batch = batches - 1; batch >= 0; batch--) {
      const settled = ended.filter((_, index) => index % batches === batch).map((task) => settlement(projectId, task));
      expect(await settleDeliveries(one, me, settled)).toEqual([]);
    }
  }
  const after = await read();
  await dropStore();
  expect(after.updated - before.updated).toBe(count);
  return { hotShare: (after.hot - before.hot) / count, bytesEach: after.bytes / count };
}

test("pages have room for settlements under load, and not much of it stays empty at ordinary rates", async () => {
  expect((await settleInWaves(800, 10, 2)).hotShare).toBeGreaterThan(0.98);
  // PostgreSQL frees no space during a batch. So a page that one batch filled must have space for two versions of all its rows.
  expect((await settleInWaves(800, 80, 1)).hotShare).toBeGreaterThan(0.98);
  const calm = await settleInWaves(200, 2, 1);
  expect(calm.hotShare).toBeGreaterThan(0.98);
  expect(calm.bytesEach).toBeLessThan(1_100);
});

test("no index names what a settlement changes", async () => {
  const indexed = await db.sql<{ name: string }[]>`
    select distinct a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
    where i.indrelid = 'deliveries'::regclass`;
  expect(indexed.map(({ name }) => name).sort()).toEqual(["event_id", "id", "project_id", "subscription_id"]);
  const partial =
    await db.sql`select pg_get_expr(indpred, indrelid) as predicate from pg_index where indrelid in ('deliveries'::regclass, 'delivery_tasks'::regclass)
    and (indpred is not null or indexprs is not null)`;
  expect(partial).toEqual([{ predicate: "(epoch = 0)" }]);
  const queued = await db.sql<{ name: string }[]>`
    select distinct a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
    where i.indrelid = 'delivery_tasks'::regclass`;
  expect(queued.map(({ name }) => name).sort()).toEqual(["delivery_id", "due_at", "epoch", "subscription_id"]);
});

test("from the sixth run on a connection the server plans a settlement no more", async () => {
  const { projectId, tasks } = await leased(2_000);
  await db.sql`analyze`;
  const one = openDatabase({ url, connectionsMax: 1 });
  for (let part = 0; part < 8; part++) {
    await settleDeliveries(
      one,
      me,
      tasks.slice(part * 100, (part + 1) * 100).map((task) => settlement(projectId, task)),
    );
  }
  const plans = await one.sql`select generic_plans > 0 as generic from pg_prepared_statements
    where statement like '/* settle_deliveries */%'`;
  await one.close();
  expect(plans).toEqual([{ generic: true }]);
});
