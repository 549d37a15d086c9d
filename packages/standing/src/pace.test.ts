import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createWorkMeter, type ProjectId, systemClock, uuidOfId } from "@svc/core";
import { sweepProjectEvents } from "@svc/db/events/sweep";
import { BackfillState } from "@svc/gen/standing";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { testSealer } from "@svc/testing/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rearmZones } from "./claim/zones.ts";
import { standingSweep } from "./retention.ts";
import { postIncident } from "./test-alerts.ts";
import { createStandingWorld, definitionText, type StandingWorld, settled, stateOf } from "./test-standing.ts";
import { createVersionCache } from "./versions.ts";

let database: TestDatabase;
let world: StandingWorld;
beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db);
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

const waiting = { version: 1, title: "Wait", steps: [{ id: "w", wait: "20h" }] };

test("acceptance 25: newer time zone data moves due times at the next start, of schedules outside UTC, and older data none", async () => {
  world.goTo("2026-02-02T10:00:00Z");
  const { standing } = await world.project();
  const ids: string[] = [];
  for (const timeZone of ["Europe/Berlin", "UTC"]) {
    const definitionJson = definitionText({
      timeZone,
      source: { schedule: { cron: ["0 9 * * *"] } },
      program: waiting,
    });
    const { standingProgram } = await standing.createStandingProgram({
      slug: timeZone.slice(0, 3).toLowerCase(),
      definitionJson,
    });
    ids.push(standingProgram?.id ?? "");
  }
  const { sql } = database.db;
  /** Stores the next time of a schedule as a node would that believed these time zones to be an hour behind. */
  const armedBy = async (tzVersion: string) => {
    await sql`update standing_state set tz_version = ${tzVersion}`;
    await sql`update standing_programs set next_at = '2026-02-03T11:00:00Z' where next_at is not null`;
    await sql`update due_tasks set due_at = '2026-02-03T11:00:00Z' where kind = 'fire'`;
  };
  const due = async () => {
    const found = await sql<{ at: string; due: string }[]>`
      select to_char(p.next_at at time zone 'UTC', 'DD HH24') as at, to_char(t.due_at at time zone 'UTC', 'DD HH24') as due
      from standing_programs p join due_tasks t on t.owner_id = p.id where p.id in ${sql(ids.map((id) => uuidOfId(id as never)))}
      order by p.id`;
    return found.map(({ at, due: dueAt }) => `${at} ${dueAt}`);
  };
  await settled(async () => (await sql`select 1 from standing_state`).length === 1);
  await armedBy("2020a");
  const meter = createWorkMeter();
  const versions = createVersionCache(testSealer, meter);
  const older = { db: database.db, clock: systemClock, versions, meter, tzVersion: "2019c" };
  expect([await rearmZones(older), await due()]).toEqual([0, ["03 11 03 11", "03 11 03 11"]]);
  {
    await using newer = world.addNode({ engines: ["standing"] });
    await settled(async () => (await due())[0] !== "03 11 03 11");
    expect(newer.nodeId).not.toBe(world.node.nodeId);
  }
  expect(await due()).toEqual(["03 08 03 08", "03 11 03 11"]);
});

test("a schedule that somebody moves while its next time is searched by newer data is searched again", async () => {
  world.goTo("2026-02-02T10:00:00Z");
  const { standing } = await world.project();
  const source = { schedule: { cron: ["0 9 * * *"] } };
  const definitionJson = definitionText({ timeZone: "Europe/Berlin", source, program: waiting });
  const { standingProgram } = await standing.createStandingProgram({ slug: "moved", definitionJson });
  const { sql } = database.db;
  const uuid = uuidOfId((standingProgram?.id ?? "") as never);
  const nextAt = async (time?: string) => {
    if (time !== undefined) await sql`update standing_programs set next_at = ${time} where id = ${uuid}`;
    const [row] = await sql<{ at: Date }[]>`select next_at::text as at from standing_programs where id = ${uuid}`;
    return row && new Date(row.at).toISOString();
  };
  await nextAt("2026-02-03T10:00:00Z");
  const meter = createWorkMeter();
  const cache = createVersionCache(testSealer, meter);
  let reads = 0;
  // Versions are read after a program was read and before it is locked.
  const versions: typeof cache = {
    async get(db, wanted) {
      if (++reads === 1) await nextAt("2026-02-03T11:00:00Z");
      return cache.get(db, wanted);
    },
  };
  await sql`update standing_state set tz_version = '2020a'`;
  const clock = { ...systemClock, now: () => world.now() };
  await rearmZones({ db: database.db, clock, versions, meter, tzVersion: "2020b" });
  expect(reads).toBe(2);
  expect(await nextAt()).toBe("2026-02-03T08:00:00.000Z");
});

test("searching the times of a schedule is work of its project", async () => {
  const { standing, projectId } = await world.project();
  const cron = ["0 0 29W,30W,31W * +SUN"];
  const definitionJson = definitionText({ source: { schedule: { cron } }, program: waiting });
  await expect(standing.previewStandingProgram({ definitionJson })).rejects.toThrow("never due");
  expect(world.node.meter.spentMs().get(projectId)).toBeGreaterThan(10);
});

