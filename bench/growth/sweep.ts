import postgres from "postgres";
import type { BenchContext } from "../case.ts";
import { measure, warmUpSeconds } from "../measure.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import type { BenchDatabase } from "../postgres.ts";
import { filledDays } from "./fill.ts";
import { startOn } from "./start.ts";

/** Posts a second. */
export const ratePerSecond = 300;

/** Time of the sweep of one day of events, and the latency of posts without and with it. */
export type SweepRun = {
  readonly swept: number;
  readonly seconds: number;
  /** The p99 latency of posts in milliseconds: without the sweep, and in the worst window of equal length during it. */
  readonly before: number;
  readonly during: number;
};

/** Measures posts at a steady rate, without and with a sweep of one day. A start with a shorter retention time begins the sweep at once. */
export async function measureSweep(ctx: BenchContext, database: BenchDatabase): Promise<SweepRun> {
  const { seconds = 8, connections } = ctx.settings;
  const post = { post: "order", connections, ratePerSecond } as const;
  ctx.progress("a sweep of a day's events");
  const system = await startOn(ctx, database, {});
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const countOld = () => countBefore(sql, filledDays - 1);
  try {
    await measure(ctx, system, { ...post, seconds: warmUpSeconds });
    const before = (await measure(ctx, system, { ...post, seconds })).load.latency.p99;
    const swept = await countOld();
    const startedAt = monotonicMicros();
    const sweeper = await startOn(ctx, database, { retention: `P${filledDays - 1}D` });
    let isOver = false;
    let during = 0;
    try {
      const posting = (async () => {
        while (!isOver) {
          const { load } = await measure(ctx, system, { ...post, seconds });
          during = Math.max(during, load.latency.p99);
        }
      })();
      // The last hundredth is not waited for, because further events become old enough all the time.
      while ((await countOld()) > swept / 100) await delay(500);
      const elapsed = (monotonicMicros() - startedAt) / 1e6;
      isOver = true;
      await posting;
      return { swept, seconds: elapsed, before, during };
    } finally {
      isOver = true;
      await sweeper.stop();
    }
  } finally {
    await sql.end();
    await system.stop();
  }
}

/**
 * Returns the number of events older than some days. It compares ids, which begin with a time; by the time of receipt, PostgreSQL would
 * read all of a large store.
 */
async function countBefore(sql: postgres.Sql, days: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from events where project_id = (select project_id from events limit 1)
      and id < (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - ${days * 86_400_000}::bigint), 12, '0')
        || '00000000000000000000')::uuid`;
  return row?.count ?? 0;
}
