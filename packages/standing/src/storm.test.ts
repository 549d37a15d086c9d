import { createId, parseId, uuidOfId } from "@svc/core";
import { StandingState } from "@svc/gen/standing";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postIncident } from "./test-alerts.ts";
import {
  createStandingWorld,
  definitionText,
  type StandingProject,
  type StandingWorld,
  settled,
  stateOf,
} from "./test-standing.ts";

const batchMax = 5;
/** While it is set, the engine makes no decision about claimed events. */
let held: { readonly until: Promise<void>; readonly release: () => void } | undefined;
/** Number of times that the engine was held after a claim. */
let stops = 0;
let database: TestDatabase;
let world: StandingWorld;
beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db, {
    limits: { standing: { batchMax } },
    async onStandingFaultPoint(point) {
      if (point !== "arrivals-claimed" || held === undefined) return;
      stops++;
      await held.until;
    },
  });
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

/** Prevents the engine from deciding about events until it is released. */
function hold(): { release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  held = { until: promise, release: resolve };
  return {
    release() {
      held = undefined;
      resolve();
    },
  };
}

async function createCollecting({ standing }: StandingProject, slug: string, collect: object): Promise<string> {
  const definitionJson = definitionText({
    source: { trigger: { slug: "alerts.incident_opened" } },
    collect,
    overlap: { policy: "allow" },
    program: { version: 1, title: "Pause", steps: [{ id: "pause", wait: "1h" }] },
  });
  return (await standing.createStandingProgram({ slug, definitionJson })).standingProgram?.id ?? "";
}

/** Posts incidents while the engine is held, 0.1 s apart, and releases it a minute later. */
async function postStorm(count: number): Promise<void> {
  const engine = hold();
  const at = world.now();
  const before = stops;
  for (let index = 0; index < count; index++) {
    world.goTo(at + index * 100);
    await postIncident(world.node, { id: `storm-${index}` });
    // The engine has claimed only the first event; it does not know the others yet.
    if (index === 0) await until(() => stops > before);
  }
  world.goTo(at + 60_000);
  engine.release();
}

/** Counts the checks of whether the window of a program can close. */
async function countLooks(id: string): Promise<{ counted(): Promise<number> }> {
  const { sql } = database.db;
  await sql`create table close_looks (owner_id uuid)`;
  await sql`create function count_close_look() returns trigger language plpgsql as
    'begin insert into close_looks values (new.owner_id); return new; end'`;
  await sql`create trigger count_close_look after update on due_tasks for each row
    when (new.kind = 'close' and new.attempt > old.attempt) execute function count_close_look()`;
  return {
    async counted() {
      const rows = await sql`select from close_looks where owner_id = ${uuidOfId(parseId("stp", id)!)}::uuid`;
      return rows.length;
    },
  };
}

test("a storm that the engine comes to late is in the windows that it was sent in", async () => {
  const project = await world.project();
  const { standing } = project;
  const quiet = await createCollecting(project, "quiet", { quiet: "5s", take: "last" });
  const looks = await countLooks(quiet);
  const full = await createCollecting(project, "full", { quiet: "5s", max: 25, take: "all" });
  await postStorm(60);
  const from = world.now();
  const countsOf = async (id: string) => {
    const runs = await project.runs(id, 1);
    return runs.every((run) => stateOf(run) === "started") && runs.map(({ count }) => count).sort((a, b) => b - a);
  };
  const settledAt = async (id: string, total: number) =>
    settled(async () => {
      const counts = await countsOf(id);
      return counts && counts.reduce((sum, count) => sum + count, 0) === total && counts;
    });
  expect(await settledAt(quiet, 60)).toEqual([60]);
  expect(await settledAt(full, 60)).toEqual([25, 25, 10]);
  // The window is checked at most twice a second, and not after each of its twelve batches.
  expect(await looks.counted()).toBeLessThanOrEqual(4 + (world.now() - from) / 500);
  for (const id of [quiet, full]) await standing.deleteStandingProgram({ id });
});

test("an event that nothing can be decided about holds no window open", async () => {
  const project = await world.project();
  const id = await createCollecting(project, "failing", { quiet: "5s" });
  const at = world.now();
  const [row] = await database.db.sql<{ version: string }[]>`select version from routing_state`;
  await database.db.sql`insert into standing_arrivals
      (due_at, project_id, event_id, trigger_slug, routing_version, attempt, lease_owner, lease_until)
    values (${new Date(at).toISOString()}::timestamptz, ${uuidOfId(project.projectId)}::uuid, ${uuidOfId(createId("evt", at))}::uuid,
      'alerts.incident_opened', ${row!.version}::int8, 2, ${uuidOfId(createId("node", at))}::uuid, ${new Date(at + 3_600_000).toISOString()}::timestamptz)`;
  await postIncident(world.node, { id: "failing" });
  await settled(async () => (await project.runs(id, 1)).length === 1);
  world.goTo(at + 60_000);
  await settled(async () => stateOf((await project.runs(id, 1))[0]!) === "started");
});

test("an event that a pause overtook is skipped, and does not pause the resumed program", async () => {
  const project = await world.project();
  const { standing } = project;
  const engine = hold();
  const definitionJson = definitionText({ source: { trigger: { slug: "alerts.incident_opened" } } });
  const { standingProgram } = await standing.createStandingProgram({ slug: "overtaken", definitionJson });
  const id = standingProgram?.id ?? "";
  const before = stops;
  await postIncident(world.node, { id: "overtaken" });
  await until(() => stops > before);
  await standing.pauseStandingProgram({ id });
  await standing.resumeStandingProgram({ id });
  engine.release();
  expect((await project.runs(id, 1)).map(stateOf)).toEqual(["skipped paused"]);
  expect((await standing.getStandingProgram({ id })).standingProgram).toMatchObject({
    state: StandingState.ACTIVE,
    pauseReason: "",
  });
});
