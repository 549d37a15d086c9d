import { isoTime, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { currentEpoch, lowPriorityEpoch } from "../deliveries/epoch.ts";
import { addProject, addSubscription, nowMs } from "../test-rows.ts";
import { readDeploymentHealth } from "./health.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
let projectId: ProjectId;
beforeEach(async () => {
  await db.sql`truncate delivery_tasks, subscriptions, projects cascade`;
  projectId = await addProject(db);
});

/** Stores tasks of a subscription that are due since a number of seconds. `epoch`: SQL. `leased`: true if a node sends them now. */
async function fill(
  subscriptionId: SubscriptionId,
  seconds: number,
  { count = 1, epoch = currentEpoch, leased = false } = {},
) {
  await db.sql.unsafe(
    `insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, epoch, lease_until)
     select gen_random_uuid(), $1::uuid, $2::uuid, gen_random_uuid(), $3::timestamptz, ${epoch}, $4::timestamptz from generate_series(1, ${count})`,
    [
      ...[uuidOfId(projectId), uuidOfId(subscriptionId), isoTime(nowMs - seconds * 1_000)],
      leased ? isoTime(nowMs + 30_000) : null,
    ],
  );
}

/** Stores a subscription whose row has other values than that of a healthy one. `changes`: SQL. */
async function subscriptionWith(changes: string): Promise<SubscriptionId> {
  const id = await addSubscription(db, projectId);
  await db.sql.unsafe(`update subscriptions set ${changes} where id = $1::uuid`, [uuidOfId(id)]);
  return id;
}

const oldest = async () => (await readDeploymentHealth(db, nowMs)).deliveriesSeconds;

test("the oldest due delivery is found among 120,000 pending ones, also if it is a retry or of a throttled replay", async () => {
  const [busy, quiet] = [await addSubscription(db, projectId), await addSubscription(db, projectId)];
  expect(await oldest()).toBe(0);
  await fill(await subscriptionWith("failing_since = now()"), 7_200, { count: 60_000 });
  await fill(await subscriptionWith("active = false"), 7_200);
  await fill(await subscriptionWith(`settings = '{"pace":{"max":1,"perMs":1000}}'`), 7_200);
  await fill(busy, 3_600, { count: 1_000, leased: true });
  await fill(busy, 10, { count: 50_000 });
  await fill(busy, -3_600, { count: 10_000, epoch: "0" });
  expect(await oldest()).toBe(10);
  await fill(quiet, 600, { epoch: "0" });
  expect(await oldest()).toBe(600);
  await fill(quiet, 900, { epoch: lowPriorityEpoch });
  expect(await oldest()).toBe(900);
});

test("an expired lease does not hide a delivery", async () => {
  const id = await addSubscription(db, projectId);
  await fill(id, 60, { leased: true });
  expect(await oldest()).toBe(0);
  await db.sql`update delivery_tasks set lease_until = ${isoTime(nowMs - 1)}`;
  expect(await oldest()).toBe(60);
});