test("a start that fails again and again is refused with its reason; the others of its batch start, and so does its next time", async () => {
  world.goTo("2026-04-06T09:00:30Z");
  const { standing, runs } = await world.project();
  const ids: string[] = [];
  for (const slug of ["good", "poison"]) {
    const source = { schedule: { at: ["2026-04-06T09:05:00Z", "2026-04-06T12:00:00Z"] } };
    const definitionJson = definitionText({ source, overlap: { policy: "allow" }, program: waiting });
    const { standingProgram } = await standing.createStandingProgram({ slug, definitionJson });
    ids.push(standingProgram?.id ?? "");
  }
  const [good = "", poison = ""] = ids;
  const { sql } = database.db;
  await sql.unsafe(`create function refuse_job() returns trigger language plpgsql as $$ begin
    if new.standing_program_id = '${uuidOfId(poison as never)}' or new.standing_program_id = '${poison}' then raise exception 'no such job'; end if;
    return new; end $$; create trigger refuse_jobs before insert on jobs for each row execute function refuse_job()`);
  world.goTo("2026-04-06T09:05:01Z");
  expect((await runs(good, 1)).map(stateOf)).toEqual(["started"]);
  const [refused] = await settled(async () => {
    world.goTo(world.now() + 60_000);
    const { runs: found } = await standing.listStandingRuns({ standingProgramId: poison });
    return found.length > 0 && found;
  });
  expect(refused && stateOf(refused)).toBe("refused start_failed");
  await sql.unsafe("drop trigger refuse_jobs on jobs; drop function refuse_job()");
  world.goTo("2026-04-06T12:00:01Z");
  expect((await runs(poison, 2)).map(stateOf)).toEqual(["refused start_failed", "started"]);
});

/** Deletes the events of a project whose retention would have ended a day ago. Returns the number of events that are left. */
async function sweepEvents(projectId: ProjectId): Promise<number> {
  const beforeMs = world.now() + 86_400_000;
  await sweepProjectEvents(database.db, projectId, { beforeMs, rememberFromMs: beforeMs }, { limit: 100 });
  const [row] = await database.db.sql<{ count: number }[]>`
    select count(*)::int4 as count from events where project_id = ${uuidOfId(projectId)}`;
  return row?.count ?? 0;
}

test("events of an open window outlast their retention, and go once it was decided about", async () => {
  world.goTo("2026-06-01T09:00:00Z");
  const { standing, projectId, runs } = await world.project();
  const source = { trigger: { slug: "alerts.incident_opened" } };
  const definitionJson = definitionText({ source, collect: { wait: "2h" }, program: waiting });
  const { standingProgram } = await standing.createStandingProgram({ slug: "window", definitionJson });
  const id = standingProgram?.id ?? "";
  await postIncident(world.node, { id: "kept" });
  await runs(id, 1);
  expect(await sweepEvents(projectId)).toBe(1);
  await standing.pauseStandingProgram({ id });
  expect(await sweepEvents(projectId)).toBe(1);
  await standing.resumeStandingProgram({ id });
  world.goTo("2026-06-01T11:00:05Z");
  await settled(async () => (await runs(id, 1)).map(stateOf).includes("started"));
  expect(await sweepEvents(projectId)).toBe(0);
});

test("events that a backfill has yet to reach outlast their retention, and go afterwards; paused for 30 days it is cancelled", async () => {
  world.goTo("2026-07-01T09:00:00Z");
  const { standing, projectId, runs } = await world.project();
  const since = timestampFromMs(world.now());
  for (const id of ["a", "b", "c", "d", "e"]) await postIncident(world.node, { id });
  const source = { trigger: { slug: "alerts.incident_opened" } };
  const definitionJson = definitionText({ source, overlap: { policy: "allow" }, program: waiting });
  const { standingProgram } = await standing.createStandingProgram({ slug: "past", definitionJson });
  const id = standingProgram?.id ?? "";
  const { backfill } = await standing.backfillStandingProgram({ id, since, perMinute: 2 });
  await runs(id, 1);
  expect(await sweepEvents(projectId)).toBe(5);
  world.goTo(world.now() + 35_000);
  await runs(id, 2);
  // The backfill has passed the first event, and the second event is at its position.
  expect(await sweepEvents(projectId)).toBe(4);
  const stateNow = async () => (await standing.getBackfill({ id: backfill?.id ?? "" })).backfill;
  const done = await settled(async () => {
    world.goTo(world.now() + 10_000);
    const now = await stateNow();
    return now?.state !== BackfillState.RUNNING && now;
  });
  expect(done).toMatchObject({ state: BackfillState.DONE, total: 5, started: 5, skipped: 0 });
  expect(await sweepEvents(projectId)).toBe(0);
  for (const more of ["f", "g"]) await postIncident(world.node, { id: more });
  await runs(id, 7);
  const { backfill: kept } = await standing.backfillStandingProgram({ id, since, again: true, perMinute: 1 });
  await standing.pauseStandingProgram({ id });
  const sweep = async (afterDays: number) => {
    const round = standingSweep({ db: database.db, runRetentionMs: 90 * 86_400_000 });
    for await (const _ of round.round(world.now() + afterDays * 86_400_000));
    return (await standing.getBackfill({ id: kept?.id ?? "" })).backfill;
  };
  expect(await sweep(29)).toMatchObject({ state: BackfillState.RUNNING, reason: "paused" });
  expect(await sweep(31)).toMatchObject({ state: BackfillState.CANCELLED, reason: "expired" });
});
