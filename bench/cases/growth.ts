import postgres from "postgres";
import type { BenchCase, BenchContext, CaseReport, Figure } from "../case.ts";
import { type Costs, costCells, costColumns, costsNote, medianCosts } from "../costs.ts";
import { fillEvents, filledDays } from "../growth/fill.ts";
import { measureRead, storedReads } from "../growth/reads.ts";
import { startOn } from "../growth/start.ts";
import { measureSweep, ratePerSecond, type SweepRun } from "../growth/sweep.ts";
import type { LatencySummary } from "../histogram.ts";
import { measure, warmUpSeconds } from "../measure.ts";
import { delay } from "../monotonic.ts";
import type { BenchDatabase } from "../postgres.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";

/** A store, and the measurements made on it. */
type Store = {
  readonly events: number;
  readonly system: System;
  readonly posts: { readonly costs: Costs; readonly latency: LatencySummary }[];
  readonly flood: Costs[];
  readonly reads: Map<string, LatencySummary[]>;
};

const smallEvents = 1_000;

/** Measures if any operation becomes more expensive with the amount of stored data. */
export const growth: BenchCase = {
  name: "growth",
  about: "posts, deliveries, list pages and a sweep on stores of 1 thousand, 1 million (and --events) stored events",
  run: async (ctx) => {
    const databases: BenchDatabase[] = [];
    try {
      for (const events of sizesOf(ctx)) databases.push(await createStore(ctx, events));
      const stores = await measureStores(ctx, databases);
      const largest = databases.at(-1);
      const sweep = largest && (await measureSweep(ctx, largest));
      return report(stores, sweep);
    } finally {
      for (const database of databases) await database.drop();
    }
  },
};

/**
 * Returns the sizes of the stores: 1 thousand and 1 million events, and the number given by --events if it is larger. A smaller number
 * replaces the million.
 */
function sizesOf({ settings }: BenchContext): number[] {
  const { events = 1_000_000 } = settings;
  return events > 1_000_000 ? [smallEvents, 1_000_000, events] : [smallEvents, events];
}

async function createStore(ctx: BenchContext, events: number): Promise<BenchDatabase> {
  const database = await ctx.postgres.createDatabase(`bench_growth_${events}`);
  const system = await startOn(ctx, database, { isFirst: true });
  try {
    // These posts make real rows, which are then copied.
    const post = { post: "order", connections: 8, seconds: 60, postsMax: 100 } as const;
    await measure(ctx, system, post);
    await settled(database);
  } finally {
    await system.stop();
  }
  await ctx.postgres.withoutFsync(() => fillEvents(database.url, events, ctx.progress));
  return database;
}

/** Waits until no delivery is under way. */
async function settled({ url }: BenchDatabase): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const isPending = async () => (await sql`select from delivery_tasks limit 1`).length > 0;
    while (await isPending()) await delay(20);
  } finally {
    await sql.end();
  }
}

/** Servers on all stores run at the same time and are measured by turns. */
async function measureStores(ctx: BenchContext, databases: readonly BenchDatabase[]): Promise<Store[]> {
  const { rounds = 3 } = ctx.settings;
  const stores: Store[] = [];
  try {
    for (const [index, database] of databases.entries()) {
      const system = await startOn(ctx, database, {});
      stores.push({ events: sizesOf(ctx)[index] ?? 0, system, posts: [], flood: [], reads: new Map() });
    }
    for (const { system } of stores) await flood(ctx, system, warmUpSeconds);
    for (let round = 1; round <= rounds; round += 1) {
      for (const store of round % 2 === 0 ? stores.toReversed() : stores) await measureStore(ctx, store, round);
    }
    return stores;
  } finally {
    for (const { system } of stores) await system.stop();
  }
}

async function measureStore(ctx: BenchContext, store: Store, round: number): Promise<void> {
  const { seconds = 8, connections } = ctx.settings;
  const { system, events } = store;
  ctx.progress(`round ${round}: a store of ${events.toLocaleString("en-US")} events`);
  const { costs, load } = await measure(ctx, system, { post: "order", connections, ratePerSecond, seconds });
  store.posts.push({ costs, latency: load.latency });
  store.flood.push(await flood(ctx, system, seconds));
  for (const read of await storedReads(system)) {
    const found = store.reads.get(read.name) ?? [];
    store.reads.set(read.name, [...found, await measureRead(system, read)]);
  }
}

async function flood(ctx: BenchContext, system: System, seconds: number): Promise<Costs> {
  const { connections } = ctx.settings;
  return (await measure(ctx, system, { post: "order", connections, seconds })).costs;
}

