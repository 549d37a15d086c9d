import postgres from "postgres";
import type { BenchContext } from "../case.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { postKind } from "../post-kinds.ts";
import type { BenchDatabase } from "../postgres.ts";
import { createProgram, idleProgram, withNodes } from "./setting.ts";

/** Result of a storm of events. */
export type Storm = {
  readonly events: number;
  /** Number of runs with a job, and the largest number that is allowed. */
  readonly runs: number;
  readonly runsMax: number;
  /** Seconds from the first post to the last answer, and to the last decision. */
  readonly postedSeconds: number;
  readonly decidedSeconds: number;
};

const quietSeconds = 5;
const waitSeconds = 60;
const eventsMax = 1_000;
/** Longest wait in microseconds after the last post, until every event is decided about. */
const patienceMicros = 600e6;

/**
 * Posts many events to a program that collects events in windows. A window closes after a number of events, after a time, or when no more
 * events arrive. Throws unless each event is in a window.
 */
export async function measureStorm(ctx: BenchContext, events: number): Promise<Storm> {
  const database = await ctx.postgres.createDatabase("bench_storm");
  try {
    return await withNodes(ctx, database, { count: 1, post: "calendar" }, async ([node]) => {
      await createProgram(node, "storm", {
        source: { trigger: { slug: postKind("calendar").triggerSlug } },
        collect: { quiet: `${quietSeconds}s`, wait: `${waitSeconds}s`, max: eventsMax, take: "last" },
        overlap: { policy: "allow", max: 100 },
        program: { ...idleProgram("A storm"), steps: [{ id: "pause", wait: "1s" }] },
      });
      if (ctx.isStatementsKept) await ctx.postgres.takeStatements(database.name);
      ctx.progress(`a storm of ${events.toLocaleString("en-US")} events`);
      const { connections } = ctx.settings;
      const load = { port: node.port, post: "calendar", connections, seconds: 3_600, postsMax: events } as const;
      const posted = await ctx.load.ask("run", load);
      if (posted.accepted !== events) throw new Error(`${posted.refused} posts were refused: ${posted.firstRefusal}`);
      const found = await decided(database, events);
      if (ctx.isStatementsKept)
        process.stdout.write(`${(await ctx.postgres.takeStatements(database.name)).join("\n")}\n`);
      const seconds = (until: number) => (until - posted.startedAtMicros) / 1e6;
      const decidedSeconds = seconds(monotonicMicros());
      // Allows one window for each full count of events, one for each full time span, one that closed when events ceased, and the first.
      const runsMax = Math.ceil(events / eventsMax) + Math.ceil(decidedSeconds / waitSeconds) + 2;
      return { events, ...found, runsMax, postedSeconds: seconds(posted.endedAtMicros), decidedSeconds };
    });
  } finally {
    await database.drop();
  }
}

/** Waits until every event was decided about and every window is closed. */
async function decided({ url }: BenchDatabase, events: number): Promise<Pick<Storm, "runs">> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const giveUpAt = monotonicMicros() + patienceMicros;
    for (;;) {
      const [found] = await sql<{ left: number; open: number; collected: number; windows: number; runs: number }[]>`
        select (select count(*) from standing_arrivals)::int4 as left,
          count(*) filter (where state in ('collecting', 'closing', 'queued'))::int4 as open,
          coalesce(sum(count), 0)::int4 as collected, count(job_id)::int4 as runs,
          (select count(*) from standing_run_events)::int4 as windows from standing_runs`;
      const { left = 0, open = 0, collected = 0, windows = 0, runs = 0 } = found ?? {};
      if (left === 0 && open === 0 && collected >= events) {
        if (collected !== events || windows !== events)
          throw new Error(`${events} events were posted, and there are ${JSON.stringify(found)}`);
        return { runs };
      }
      if (monotonicMicros() > giveUpAt) throw new Error(`the storm does not end: ${JSON.stringify(found)}`);
      await delay(250);
    }
  } finally {
    await sql.end();
  }
}
