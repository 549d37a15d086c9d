import postgres from "postgres";
import type { BenchCase, BenchContext } from "../case.ts";
import type { LatencySummary } from "../histogram.ts";
import { endpointConnections } from "../measure.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { postKind } from "../post-kinds.ts";
import type { BenchDatabase } from "../postgres.ts";
import { latencyCells, latencyColumns } from "../report.ts";
import { callServer, startServer } from "../server.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";

const defaultEvents = 100_000;
const perSecond = 500;
const livePerSecond = 100;
/** The events are an hour old, because the sweep would delete events older than the retention time during the measurement. */
const sinceMs = Math.floor(performance.timeOrigin) - 3_600_000;
/** Time in seconds within which a lost lease ends. */
const leaseSeconds = 30;

type Progress = { readonly state: string; readonly queued: number; readonly total: number };

/** A paced replay during live events: its rate, its effect on their latency, a kill -9 of a node, and the replay's end. */
export const replay: BenchCase = {
  name: "replay",
  about: "100,000 events replayed at 500/s: pace kept, live p99, kill -9, cancelled in the middle",
  run: async (ctx) => {
    const database = await ctx.postgres.createDatabase("bench_replay");
    try {
      return await run(ctx, database);
    } finally {
      await database.drop();
    }
  },
};

async function run(ctx: BenchContext, database: BenchDatabase) {
  const { seconds = 20, events = defaultEvents } = ctx.settings;
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  let system = await start(ctx, database, true);
  try {
    await fill(sql, events);
    const alone = await live(ctx, system, seconds);
    const { replay: started } = (await callServer(system.port, "TriggersService/StartReplay", {
      since: new Date(sinceMs).toISOString(),
      until: new Date(sinceMs + events + 1).toISOString(),
      perSecond,
    })) as { replay: { id: string } };
    const { id } = started;
    await delay(2_000);
    const [before, beforeAt] = [await progressOf(system, id), monotonicMicros()];
    const beside = await live(ctx, system, seconds);
    const [after, afterAt] = [await progressOf(system, id), monotonicMicros()];
    const pace = ((after.queued - before.queued) * 1e6) / (afterAt - beforeAt);

    ctx.progress("a kill -9");
    process.kill(system.pid, "SIGKILL");
    const killedAt = monotonicMicros();
    await system.stop();
    system = await start(ctx, database, false);
    const atKill = await queuedOf(sql);
    while ((await progressOf(system, id)).queued === atKill.deliveries) {
      if (monotonicMicros() - killedAt > 2 * leaseSeconds * 1e6) throw new Error("the replay did not go on");
      await delay(100);
    }
    const resumedSeconds = (monotonicMicros() - killedAt) / 1e6;
    const [resumed, resumedAt] = [await progressOf(system, id), monotonicMicros()];
    await delay(seconds * 500);
    const [later, laterAt] = [await progressOf(system, id), monotonicMicros()];
    const paceAfter = ((later.queued - resumed.queued) * 1e6) / (laterAt - resumedAt);

    const cancelAt = monotonicMicros();
    await callServer(system.port, "TriggersService/CancelReplay", { id });
    const cancelMs = (monotonicMicros() - cancelAt) / 1e3;
    const atCancel = await queuedOf(sql);
    await delay(3_000);
    const end = await queuedOf(sql);
    const told = await progressOf(system, id);
    const isExact =
      end.deliveries === end.pairs && end.deliveries === told.queued && end.deliveries === atCancel.deliveries;
    if (!isExact || told.total !== events) throw new Error(`queued ${JSON.stringify({ end, atCancel, told })}`);
    return report({
      alone,
      beside,
      pace,
      paceAfter,
      resumedSeconds,
      cancelMs,
      queued: end.deliveries,
      seconds,
      events,
    });
  } finally {
    await system.stop();
    await sql.end();
  }
}

