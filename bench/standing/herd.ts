import postgres from "postgres";
import type { BenchContext } from "../case.ts";
import { startChild } from "../child.ts";
import type { CronCommands } from "../peers/cron-commands.ts";
import type { BenchDatabase } from "../postgres.ts";
import type { System } from "../system.ts";
import { type InteractiveDelay, interactiveJobs } from "./interactive.ts";
import { type HerdLag, lagOf } from "./lag.ts";
import { createPrograms, idleProgram, withNodes } from "./setting.ts";

/** Time in milliseconds between setting the due time of schedules and that time. */
const leadMs = 3_000;
/** Time in milliseconds to wait for all jobs. A node that dies keeps a batch until its lease of 30 s ends. */
const patienceMs = 120_000;
/** Share of the jobs at which one node is killed. */
const killedAt = 0.3;

/** Names of the variants in the report. */
export const herdNames = {
  own: "two nodes",
  killed: "two nodes, one killed",
  graphileWorker: "graphile-worker, its crontab",
  pgBoss: "pg-boss, its schedules",
} as const;

/** Result of a herd (many schedules due at one time): the lags of all variants, and the delays of people's jobs during the first. */
export type Herd = { readonly lags: readonly HerdLag[]; readonly delays: readonly InteractiveDelay[] };

/** Measures schedules that are due at one time: on two nodes, on two nodes of which one is killed, and on peers. */
export async function measureHerd(ctx: BenchContext, count: number): Promise<Herd> {
  const own = await ownHerd(ctx, count, false);
  const killed = await ownHerd(ctx, count, true);
  return {
    lags: [
      own.lag,
      killed.lag,
      await peerHerd(ctx, count, "cron-graphile-worker", herdNames.graphileWorker),
      await peerHerd(ctx, count, "cron-pg-boss", herdNames.pgBoss),
    ],
    delays: own.delays,
  };
}

/** Runs a herd on svc. In the variant without a kill, people's jobs are submitted at the same time. */
async function ownHerd(ctx: BenchContext, count: number, kills: boolean): Promise<OwnHerd> {
  const database = await ctx.postgres.createDatabase("bench_herd");
  try {
    return await withNodes(ctx, database, { count: 2, post: "calendar" }, async ([first, second]) => {
      ctx.progress(`making ${count.toLocaleString("en-US")} standing programs`);
      await createPrograms(first, count, (index) => ({
        source: { schedule: { cron: ["0 0 1 1 *"] } },
        program: idleProgram(`Program ${index}`),
      }));
      const name = kills ? herdNames.killed : herdNames.own;
      if (kills) return { lag: await measureDue(ctx, database, { name, count, doomed: second }), delays: [] };
      const people = await interactiveJobs(first);
      const lag = await measureDue(ctx, database, { name, count, doomed: undefined, beside: people.begin });
      return { lag, delays: await people.end() };
    });
  } finally {
    await database.drop();
  }
}

type OwnHerd = { readonly lag: HerdLag; readonly delays: readonly InteractiveDelay[] };

type Due = {
  readonly name: string;
  readonly count: number;
  readonly doomed: System | undefined;
  /** Starts a second measurement shortly before the herd is due. */
  readonly beside?: () => void;
};

/**
 * Measures schedules that the benchmark makes due itself, because waiting for a full minute would change nothing. Throws unless each ran
 * once.
 */
async function measureDue(ctx: BenchContext, database: BenchDatabase, due: Due): Promise<HerdLag> {
  const { name, count, doomed, beside } = due;
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  try {
    await sql`vacuum analyze`;
    if (ctx.isStatementsKept) await ctx.postgres.takeStatements(database.name);
    ctx.progress(`${count.toLocaleString("en-US")} due at once: ${name}`);
    const [row] = await sql<{ at: Date }[]>`select clock_timestamp() + ${leadMs}::int * interval '1 ms' as at`;
    const dueAt = row?.at ?? new Date();
    await sql`with due as (update due_tasks set due_at = ${dueAt} where kind = 'fire')
      update standing_programs set next_at = ${dueAt}`;
    beside?.();
    let isKilled = false;
    const lag = await lagOf({ name, count, patienceMs }, async () => {
      const [found] = await sql<{ ms: number; jobs: number }[]>`
        select extract(epoch from clock_timestamp() - ${dueAt}::timestamptz)::float8 * 1000 as ms, count(*)::int4 as jobs
        from standing_runs`;
      const { ms, jobs } = found ?? { ms: 0, jobs: 0 };
      if (doomed !== undefined && !isKilled && jobs >= count * killedAt) {
        isKilled = true;
        process.kill(doomed.pid, "SIGKILL");
      }
      return { ms, jobs };
    });
    await assertOnce(sql, count);
    if (ctx.isStatementsKept)
      process.stdout.write(`${(await ctx.postgres.takeStatements(database.name)).join("\n")}\n`);
    return lag;
  } finally {
    await sql.end();
  }
}

/** Throws unless each program has exactly one run, with its own job. */
async function assertOnce(sql: postgres.Sql, count: number): Promise<void> {
  const [found] = await sql<{ runs: number; programs: number; jobs: number; left: number }[]>`
    select count(*)::int4 as runs, count(distinct program_id)::int4 as programs,
      (select count(*) from jobs where standing_run_id is not null)::int4 as jobs, count(*) filter (where job_id is null)::int4 as left from standing_runs`;
  const { runs, programs, jobs, left } = found ?? { runs: 0, programs: 0, jobs: 0, left: 0 };
  if (runs !== count || programs !== count || jobs !== count || left > 0)
    throw new Error(`${count} were due, and there are ${JSON.stringify(found)}`);
}

async function peerHerd(
  ctx: BenchContext,
  count: number,
  file: "cron-graphile-worker" | "cron-pg-boss",
  name: string,
): Promise<HerdLag> {
  const database = await ctx.postgres.createDatabase("bench_herd_peer");
  const peer = startChild<CronCommands>(new URL(`../peers/${file}.ts`, import.meta.url));
  try {
    ctx.progress(`${count.toLocaleString("en-US")} schedules of ${name}`);
    const dueAtMs = await peer.ask("start", { databaseUrl: database.url, count });
    ctx.progress(`waiting for the minute: ${name}`);
    return await lagOf({ name, count, patienceMs }, async () => {
      const jobs = await peer.ask("queued", null);
      return { ms: performance.timeOrigin + performance.now() - dueAtMs, jobs };
    });
  } finally {
    await peer.stop();
    await database.drop();
  }
}
