import { afterAll, afterEach, expect, test } from "vitest";
import { sweepRowsRound } from "./retention.ts";
import { createBenches, sendAll } from "./test-benches.ts";
import { createWorld } from "./test-world.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

test("rows go some days after the end, and the receipt stays", async () => {
  const bench = await benches.bench(createWorld({ items: 30 }));
  bench.engine();
  const old = await bench.submit(sendAll());
  await bench.reach(old, "succeeded");
  bench.clock.advance(6 * 86_400_000);
  const young = await bench.submit(sendAll());
  await bench.reach(young, "succeeded");
  bench.clock.advance(2 * 86_400_000);
  const { db, clock } = bench;
  const options = { db, clock, rowRetentionMs: 7 * 86_400_000, batchMax: 7, onError: () => {} };
  const round = sweepRowsRound(options, new AbortController().signal);
  let isDone = false;
  void round.then(() => {
    isDone = true;
  });
  while (!isDone) {
    clock.advance(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const count = async (table: string) =>
    (await db.sql.unsafe<{ n: number }[]>(`select count(*)::int4 as n from ${table}`))[0]?.n;
  expect(await count("job_rows")).toBe(30);
  expect(await count("job_set_rows")).toBe(60);
  expect((await bench.read(old)).job).toMatchObject({ isSwept: true, status: "succeeded" });
  expect((await bench.read(young)).job.isSwept).toBe(false);
});
