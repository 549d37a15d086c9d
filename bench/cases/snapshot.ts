import type { BenchCase, BenchContext, CaseReport } from "../case.ts";
import { startChild } from "../child.ts";
import { deliveringJobServer } from "../jobs/setting.ts";
import { singleJobRequest } from "../jobs/single.ts";
import { monotonicMicros } from "../monotonic.ts";
import { peerVariant } from "../peer.ts";
import type { providerCommands } from "../provider.ts";
import { formatRate } from "../report.ts";
import { type Host, type RunningHost, type Subject, whileHeld, withHosts } from "../snapshot/hosts.ts";
import { runWindow, type Window, windowSeconds } from "../snapshot/window.ts";
import { type Spread, spreadOf } from "../statistics.ts";

/** Number of windows measured for each subject before the snapshot is taken. */
const windowsBefore = 3;

/** Number of last windows whose median is the result "at the end", since a single window varies too much. */
const lastWindows = 3;

/** Result of one workload: its windows before the snapshot was held, and while it was held. */
type Result = { readonly subject: Subject; readonly before: Window[]; readonly held: Window[] };

/** Cost of a long transaction such as a dump: vacuum removes no dead rows while it runs. */
export const snapshot: BenchCase = {
  name: "snapshot",
  about:
    "deliveries and jobs a second while a transaction holds a snapshot, against before, and the dead rows that pile up",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const origin = `http://127.0.0.1:${await provider.ask("port", null)}`;
      const { own, without, peers } = hostsOf(ctx, origin, () => provider.ask("count", null));
      const seconds = secondsOf(ctx);
      const results = await measureHosts(ctx, { held: [own], without: [without] }, seconds.own);
      const peersResults = await measureHosts(ctx, { held: peers, without: [] }, seconds.peers);
      return report([...results, ...peersResults], seconds);
    } finally {
      await provider.stop();
    }
  },
};

/** Returns how long snapshots are held, in seconds. It is half as long for the other systems, which have slowed down by then. */
function secondsOf({ settings }: BenchContext): { own: number; peers: number } {
  const { seconds = 600 } = settings;
  return { own: seconds, peers: seconds / 2 };
}

/**
 * Returns the measured systems. `without` runs the same workload as `own` on a database without a snapshot. A slowdown of both is not an
 * effect of the snapshot.
 */
function hostsOf(
  ctx: BenchContext,
  origin: string,
  calls: () => Promise<number>,
): { own: Host; without: Host; peers: Host[] } {
  const { settings } = ctx;
  const received = () => ctx.sink.ask("count", null);
  const post = settings.post ?? "calendar";
  const job = { request: singleJobRequest() };
  const peer = (name: "graphile-worker" | "pg-boss", tables: string): Host => {
    const subject = { name: `deliveries, ${name}`, post, tables, done: received };
    return { variant: peerVariant(name, name), subjects: [subject] };
  };
  const host = (suffix: string): Host => ({
    variant: { ...deliveringJobServer(settings, origin), name: `svc${suffix}` },
    subjects: [
      { name: deliveries + suffix, post, tables: "^public.delivery_tasks$", done: received },
      { name: jobs + suffix, post: job, tables: "^public.job_tasks$", done: calls },
    ],
  });
  return {
    own: host(""),
    without: host(withoutIt),
    peers: [peer("graphile-worker", "^graphile_worker."), peer("pg-boss", "^pgboss.")],
  };
}

const deliveries = "deliveries, svc";
const jobs = "single-step jobs, svc";
/** Text added to the names of workloads without a snapshot. */
const withoutIt = ", without a snapshot";

/**
 * Measures all workloads of all systems by turns, one window each. First without snapshots, then with snapshots in the databases of `held`,
 * until those have been held long enough.
 */
function measureHosts(
  ctx: BenchContext,
  { held, without }: { readonly held: readonly Host[]; readonly without: readonly Host[] },
  seconds: number,
): Promise<Result[]> {
  return withHosts(ctx, [...held, ...without], async (running) => {
    const results = running.flatMap((host) => host.subjects.map((subject) => ({ host, subject, ...noWindows() })));
    for (const { host, subject } of results) await warmUp(ctx, host, subject);
    for (let round = 1; round <= windowsBefore; round += 1)
      for (const result of results) result.before.push(await tellWindow(ctx, result, `before ${round}`));
    await whileHeld(running.slice(0, held.length), async () => {
      const endAt = monotonicMicros() + seconds * 1e6;
      for (let round = 1; round === 1 || monotonicMicros() < endAt; round += 1)
        for (const result of results) result.held.push(await tellWindow(ctx, result, `held ${round}`));
    });
    return results;
  });
}

