import { createId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { type Database, openDatabase, withTransaction } from "../connect.ts";
import { claimDeliveries } from "../deliveries/claim.ts";
import { settleDeliveries } from "../deliveries/settle.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { addProject, addSubscription, claimRequest, fillQueue, nowMs, settlement } from "../test-rows.ts";
import { adoptDeliveryTasks, advanceDeliveryEpoch, compactTasks, countDeadTasks, readDeliveryEpoch } from "./epochs.ts";

const { db, url, drop } = await createTestDatabase();
/** A connection of its own, so that PostgreSQL's usage statistics show its reads at once. */
const one = openDatabase({ url, connectionsMax: 1 });
afterAll(async () => {
  await one.close();
  await drop();
});
beforeEach(() => db.sql`truncate events, deliveries, delivery_tasks, subscriptions, projects cascade`);

const me = createId("node", nowMs);
const bounds = { rowsMax: 10_000, lockMs: 1_000 };
const compaction = { table: "delivery_tasks", ...bounds } as const;

let reader: Database | undefined;
afterEach(async () => {
  await reader?.close();
  reader = undefined;
});

/**
 * Opens a transaction that holds an old snapshot, like a database dump or a slow report. If the transaction `reads` the task table, it also
 * holds a lock on this table.
 */
async function holdSnapshot(reads: "projects" | "delivery_tasks" = "projects") {
  reader = openDatabase({ url, connectionsMax: 1 });
  await reader.sql.unsafe("set idle_in_transaction_session_timeout = 0");
  await reader.sql.unsafe("begin isolation level repeatable read", [], { simple: true } as object);
  await reader.sql.unsafe(`select count(*) from ${reads}`);
}

/**
 * Fills a queue. `count` of its deliveries ended while a transaction held an old snapshot, so their rows are dead but not removed. One
 * delivery is due.
 */
async function queueWithDeadRows(count: number) {
  const projectId = await addProject(one);
  const subscriptionId = await addSubscription(one, projectId);
  const tasks = await fillQueue(one, projectId, subscriptionId, { count, owner: me });
  await settleDeliveries(
    one,
    me,
    tasks.map((task) => settlement(projectId, task)),
  );
  const [due] = await fillQueue(one, projectId, subscriptionId, { count: 1, fromMs: nowMs - 60_000 });
  return { projectId, subscriptionId, due: due!.id };
}

/** Scans the index of the queues. Returns how many index entries it read, including dead ones, and the queues that it found. */
async function scanIndex() {
  const read = async () => {
    await one.sql`select pg_stat_force_next_flush()`;
    const [row] = await one.sql<{ read: number }[]>`
      select idx_tup_read::int4 as read from pg_stat_user_indexes where indexrelname = 'delivery_tasks_lane'`;
    return row!.read;
  };
  const before = await read();
  const { deliveries } = await claimDeliveries(one, claimRequest(me));
  return { read: (await read()) - before, found: deliveries.map(({ id }) => id) };
}

const rows = () => db.sql`select * from delivery_tasks order by delivery_id`;

test("while a snapshot is held, a scan reads dead rows; after a compaction it reads none", async () => {
  await holdSnapshot();
  const { due } = await queueWithDeadRows(1_000);
  expect(await compactTasks(one, compaction)).toBe("done");
  await one.sql`select pg_stat_force_next_flush()`;
  expect(await countDeadTasks(one, "delivery_tasks")).toBe(0);
  expect(await scanIndex()).toEqual({ read: expect.toSatisfy((read: number) => read <= 5), found: [due] });

  // Shows that the low number above is a result of the compaction: without one, the scan reads the dead rows.
  await one.sql`update delivery_tasks set lease_until = null, lease_owner = null`;
  const second = await queueWithDeadRows(1_000);
  const { read, found } = await scanIndex();
  expect(found).toContain(second.due);
  expect(read).toBeGreaterThan(2_000);
});

test("if a reader also holds the table, a new epoch excludes the dead rows", async () => {
  const before = await addProject(one);
  await holdSnapshot("delivery_tasks");
  const { due } = await queueWithDeadRows(1_000);
  const tasks = await rows();
  expect(await compactTasks(one, { ...compaction, lockMs: 20 })).toBe("held");
  expect(await rows()).toEqual(tasks);
  const epoch = await readDeliveryEpoch(one);
  expect(await advanceDeliveryEpoch(one, { epoch, ...bounds })).toBe(true);
  expect(await scanIndex()).toEqual({ read: expect.toSatisfy((read: number) => read <= 5), found: [due] });
  // This call has the old epoch, as if another node had read the epoch before it changed.
  expect(await advanceDeliveryEpoch(one, { epoch, ...bounds })).toBe(false);
  expect(await readDeliveryEpoch(one)).toBe(epoch + 1);
  expect(before).toBeDefined();
});

test("leases, waits and due times outlive a compaction and an epoch, and their holders settle them", async () => {
  const projectId = await addProject(db);
  const id = await addSubscription(db, projectId);
  const leased = await fillQueue(db, projectId, id, { count: 3, owner: me });
  const failed = { state: "pending", dueAtMs: nowMs + 5_000, attempt: { error: "http_500" } } as const;
  await settleDeliveries(db, me, [settlement(projectId, leased[0]!, failed)]);
  await fillQueue(db, projectId, id, { count: 2 });
  const before = await rows();
  expect(before).toHaveLength(5);
  expect(await compactTasks(db, compaction)).toBe("done");
  expect(await rows()).toEqual(before);
  const epoch = await readDeliveryEpoch(db);
  await advanceDeliveryEpoch(db, { epoch, ...bounds });
  expect((await rows()).map((row) => row["epoch"])).toEqual(before.map((row) => row["epoch"] && epoch + 1));
  const rest = leased.slice(1).map((task) => settlement(projectId, task));
  expect(await settleDeliveries(db, me, rest)).toEqual([]);
  const { deliveries } = await claimDeliveries(db, claimRequest(me, { nowMs: nowMs + 5_000 }));
  expect(deliveries).toHaveLength(3);
});

test("a compaction that is broken off leaves every task, and one of more rows than it may take does nothing", async () => {
  const projectId = await addProject(db);
  await fillQueue(db, projectId, await addSubscription(db, projectId), { count: 10 });
  const before = await rows();
  const broken = withTransaction(db, async (tx) => {
    expect(await compactTasks(tx, compaction)).toBe("done");
    throw new Error("broken off");
  });
  await expect(broken).rejects.toThrow("broken off");
  expect(await rows()).toEqual(before);
  expect(await compactTasks(db, { ...compaction, rowsMax: 9 })).toBe("full");
  expect(await advanceDeliveryEpoch(db, { epoch: await readDeliveryEpoch(db), ...bounds, rowsMax: 9 })).toBe(false);
  expect(await rows()).toEqual(before);
});

test("claims and settlements race with compactions and epochs, and every delivery ends once", async () => {
  const projectId = await addProject(db);
  const id = await addSubscription(db, projectId);
  await fillQueue(db, projectId, id, { count: 300 });
  let settled = 0;
  const work = async () => {
    const owner = createId("node", nowMs);
    while (settled < 300) {
      const { deliveries } = await claimDeliveries(db, claimRequest(owner, { share: 5 }));
      const lost = await settleDeliveries(
        db,
        owner,
        deliveries.map((delivery) => settlement(projectId, delivery)),
      );
      expect(lost).toEqual([]);
      settled += deliveries.length;
    }
  };
  let relieved = 0;
  const relieve = async () => {
    while (settled < 300) {
      if ((await compactTasks(db, compaction)) === "done") relieved++;
      if (await advanceDeliveryEpoch(db, { epoch: await readDeliveryEpoch(db), ...bounds })) relieved++;
    }
  };
  await Promise.all([work(), work(), work(), relieve(), relieve()]);
  expect(settled).toBe(300);
  expect(relieved).toBeGreaterThan(2);
  const states = await db.sql`select state, attempts, count(*)::int4 as count from deliveries group by 1, 2`;
  expect(states).toEqual([{ state: "delivered", attempts: 1, count: 300 }]);
});

test("tasks that an older version left in an epoch gone by, or that wait for an ended subscription, are found again", async () => {
  const projectId = await addProject(db);
  const [well, ended] = [await addSubscription(db, projectId), await addSubscription(db, projectId)];
  await fillQueue(db, projectId, well, { count: 2 });
  const epoch = await readDeliveryEpoch(db);
  await advanceDeliveryEpoch(db, { epoch, ...bounds });
  await db.sql`update delivery_tasks set epoch = ${epoch} where delivery_id = (select min(delivery_id::text)::uuid from delivery_tasks)`;
  const waiting = [well, ended].map((id) => fillQueue(db, projectId, id, { count: 1, fromMs: nowMs + 60_000 }));
  await Promise.all(waiting);
  await db.sql`update delivery_tasks set epoch = 0 where due_at > ${new Date(nowMs).toISOString()}::timestamptz`;
  await subscriptionsForProject(db, projectId).update(ended, { active: false });
  const look = () => claimDeliveries(db, claimRequest(me));
  expect(await look()).toMatchObject({ deliveries: [{}], ended: [] });
  expect(await adoptDeliveryTasks(db)).toBe(2);
  expect(await look()).toMatchObject({ deliveries: [{}], ended: [ended] });
  expect(await adoptDeliveryTasks(db)).toBe(0);
});
