import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type ProjectId, uuidOfId } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { lockStandingStarts } from "@svc/db/standing/end";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { until } from "@svc/testing/until";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLookClock } from "./test-looks.ts";
import { createStandingWorld, definitionText, settled, stateOf } from "./test-standing.ts";

// Tests of the order of starts: among runs that wait for a job of the same program, and between jobs of people and a burst of runs.

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

const never = { schedule: { at: ["2028-01-01T00:00:00Z"] } };

test.each(["queueAll", "queueOne", "cancelRunning"])(
  "acceptance 10: a lane whose job ended goes on within two seconds: %s",
  async (policy) => {
    const clock = createLookClock(Date.UTC(2026, 2, 2, 9));
    const world = createStandingWorld(database.db, { clock, limits: { standing: { pollMs: clock.restMs } } });
    await using _ = world.node;
    const { standing, jobs, runs } = await world.project();
    const definitionJson = definitionText({
      ...{ source: never, overlap: { policy } },
      program: { version: 1, title: "Wait", steps: [{ id: "w", wait: "1m" }] },
    });
    const { standingProgram } = await standing.createStandingProgram({ slug: "lane", definitionJson });
    const id = standingProgram?.id ?? "";
    const { run: first } = await standing.runStandingProgram({ id });
    await until(async () => (await jobs.getJob({ id: first?.jobId ?? "" })).job?.park !== undefined);
    await standing.runStandingProgram({ id });
    if (policy !== "cancelRunning") clock.advance(60_000);
    const states = async () => (await runs(id, 2)).map(stateOf);
    await until(async () => (await states())[0] === "ended");
    // The engine of a node pauses at most this long between two claims.
    for (let look = 0; look < 2; look++) await clock.rest();
    await until(async () => (await states())[1] === "started");
    const [ended, started] = await runs(id, 2);
    const waitedMs = timestampMs(started!.startedAt!) - timestampMs(ended!.endedAt!);
    expect(waitedMs).toBeGreaterThanOrEqual(0);
    expect(waitedMs).toBeLessThanOrEqual(2_000);
  },
);

const projectRunsMax = 20;
/** Number of times of a burst, each of three programs. `npm run bench -- standing` has the whole burst. */
const times = 100;

test("acceptance 24: a herd waits as runs, and has people's jobs wait for no more jobs than a project may have under way", async () => {
  const world = createStandingWorld(database.db, { engines: ["standing"], limits: { standing: { projectRunsMax } } });
  await using _ = world.node;
  world.goTo("2026-03-02T09:00:00Z");
  const [project, other] = [await world.project(), await world.project()];
  const { standing, projectId } = project;
  const at = Array.from({ length: times }, (_one, index) => new Date(world.now() + 60_000 + index * 100).toISOString());
  for (const slug of ["a", "b", "c"]) {
    // Each run has its own concurrency key, so only the project's maximum of runs limits them.
    const overlap = { policy: "queueAll", key: { $ref: "fire.at" } };
    const definitionJson = definitionText({ source: { schedule: { at } }, overlap });
    await standing.createStandingProgram({ slug, definitionJson });
  }
  world.goTo(world.now() + 75_000);
  const { sql } = database.db;
  const herd = 3 * times;
  await settled(async () => (await sql`select 1 from standing_runs`).length === herd);
  const [waiting] = await sql<{ started: number; queued: number; tasks: number }[]>`
    select count(*) filter (where state = 'started')::int4 as started,
      count(*) filter (where state = 'queued' and reason = 'project_runs')::int4 as queued,
      (select count(*) from job_tasks where project_id = ${uuidOfId(projectId)}::uuid)::int4 as tasks from standing_runs`;
  expect(waiting).toEqual({ started: projectRunsMax, queued: herd - projectRunsMax, tasks: projectRunsMax });
  const steps = [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: "mine" } }];
  const programJson = JSON.stringify({ version: 1, title: "Somebody waits for it", steps });
  const own: string[] = [];
  for (const { jobs } of [project, other]) own.push((await jobs.submitJob({ programJson })).job?.id ?? "");
  await using _jobs = world.addNode({ engines: ["jobs"] });
  await settled(async () => (await sql`select 1 from standing_runs where state <> 'ended'`).length === 0);
  for (const id of own) {
    const [before] = await sql<
      { jobs: number }[]
    >`select count(*)::int4 as jobs from jobs h join jobs j on j.id = ${uuidOfId(id as never)}::uuid
      where h.standing_program_id <> '' and h.finished_at < j.finished_at`;
    expect(before?.jobs).toBeLessThan(2 * projectRunsMax);
  }
});

test("acceptance 24: jobs of a herd begin behind its starts, and those of others at once", async () => {
  const limits = { standing: { batchMax: 5 } };
  const world = createStandingWorld(database.db, { engines: ["standing"], limits });
  await using _ = world.node;
  world.goTo("2026-03-02T09:00:00Z");
  const [project, other] = [await world.project(), await world.project()];
  const definitionJson = definitionText({
    source: { schedule: { at: [new Date(world.now() + 60_000).toISOString()] } },
  });
  const create = ({ standing }: typeof project, slug: string) =>
    standing.createStandingProgram({ slug, definitionJson });
  for (let index = 0; index < 20; index++) await create(project, `herd-${index}`);
  await create(other, "single");
  world.goTo(world.now() + 60_500);
  const { sql } = database.db;
  await settled(async () => (await sql`select 1 from standing_runs where state = 'started'`).length === 21);
  const waited = async (projectId: ProjectId) => {
    const rows = await sql<{ ms: number }[]>`
      select (extract(epoch from t.due_at - j.created_at) * 1000)::float8 as ms from jobs j join job_tasks t on t.job_id = j.id
      where j.project_id = ${uuidOfId(projectId)}::uuid order by j.id`;
    return rows.map(({ ms }) => Math.round(ms));
  };
  const [first = 0, ...rest] = await waited(project.projectId);
  expect(first).toBeGreaterThan(0);
  expect(Math.max(first, ...rest)).toBeLessThanOrEqual(5_000);
  expect(rest.slice(-4)).toEqual([0, 0, 0, 0]);
  expect(await waited(other.projectId)).toEqual([0]);
  await using _jobs = world.addNode({ engines: ["jobs"] });
  await settled(async () => (await sql`select 1 from standing_runs where state <> 'ended'`).length === 0);
});

test("far from its bound a project's runs are started by several nodes at once, and near it by one after the other", async () => {
  const limits = { standing: { projectRunsMax: 8, projectRunsMargin: 4 } };
  const world = createStandingWorld(database.db, { engines: [], limits });
  await using _ = world.node;
  const { projectId, standing } = await world.project();
  const run = async (slug: string) => {
    const definitionJson = definitionText({ source: never });
    const { standingProgram } = await standing.createStandingProgram({ slug, definitionJson });
    const { run: made } = await standing.runStandingProgram({ id: standingProgram?.id ?? "" });
    return made && stateOf(made);
  };
  await withTransaction(database.db, async (other) => {
    await lockStandingStarts(other, projectId, { isShared: true });
    expect(await run("first")).toBe("started");
  });
  expect(await Promise.all(["a", "b", "c", "d"].map(run))).toEqual(Array.from({ length: 4 }, () => "started"));
  const states = await Promise.all(["e", "f", "g", "h", "i"].map(run));
  expect(states.sort()).toEqual(["queued project_runs", "queued project_runs", "started", "started", "started"]);
});
