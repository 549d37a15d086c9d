import type { BenchContext } from "../case.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import type { RunningHost, Subject } from "./hosts.ts";

/** Length of a window, in seconds. */
export const windowSeconds = 10;

/** Longest wait in microseconds for the remaining work of a window. Work that takes longer does not count. */
const drainMicros = 60e6;

/** Finished operations a second, and the number of dead rows in the queue's tables afterwards. */
export type Window = { readonly rate: number; readonly dead: number };

/** Runs a workload for one window. Returns the finished operations a second, from the first post until nothing was left to do. */
export async function runWindow(
  ctx: BenchContext,
  { port, sql }: RunningHost,
  { post, tables, done }: Subject,
): Promise<Window> {
  const doneBefore = await done();
  const { connections } = ctx.settings;
  const load = await ctx.load.ask("run", { port, post, connections, seconds: windowSeconds });
  if (load.refused > 0) throw new Error(`${load.refused} requests were refused: ${load.firstRefusal}`);
  const giveUpAt = load.endedAtMicros + drainMicros;
  let count = (await done()) - doneBefore;
  while (count < load.accepted && monotonicMicros() < giveUpAt) {
    await delay(10);
    count = (await done()) - doneBefore;
  }
  const rate = (count * 1e6) / (monotonicMicros() - load.startedAtMicros);
  const [row] = await sql<{ dead: number }[]>`
    select coalesce(sum(n_dead_tup), 0)::int4 as dead from pg_stat_user_tables where schemaname || '.' || relname ~ ${tables}`;
  return { rate, dead: row?.dead ?? 0 };
}