function noWindows(): { before: Window[]; held: Window[] } {
  return { before: [], held: [] };
}

/** The warm-up is longer than in other cases, because code that is still being compiled would slow down the windows before the snapshot. */
const warmUpWindowSeconds = windowSeconds / 2;

async function warmUp(ctx: BenchContext, { port }: RunningHost, { post }: Subject): Promise<void> {
  const { connections } = ctx.settings;
  await ctx.load.ask("run", { port, post, connections, seconds: warmUpWindowSeconds });
}

async function tellWindow(
  ctx: BenchContext,
  { host, subject }: { readonly host: RunningHost; readonly subject: Subject },
  what: string,
): Promise<Window> {
  const window = await runWindow(ctx, host, subject);
  ctx.progress(`${subject.name}, ${what}: ${Math.round(window.rate)}/s, ${window.dead} dead rows`);
  return window;
}

function report(results: readonly Result[], seconds: { own: number; peers: number }): CaseReport {
  const ratio = ({ before, held }: Result) => {
    const usual = spreadOf(before.map(({ rate }) => rate)).median;
    return spreadOf(held.map(({ rate }) => rate / usual));
  };
  const lastOf = (result: Result): Result => ({ ...result, held: result.held.slice(-lastWindows) });
  const own = results.filter(({ subject }) => subject.name === deliveries || subject.name === jobs);
  return {
    columns: [
      "system",
      "a second, before",
      "held: all windows",
      "last three windows",
      "/ before",
      "dead rows: most",
      "at the end",
    ],
    rows: results.map((result) => {
      const { subject, before, held } = result;
      return [
        subject.name,
        formatRate(spreadOf(before.map(({ rate }) => rate))),
        formatRate(spreadOf(held.map(({ rate }) => rate))),
        formatRate(spreadOf(held.slice(-lastWindows).map(({ rate }) => rate))),
        ratio(lastOf(result)).median.toFixed(2),
        Math.max(...held.map(({ dead }) => dead)).toLocaleString("en-US"),
        (held.at(-1)?.dead ?? 0).toLocaleString("en-US"),
      ];
    }),
    figures: own.flatMap((result) => [
      { name: `${result.subject.name}: held / before`, value: ratio(result), unit: "", aim: { atLeast: 0.9 } },
      {
        name: `${result.subject.name}: held, the last three windows / before`,
        value: ratio(lastOf(result)),
        unit: "",
        aim: { atLeast: 0.9 },
      },
      {
        name: `${result.subject.name}: held / the same windows without a snapshot`,
        value: besides(result, results),
        unit: "",
        aim: { atLeast: 0.9 },
      },
      {
        name: `${result.subject.name}: dead rows`,
        value: spreadOf(result.held.map(({ dead }) => dead)),
        unit: "",
        aim: { below: 250_000 },
      },
    ]),
    notes: [
      `windows of ${windowSeconds} s of load, ${windowsBefore} of each before a transaction of REPEATABLE READ takes its snapshot, which it holds for ${seconds.own} s; that of the peers is held for ${seconds.peers} s`,
      "deliveries and jobs of svc take turns on two servers, one with a snapshot on its database and one without; the peers at the same time, each on its own database: each has a quarter of the time, a peer half",
      "deliveries and calls are counted where they arrive, each window until its last one did; dead rows are those of the queue's own tables, by the server's count",
    ],
  };
}

/** Ratios of a workload's windows to those of the same round without a snapshot. */
function besides({ subject, held }: Result, results: readonly Result[]): Spread {
  const without = results.find(({ subject: { name } }) => name === subject.name + withoutIt)?.held ?? [];
  return spreadOf(
    held.flatMap(({ rate }, round) => (without[round] === undefined ? [] : [rate / without[round].rate])),
  );
}
