import { createId } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deliveries } from "../schema/index.ts";
import { countSuperseded } from "./enqueue.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a delivery is superseded by a later one of its event to its subscription, by no other", async () => {
  const { db } = database;
  const ids = (nowMs: number) => ({ event: createId("evt", nowMs), subscription: createId("sub", nowMs) });
  const [projectId, other] = [createId("prj", 1), createId("prj", 2)];
  const [again, once] = [ids(1_000), ids(2_000)];
  const add = async (of: typeof projectId, { event, subscription }: typeof again, nowMs: number) => {
    const row = { projectId: of, id: createId("dlv", nowMs), eventId: event, subscriptionId: subscription };
    await db.orm.insert(deliveries).values({ ...row, state: "dead_letter" });
    return row;
  };
  const first = await add(projectId, again, 3_000);
  const replayed = await add(projectId, again, 4_000);
  const alone = await add(projectId, once, 3_000);
  // The same event for another subscription, and an event of another project.
  await add(projectId, { ...once, subscription: again.subscription }, 4_000);
  await add(other, once, 4_000);
  expect(await countSuperseded(db, projectId, [first, replayed, alone])).toBe(1);
  expect(await countSuperseded(db, projectId, [])).toBe(0);
});
