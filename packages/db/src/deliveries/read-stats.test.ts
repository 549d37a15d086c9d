import { createId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { addProject, addSubscription, nowMs } from "../test-rows.ts";
import { readSubscriptionStats } from "./read-stats.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate deliveries, subscriptions, projects cascade`);

/** Stores delivered deliveries with one attempt each, a second apart. `hashes`: number of hashes in the answer's body, of 32 bytes each. */
async function store(count: number, hashes: number) {
  const projectId = await addProject(db);
  const id = await addSubscription(db, projectId);
  const entry = `'2[1,${nowMs},20,"https://example.com/","192.0.2.1",200,"",{},"' || h.text || '"]'`;
  const ids = Array.from({ length: count }, (_, n) => uuidOfId(createId("dlv", nowMs + n * 1_000)));
  await db.sql.unsafe(
    `insert into deliveries (project_id, id, event_id, subscription_id, state, attempts, attempt_log)
     select $1::uuid, d.id, d.id, $2::uuid, 'delivered', 1, jsonb_build_array(${entry})
     from unnest($3::uuid[]) d(id) cross join lateral (
       select coalesce(string_agg(md5(d.id::text || n), ''), '') as text from generate_series(1, ${hashes}) n) h`,
    [uuidOfId(projectId), uuidOfId(id), `{${ids.join()}}`],
  );
  return () => readSubscriptionStats(db, projectId, id, { sinceMs: nowMs, untilMs: nowMs + count * 1_000 });
}

test("statistics cover at most 16 MiB of stored attempts, and say from when", async () => {
  const read = await store(400, 3_200);
  const { delivered, sinceMs, isCut, bars, p95Ms } = await read();
  // An attempt has some 100 KB.
  expect(delivered).toBeGreaterThan(120);
  expect(delivered).toBeLessThan(170);
  expect([isCut, p95Ms]).toEqual([true, 20]);
  expect(sinceMs).toBe(nowMs + (400 - delivered) * 1_000);
  expect(bars.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(delivered);
});

test("statistics of deliveries with small answers cover the newest 5,000", async () => {
  expect(await (await store(5_001, 0))()).toMatchObject({ delivered: 5_000, isCut: true, sinceMs: nowMs + 1_000 });
  expect(await (await store(5_000, 0))()).toMatchObject({ delivered: 5_000, isCut: false, sinceMs: nowMs });
});

test("the newest delivery is counted, however large its attempts are", async () => {
  expect(await (await store(2, 530_000))()).toMatchObject({ delivered: 1, isCut: true });
});
