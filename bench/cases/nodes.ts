import type { BenchCase, BenchContext, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import { type Costs, costCells, costColumns, costsEach, costsNote, medianCosts, readCosts } from "../costs.ts";
import { fillLanes } from "../growth/lanes.ts";
import { itemsOptions, type JobsSetting } from "../jobs/setting.ts";
import { singleJobRequest } from "../jobs/single.ts";
import type { LoadOptions } from "../load.ts";
import { endpointConnections, untilRecorded, warmUpSeconds } from "../measure.ts";
import { delay } from "../monotonic.ts";
import { postKind } from "../post-kinds.ts";
import type { BenchDatabase } from "../postgres.ts";
import type { providerCommands } from "../provider.ts";
import { type ServerOptions, startServer } from "../server.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";

/** A workload, spread evenly over all nodes of a database at a given rate a second. */
type Work = {
  readonly name: string;
  readonly ratePerSecond: number;
  readonly load: LoadOptions["post"];
  readonly options: ServerOptions;
};

/** Cost of several nodes on one database, for each operation of a workload or for an idle minute. */
type NodesResult = { readonly name: string; readonly nodes: number; readonly costs: readonly Costs[] };

const nodeCounts = [1, 2, 3];
const waitingLanes = 10_000;

/** Measures if more nodes do more work, and the cost of an idle node. */
export const nodes: BenchCase = {
  name: "nodes",
  about: "what an operation costs on 1, 2 and 3 nodes of one database, and a minute of an idle node",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const origin = `http://127.0.0.1:${await provider.ask("port", null)}`;
      const setting: JobsSetting = { ctx, provider, origin };
      return report([...(await measureWorks(setting)), ...(await measureIdle(ctx))]);
    } finally {
      await provider.stop();
    }
  },
};

async function worksOf({ ctx, origin }: JobsSetting): Promise<Work[]> {
  const { toolkitSlug, triggerSlug } = postKind("order");
  const endpointUrl = await hookOf(ctx);
  return [
    {
      name: "post at 300 a second, delivered",
      ratePerSecond: 300,
      load: "order",
      options: {
        subscriptions: [{ endpointUrl, toolkitSlug, triggerSlug }],
        counts: "delivered",
        nodeOptions: [],
      },
    },
    {
      name: "single-step job at 60 a second",
      ratePerSecond: 60,
      load: { request: singleJobRequest() },
      options: { ...itemsOptions(origin), nodeOptions: [] },
    },
  ];
}

async function hookOf({ sink }: BenchContext): Promise<string> {
  return `http://127.0.0.1:${await sink.ask("port", null)}/hook`;
}

async function measureWorks(setting: JobsSetting): Promise<NodesResult[]> {
  const { ctx } = setting;
  const { rounds = 3 } = ctx.settings;
  const results: (NodesResult & { readonly work: Work; readonly costs: Costs[] })[] = (await worksOf(setting)).flatMap(
    (work) => nodeCounts.map((count) => ({ name: work.name, nodes: count, work, costs: [] })),
  );
  for (let round = 1; round <= rounds; round += 1) {
    for (const { work, nodes: count, costs } of results) {
      ctx.progress(`round ${round} of ${rounds}: ${work.name} on ${count} nodes`);
      costs.push(await withNodes(ctx, count, work.options, (systems) => spread(setting, systems, work)));
    }
  }
  return results;
}

/**
 * Starts nodes on one new database. The first one creates the subscriptions and makes the setup calls. All nodes end with the database.
 * `use` gets the nodes and the address of the database.
 */
export async function withNodes<T>(
  ctx: BenchContext,
  count: number,
  options: ServerOptions,
  use: (systems: readonly System[], databaseUrl: string) => Promise<T>,
): Promise<T> {
  const database = await ctx.postgres.createDatabase("bench_nodes");
  try {
    return await useNodes(ctx, database, { count, options }, use);
  } finally {
    await database.drop();
  }
}

async function useNodes<T>(
  ctx: BenchContext,
  { url }: BenchDatabase,
  { count, options }: { readonly count: number; readonly options: ServerOptions },
  use: (systems: readonly System[], databaseUrl: string) => Promise<T>,
): Promise<T> {
  const setup = { databaseUrl: url, post: "order", endpointUrl: await hookOf(ctx), endpointConnections } as const;
  const systems: System[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      // Only the first node sets up the database, because the others would be refused or would create everything twice.
      systems.push(await startServer(setup, index === 0 ? options : { ...options, subscriptions: [], calls: [] }));
    }
    return await use(systems, url);
  } finally {
    for (const system of systems) await system.stop();
  }
}

/** Returns all nodes as one system with all their processes. */
function asOne(systems: readonly System[]): System {
  const [first, ...others] = systems;
  if (first === undefined) throw new RangeError("there is no node");
  return { ...first, otherPids: others.map(({ pid }) => pid) };
}

