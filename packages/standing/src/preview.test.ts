import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentStandingObserver } from "./observer.ts";
import { createLookClock } from "./test-looks.ts";
import { createStandingWorld, definitionText, type StandingProject, type StandingWorld } from "./test-standing.ts";

// Compares previews with the work of the engine. The clock moves only when the test moves it: to the last millisecond before a predicted
// time, at which nothing may start, and then to that time.

// `npm run test:crash` covers three years in eight time zones. Here the test covers the weeks in which three of them change their clocks.
const isWhole = process.env["SVC_STANDING_ROUNDS"] !== undefined;
const zones = isWhole
  ? ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca"].concat([
      "Africa/Cairo",
      "America/Havana",
      "Europe/Dublin",
      "UTC",
    ])
  : ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe"];
const [from, to] = isWhole ? ["2025-01-01", "2028-01-01"] : ["2026-03-05", "2026-04-08"];
const startMs = Date.parse(`${from}T00:00:00Z`);
const endMs = Date.parse(`${to}T00:00:00Z`);

const clock = createLookClock(startMs);

/** A run of a program: the time when it was due, and the time when it was decided. */
type Fired = { readonly id: string; readonly atMs: number; readonly effectiveMs: number };
const fired: Fired[] = [];

let database: TestDatabase;
let world: StandingWorld;
beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db, {
    clock,
    engines: ["standing"],
    limits: { standing: { pollMs: clock.restMs, projectRunsMax: 1_000_000 } },
    observer: {
      standing: {
        ...silentStandingObserver,
        decided: ({ programId: id, lagMs }) =>
          void fired.push({ id, atMs: clock.now() - lagMs, effectiveMs: clock.now() }),
      },
    },
  });
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

const byId = (a: Fired, b: Fired) => (a.id < b.id ? -1 : 1);

/** Returns the next start times of a program from its preview. */
async function told({ standing }: StandingProject, id: string): Promise<Fired[]> {
  const { nextTimes } = await standing.previewStandingProgram({ id, count: 100 });
  return nextTimes.map(({ at, effectiveAt }) => ({
    id,
    atMs: at === undefined ? 0 : timestampMs(at),
    effectiveMs: effectiveAt === undefined ? 0 : timestampMs(effectiveAt),
  }));
}

test("acceptance 2: a preview tells every time at which a program fires, jitter included, over changes of the clocks", {
  timeout: isWhole ? 3_600_000 : 60_000,
}, async () => {
  const project = await world.project();
  const ids = new Map<string, Fired[]>();
  for (const [index, timeZone] of zones.entries()) {
    const schedule = { cron: ["30 2 * * *", "15 14 * * SUN"], jitter: "40m" };
    const { standingProgram } = await project.standing.createStandingProgram({
      slug: `zone-${index}`,
      definitionJson: definitionText({
        ...{ timeZone, source: { schedule }, overlap: { policy: "queueAll", key: { $ref: "fire.at" } } },
        program: { version: 1, title: "Wait", steps: [{ id: "w", wait: "20h" }] },
      }),
    });
    ids.set(standingProgram?.id ?? "", []);
  }
  let [times, spread] = [0, 0];
  for (;;) {
    for (const [id, next] of ids) if (next.length === 0) next.push(...(await told(project, id)));
    const nextMs = Math.min(...[...ids.values()].map(([next]) => next?.effectiveMs ?? endMs));
    if (nextMs >= endMs) break;
    const due = [...ids.values()].flatMap((next) => (next[0]?.effectiveMs === nextMs ? (next.shift() ?? []) : []));
    await clock.lookAt(world.node, nextMs - 1);
    expect(fired.splice(0)).toEqual([]);
    await clock.lookAt(world.node, nextMs);
    expect(fired.splice(0).toSorted(byId)).toEqual(due.toSorted(byId));
    times += due.length;
    spread += due.filter(({ atMs, effectiveMs }) => atMs !== effectiveMs).length;
  }
  // At least one time for each day and zone, and those on Sundays.
  const days = (endMs - startMs) / 86_400_000;
  expect(times).toBeGreaterThan(zones.length * days);
  expect(spread).toBeGreaterThan(zones.length * days);
  const [row] = await database.db.sql<{ runs: number; jobs: number }[]>`
    select count(*)::int4 as runs, count(distinct job_id)::int4 as jobs from standing_runs`;
  expect(row).toEqual({ runs: times, jobs: times });
});