async function start(ctx: BenchContext, database: BenchDatabase, isFirst: boolean): Promise<System> {
  const endpointUrl = `http://127.0.0.1:${await ctx.sink.ask("port", null)}/hook`;
  const { toolkitSlug, triggerSlug } = postKind("calendar");
  const setup = { databaseUrl: database.url, post: "calendar", endpointUrl, endpointConnections } as const;
  const subscriptions = isFirst ? [{ endpointUrl, toolkitSlug, triggerSlug }] : [];
  return startServer(setup, { subscriptions, counts: "delivered", nodeOptions: [] });
}

/** Creates events of the only project, a millisecond apart. */
async function fill(sql: postgres.Sql, events: number): Promise<void> {
  const { toolkitSlug, triggerSlug } = postKind("calendar");
  await sql`insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
    select p.id, (lpad(to_hex(${sinceMs}::int8 + n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid, 'event', ${toolkitSlug}, ${triggerSlug},
      '', '{"calendar_id":"primary"}', now(), now(), '' from projects p cross join generate_series(1, ${events}::int8) n`;
  await sql`analyze events`;
}

/**
 * Posts live events for a while and returns their latency from post to receipt. Events of the replay are left out, since they have no time
 * stamp.
 */
async function live(ctx: BenchContext, { port }: System, seconds: number): Promise<LatencySummary> {
  const load = { port, post: "calendar", connections: 16, ratePerSecond: livePerSecond } as const;
  await ctx.load.ask("run", { ...load, seconds: 2 });
  await ctx.sink.ask("reset", null);
  await ctx.load.ask("run", { ...load, seconds });
  await delay(1_000);
  return (await ctx.sink.ask("report", null)).latency;
}

async function progressOf({ port }: System, id: string): Promise<Progress> {
  const { replay: found } = (await callServer(port, "TriggersService/GetReplay", { id })) as { replay: Progress };
  return found;
}

async function queuedOf(sql: postgres.Sql): Promise<{ deliveries: number; pairs: number }> {
  const [row] = await sql<{ deliveries: number; pairs: number }[]>`
    select count(*)::int4 as deliveries, count(distinct (event_id, subscription_id))::int4 as pairs from deliveries where replayed`;
  return row ?? { deliveries: 0, pairs: 0 };
}

type Run = {
  readonly alone: LatencySummary;
  readonly beside: LatencySummary;
  readonly pace: number;
  readonly paceAfter: number;
  readonly resumedSeconds: number;
  readonly cancelMs: number;
  readonly queued: number;
  readonly seconds: number;
  readonly events: number;
};

function report({ alone, beside, pace, paceAfter, resumedSeconds, cancelMs, queued, seconds, events }: Run) {
  return {
    columns: ["live, post to receipt", "events", ...latencyColumns],
    rows: [
      ["without a replay", String(alone.count), ...latencyCells(alone)],
      ["beside it", String(beside.count), ...latencyCells(beside)],
    ],
    figures: [
      {
        name: "pace off by",
        value: spreadOf([100 * Math.abs(pace / perSecond - 1), 100 * Math.abs(paceAfter / perSecond - 1)]),
        unit: "%",
        aim: { below: 5 },
      },
      { name: "live p99 beside / without", value: spreadOf([beside.p99 / alone.p99]), unit: "", aim: { below: 2 } },
      { name: "CancelReplay", value: spreadOf([cancelMs]), unit: "ms", aim: { below: 2_000 } },
      { name: "from kill -9 to the next step", value: spreadOf([resumedSeconds]), unit: "s", aim: { below: 40 } },
    ],
    notes: [
      `${events} events to one endpoint at ${perSecond}/s with ${livePerSecond} live events a second for ${seconds} s; one node`,
      `the node was killed and another one started: it continued when the lease of ${leaseSeconds} s had expired; at the end ${queued} deliveries were queued, each pair once, as GetReplay reported`,
    ],
  };
}