function report(stores: readonly Store[], sweep: SweepRun | undefined): CaseReport {
  const [small] = stores;
  return {
    columns: ["operation", "stored events", "p50", "p99", ...costColumns],
    rows: [...postRows(stores), ...readRows(stores)],
    figures:
      small === undefined
        ? []
        : stores
            .slice(1)
            .flatMap((full) => figuresOf(small, full))
            .concat(sweepFigures(sweep)),
    notes: [
      costsNote,
      `a store is filled by SQL with copies of real rows over ${filledDays} days, each event with its delivery; one in a hundred is of another toolkit`,
      `a post: stored, delivered and its outcome recorded, at ${ratePerSecond} a second, and as fast as they are taken; p50 and p99 of its answer`,
      "servers on all stores are up at once and take turns; medians of the rounds; what is posted meanwhile comes on top, to each about as much",
      ...(sweep === undefined
        ? []
        : [
            `sweep of ${sweep.swept.toLocaleString("en-US")} events with their deliveries by a second node: ${sweep.seconds.toFixed(1)} s, its start included; p99 of posts at ${ratePerSecond} a second ${sweep.before.toFixed(1)} ms before, ${sweep.during.toFixed(1)} ms meanwhile, in the worst window of the same length`,
          ]),
    ],
  };
}

function median(values: readonly number[]): number {
  return spreadOf(values).median;
}

function milliseconds(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function postRows(stores: readonly Store[]): string[][] {
  const steady = stores.map(({ events, posts }) => [
    `post at ${ratePerSecond} a second`,
    events.toLocaleString("en-US"),
    milliseconds(median(posts.map(({ latency }) => latency.p50))),
    milliseconds(median(posts.map(({ latency }) => latency.p99))),
    ...costCells(medianCosts(posts.map(({ costs }) => costs))),
  ]);
  const floods = stores.map(({ events, flood: runs }) => [
    "post, as fast as taken",
    events.toLocaleString("en-US"),
    "",
    "",
    ...costCells(medianCosts(runs)),
  ]);
  return [...steady, ...floods];
}

function readRows(stores: readonly Store[]): string[][] {
  const names = [...(stores[0]?.reads.keys() ?? [])];
  return names.flatMap((name) =>
    stores.map(({ events, reads }) => {
      const found = reads.get(name) ?? [];
      const [p50, p99] = [found.map((read) => read.p50), found.map((read) => read.p99)];
      return [name, events.toLocaleString("en-US"), milliseconds(median(p50)), milliseconds(median(p99))];
    }),
  );
}

function figuresOf(small: Store, full: Store): Figure[] {
  const name = (what: string) =>
    `${what}: ${full.events.toLocaleString("en-US")} / ${smallEvents.toLocaleString("en-US")} events`;
  const ratio = (what: string, of: (store: Store) => number | undefined, below: number): Figure[] => {
    const [over, under] = [of(full), of(small)];
    if (over === undefined || under === undefined) return [];
    return [{ name: name(what), value: spreadOf([over / under]), unit: "", aim: { below } }];
  };
  const cpu = ({ system, store }: Costs) => (system === undefined || store === undefined ? undefined : system + store);
  const steady = ({ posts }: Store) => medianCosts(posts.map(({ costs }) => costs));
  return [
    ...ratio(`CPU a post at ${ratePerSecond} a second`, (store) => cpu(steady(store)), 1.2),
    ...ratio("CPU a post, as fast as taken", (store) => cpu(medianCosts(store.flood)), 1.2),
    ...ratio("WAL a post", (store) => steady(store).walBytes, 1.5),
    ...[...small.reads.keys()].flatMap((read) =>
      ratio(`${read}, p50`, ({ reads }) => median((reads.get(read) ?? []).map(({ p50 }) => p50)), 2),
    ),
    ...[...full.reads]
      .filter(([read]) => read.includes("toolkit"))
      .map(([read, found]) => ({
        name: `${read}, p99, ${full.events.toLocaleString("en-US")} events`,
        value: spreadOf(found.map(({ p99 }) => p99)),
        unit: "ms",
        aim: { below: 20 },
      })),
  ];
}

function sweepFigures(sweep: SweepRun | undefined): Figure[] {
  if (sweep === undefined) return [];
  const value = spreadOf([sweep.during - sweep.before]);
  return [{ name: "p99 of posts: what the sweep of a day adds", value, unit: "ms", aim: { below: 20 } }];
}
