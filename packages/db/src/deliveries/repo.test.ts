import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countPendingDeliveries } from "./repo.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const addTasks = (count: number) =>
  database.db.sql.unsafe(
    `insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, attempts, due_at)
     select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 0, now() from generate_series(1, ${count})`,
  );

test("the backlog is exact while it is short, and never under what was counted when it is long", async () => {
  expect(await countPendingDeliveries(database.db)).toBe(0);
  await addTasks(3);
  expect(await countPendingDeliveries(database.db)).toBe(3);
  await addTasks(110_000);
  expect(await countPendingDeliveries(database.db)).toBeGreaterThanOrEqual(100_000);
  await database.db.sql.unsafe("analyze delivery_tasks");
  expect(await countPendingDeliveries(database.db)).toBeGreaterThan(105_000);
});
