import { createWorld } from "@svc/testing/desk";
import { createBenches, sendAll } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";
import { jobRowSweep } from "./retention.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

test("rows go some days after the end, and the receipt stays", async () => {
  const bench = await benches.bench(createWorld({ items: 30, pageSize: 10 }));
  bench.engine();
  const old = await bench.submit(sendAll());
  await bench.reach(old, "succeeded");
  bench.clock.advance(6 * 86_400_000);
  const young = await bench.submit(sendAll());
  await bench.reach(young, "succeeded");
  bench.clock.advance(2 * 86_400_000);
  const { db, clock } = bench;
  const sweep = jobRowSweep({ db, rowRetentionMs: 7 * 86_400_000, batchMax: 7 });
  let full = 0;
  for await (const isFull of sweep.round(clock.now())) if (isFull) full++;
  expect(full).toBeGreaterThan(1);
  const count = async (table: string) =>
    (await db.sql.unsafe<{ n: number }[]>(`select count(*)::int4 as n from ${table}`))[0]?.n;
  // A block for each page.
  expect(await count("job_rows")).toBe(3);
  expect(await count("job_set_rows")).toBe(60);
  expect((await bench.read(old)).job).toMatchObject({ isSwept: true, status: "succeeded" });
  expect((await bench.read(young)).job.isSwept).toBe(false);
});
