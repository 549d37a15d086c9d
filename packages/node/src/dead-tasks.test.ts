import { openDatabase } from "@svc/db/connect";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { deadTaskSweep } from "./dead-tasks.ts";

const { db, url, drop } = await createTestDatabase();
/** Only one connection is used, so that the server's counts are complete as soon as it has reported its own. */
const one = openDatabase({ url, connectionsMax: 1 });
afterAll(async () => {
  await one.close();
  await drop();
});
beforeEach(() => db.sql`truncate delivery_tasks`);

const limits = { compactFrom: { delivery_tasks: 300, job_tasks: 300 }, advanceFrom: 100 };
const nowMs = Date.UTC(2026, 0, 5, 9, 0, 0);

/** Ends tasks one after another. */
async function endTasks(count: number): Promise<void> {
  await one.sql`insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, epoch)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), e.epoch
    from delivery_epoch e, generate_series(1, ${count}::int4)`;
  await one.sql`delete from delivery_tasks`;
  await one.sql`select pg_stat_force_next_flush()`;
}

async function state() {
  const [row] = await one.sql<{ epoch: number; bytes: number }[]>`
    select epoch, pg_relation_size('delivery_tasks')::int4 as bytes from delivery_epoch`;
  return row!;
}

async function sweep(sweeps: ReturnType<typeof deadTaskSweep>, atMs: number) {
  for await (const _ of sweeps.round(atMs));
  await one.sql`select pg_stat_force_next_flush()`;
  return state();
}

test("a table with few dead rows is left alone, one with many is compacted, and one that is held gets another epoch", async () => {
  const reader = openDatabase({ url, connectionsMax: 1 });
  await reader.sql.unsafe("set idle_in_transaction_session_timeout = 0");
  await reader.sql.unsafe("begin isolation level repeatable read");
  await reader.sql`select count(*) from projects`;
  const sweeps = deadTaskSweep(one, limits);
  await endTasks(50);
  const few = await state();
  expect(await sweep(sweeps, nowMs)).toEqual(few);
  await endTasks(300);
  expect(await sweep(sweeps, nowMs + 5_000)).toEqual({ epoch: few.epoch, bytes: 0 });

  // From here on, a reader holds a snapshot of the table, as a dump does.
  await reader.sql`select count(*) from delivery_tasks`;
  await endTasks(300);
  const held = await sweep(sweeps, nowMs + 10_000);
  expect(held).toMatchObject({ epoch: few.epoch + 1 });
  expect(held.bytes).toBeGreaterThan(0);
  // The sweep does not try again before many more rows are dead.
  expect(await sweep(sweeps, nowMs + 15_000)).toEqual(held);
  await endTasks(100);
  expect(await sweep(sweeps, nowMs + 20_000)).toMatchObject({ epoch: few.epoch + 2 });
  // The reader ends here, so its snapshot no longer prevents the compaction.
  await reader.close();
  await endTasks(1);
  expect(await sweep(sweeps, nowMs + 75_000)).toEqual({ epoch: few.epoch + 2, bytes: 0 });
});

test("of two nodes one begins an epoch, and the other knows", async () => {
  const reader = openDatabase({ url, connectionsMax: 1 });
  await reader.sql.unsafe("set idle_in_transaction_session_timeout = 0");
  await reader.sql.unsafe("begin isolation level repeatable read");
  await reader.sql`select count(*) from delivery_tasks`;
  const [first, second] = [deadTaskSweep(one, limits), deadTaskSweep(one, limits)];
  const { epoch } = await state();
  await endTasks(150);
  await sweep(first, nowMs);
  // This sweep does not know the current epoch yet.
  expect(await sweep(second, nowMs)).toMatchObject({ epoch: epoch + 2 });
  await endTasks(100);
  expect(await sweep(first, nowMs + 5_000)).toMatchObject({ epoch: epoch + 2 });
  expect(await sweep(second, nowMs + 5_000)).toMatchObject({ epoch: epoch + 3 });
  expect(await sweep(first, nowMs + 10_000)).toMatchObject({ epoch: epoch + 3 });
  expect(await sweep(second, nowMs + 10_000)).toMatchObject({ epoch: epoch + 3 });
  await reader.close();
});
