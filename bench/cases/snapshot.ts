import postgres from "postgres";
import type { BenchCase, BenchContext, CaseReport } from "../case.ts";
import { startChild } from "../child.ts";
import { jobServer } from "../jobs/setting.ts";
import { singleJobRequest } from "../jobs/single.ts";
import type { LoadOptions } from "../load.ts";
import { warmUpSeconds, withSystem } from "../measure.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { peerVariant } from "../peer.ts";
import type { providerCommands } from "../provider.ts";
import { formatRate } from "../report.ts";
import { deliveringServer } from "../server-variant.ts";
import { spreadOf } from "../statistics.ts";
import type { Variant } from "../system.ts";

const windowSeconds = 10;
/** What a window leaves undone for longer than this is no part of its rate. */
const drainMicros = 60e6;
/** Of the windows before the snapshot. */
const windowsBefore = 3;

/** A system under load, and the tables of its queue. */
type Subject = {
  readonly variant: Variant;
  readonly post: LoadOptions["post"];
  /** Those of its queue, with their schema, as a regular expression. What came of it is kept apart from them. */
  readonly tables: string;
  /** What was done so far. */
  done(): Promise<number>;
};

type Window = { readonly rate: number; readonly dead: number };

/** How one system went: its windows before the snapshot was held, and while it was. */
type Result = { readonly name: string; readonly before: readonly Window[]; readonly held: readonly Window[] };

/** What a long transaction costs, such as a dump: vacuum removes nothing of what ends meanwhile. */
export const snapshot: BenchCase = {
  name: "snapshot",
  about:
    "deliveries and jobs a second while a transaction holds a snapshot, against before, and the dead rows that pile up",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const origin = `http://127.0.0.1:${await provider.ask("port", null)}`;
      const results: Result[] = [];
      for (const subject of subjectsOf(ctx, origin, () => provider.ask("count", null)))
        results.push(await measureSubject(ctx, subject));
      return report(results);
    } finally {
      await provider.stop();
    }
  },
};

function subjectsOf(ctx: BenchContext, origin: string, calls: () => Promise<number>): Subject[] {
  const { settings } = ctx;
  const received = () => ctx.sink.ask("count", null);
  const post = settings.post ?? "calendar";
  const own = { post, tables: "^public.delivery_tasks$", done: received };
  const job = { request: singleJobRequest() };
  return [
    { ...own, variant: deliveringServer(settings, deliveries) },
    { ...own, variant: peerVariant("graphile-worker", "deliveries, graphile-worker"), tables: "^graphile_worker." },
    { ...own, variant: peerVariant("pg-boss", "deliveries, pg-boss"), tables: "^pgboss." },
    { variant: { ...jobServer(settings, origin), name: jobs }, post: job, tables: "^public.job_tasks$", done: calls },
  ];
}

const deliveries = "deliveries, svc";
const jobs = "single-step jobs, svc";

async function measureSubject(ctx: BenchContext, subject: Subject): Promise<Result> {
  const { variant } = subject;
  let databaseUrl = "";
  const observed: Variant = {
    name: variant.name,
    start(setup) {
      databaseUrl = setup.databaseUrl;
      return variant.start(setup);
    },
  };
  return withSystem(ctx, observed, { post: "calendar" }, async ({ port }) => {
    const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
    const holder = postgres(databaseUrl, { max: 1, onnotice: () => {} });
    const measureWindow = () => runWindow(ctx, subject, { sql, port });
    const { connections, seconds = 600 } = ctx.settings;
    try {
      await ctx.load.ask("run", { port, post: subject.post, connections, seconds: warmUpSeconds });
      const windows = async (count: number, what: string) => {
        const found: Window[] = [];
        for (let number = 1; number <= count; number += 1) {
          found.push(await measureWindow());
          const { rate, dead } = found.at(-1) ?? { rate: 0, dead: 0 };
          ctx.progress(`${variant.name}, ${what} ${number} of ${count}: ${Math.round(rate)}/s, ${dead} dead rows`);
        }
        return found;
      };
      const before = await windows(windowsBefore, "before");
      const held = await holder.begin("isolation level repeatable read read only", async (tx) => {
        await tx`select count(*) from pg_class`;
        return windows(Math.ceil(seconds / windowSeconds), "held");
      });
      return { name: variant.name, before, held };
    } finally {
      await Promise.all([sql.end(), holder.end()]);
    }
  });
}

/** Load for one window, and how much of it was done a second, from the first post until nothing was left to do. */
async function runWindow(
  ctx: BenchContext,
  { post, tables, done }: Subject,
  { sql, port }: { sql: postgres.Sql; port: number },
): Promise<Window> {
  const doneBefore = await done();
  const { connections } = ctx.settings;
  const load = await ctx.load.ask("run", { port, post, connections, seconds: windowSeconds });
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

function report(results: readonly Result[]): CaseReport {
  const ratio = ({ before, held }: Result) => {
    const usual = spreadOf(before.map(({ rate }) => rate)).median;
    return spreadOf(held.map(({ rate }) => rate / usual));
  };
  const own = results.filter(({ name }) => name === deliveries || name === jobs);
  return {
    columns: ["system", "a second, before", "held: all windows", "last window", "dead rows: most", "at the end"],
    rows: results.map(({ name, before, held }) => [
      name,
      formatRate(spreadOf(before.map(({ rate }) => rate))),
      formatRate(spreadOf(held.map(({ rate }) => rate))),
      formatRate(spreadOf(held.slice(-1).map(({ rate }) => rate))),
      Math.max(...held.map(({ dead }) => dead)).toLocaleString("en-US"),
      (held.at(-1)?.dead ?? 0).toLocaleString("en-US"),
    ]),
    figures: own.flatMap((result) => [
      { name: `${result.name}: held / before`, value: ratio(result), unit: "", aim: { atLeast: 0.9 } },
      {
        name: `${result.name}: dead rows`,
        value: spreadOf(result.held.map(({ dead }) => dead)),
        unit: "",
        aim: { below: 250_000 },
      },
    ]),
    notes: [
      `windows of ${windowSeconds} s, ${windowsBefore} of them before a transaction of REPEATABLE READ takes its snapshot, which it holds for --seconds (600)`,
      "deliveries and calls are counted where they arrive, each window until its last one did; dead rows are those of the queue's own tables, by the server's count",
    ],
  };
}