async function spread({ ctx, provider }: JobsSetting, systems: readonly System[], work: Work): Promise<Costs> {
  const { seconds = 8, connections } = ctx.settings;
  const all = asOne(systems);
  const appPid = work.load === "order" ? ctx.sink.pid : provider.pid;
  const run = async (length: number): Promise<number> => {
    const recordedBefore = await all.recorded();
    const reports = await Promise.all(
      systems.map(({ port }) =>
        ctx.load.ask("run", {
          port,
          post: work.load,
          connections: Math.max(1, Math.floor(connections / systems.length)),
          seconds: length,
          ratePerSecond: work.ratePerSecond / systems.length,
        }),
      ),
    );
    const refusal = reports.find(({ refused }) => refused > 0);
    if (refusal !== undefined) throw new Error(`${refusal.refused} requests were refused: ${refusal.firstRefusal}`);
    const accepted = reports.reduce((sum, report) => sum + report.accepted, 0);
    await untilRecorded(all, recordedBefore + accepted);
    return accepted;
  };
  await run(warmUpSeconds * 2);
  const before = await readCosts(ctx, all, appPid);
  const count = await run(seconds);
  return costsEach(before, await readCosts(ctx, all, appPid), count);
}

/** Measures an idle minute, on a new store and on one with many lanes that each have a delivery which is not due. */
async function measureIdle(ctx: BenchContext): Promise<NodesResult[]> {
  const none: ServerOptions = { subscriptions: [], counts: "pending", nodeOptions: [] };
  const found: NodesResult[] = [];
  for (const count of [1, 2]) {
    ctx.progress(`${count} idle nodes`);
    const costs = await withNodes(ctx, count, none, (systems) => idleMinute(ctx, systems));
    found.push({ name: idleName, nodes: count, costs: [costs] });
  }
  const database = await createLanes(ctx);
  try {
    for (const count of [1, 2]) {
      ctx.progress(`${count} idle nodes with ${waitingLanes} lanes that wait`);
      const costs = await useNodes(ctx, database, { count, options: none }, (systems) => idleMinute(ctx, systems));
      found.push({ name: lanesName, nodes: count, costs: [costs] });
    }
  } finally {
    await database.drop();
  }
  return found;
}

const idleName = "a minute of nothing";
const lanesName = `a minute, one delivery in each of ${waitingLanes.toLocaleString("en-US")} lanes not due`;

/** Creates one real delivery to an endpoint that refuses connections, and copies it. */
async function createLanes(ctx: BenchContext): Promise<BenchDatabase> {
  const database = await ctx.postgres.createDatabase("bench_lanes");
  const { toolkitSlug, triggerSlug } = postKind("order");
  // Nothing serves port 9 (discard) today, and the system assigns it to no program.
  const subscriptions = [{ endpointUrl: "http://127.0.0.1:9/dead", toolkitSlug, triggerSlug }];
  const options: ServerOptions = { subscriptions, counts: "pending", nodeOptions: [] };
  await useNodes(ctx, database, { count: 1, options }, async (systems) => {
    const system = asOne(systems);
    await ctx.load.ask("run", { port: system.port, post: "order", connections: 1, seconds: 10, postsMax: 1 });
    await untilRecorded(system, 1);
  });
  await fillLanes(database.url, waitingLanes);
  return database;
}

/** Statements are counted by transactions, because each statement of an idle node is a transaction of its own. */
async function idleMinute(ctx: BenchContext, systems: readonly System[]): Promise<Costs> {
  const { seconds } = ctx.settings;
  const idleSeconds = seconds === undefined ? 60 : Math.min(60, seconds * 10);
  // By then the work of the start is done, and its counts have reached PostgreSQL's statistics views.
  await delay(idleSeconds === 60 ? 20_000 : 11_000);
  const all = asOne(systems);
  const before = await readCosts(ctx, all);
  await delay(idleSeconds * 1000);
  return costsEach(before, await readCosts(ctx, all), idleSeconds / 60);
}

function report(results: readonly NodesResult[]): CaseReport {
  return {
    columns: ["what", "nodes", ...costColumns],
    rows: results.map(({ name, nodes: count, costs }) => [name, String(count), ...costCells(medianCosts(costs))]),
    figures: figuresOf(results),
    notes: [
      costsNote,
      "system: all nodes together; the load is spread evenly over them, and is the same in all for each number of nodes",
      "idle: all nodes together, for a minute; a commit is a statement there, and what the bench itself reads is among them",
    ],
  };
}

function figuresOf(results: readonly NodesResult[]): Figure[] {
  const lanes = results.find(({ name, nodes: count }) => name === lanesName && count === 1);
  const { commits, store } = medianCosts(lanes?.costs ?? []);
  return [
    ...(commits === undefined
      ? []
      : [{ name: `${lanesName}: statements`, value: spreadOf([commits]), unit: "", aim: { below: 300 } }]),
    ...(store === undefined
      ? []
      : [
          { name: `${lanesName}: CPU of PostgreSQL`, value: spreadOf([store / 1000]), unit: "ms", aim: { below: 200 } },
        ]),
  ];
}
