import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createId, parseId } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { addBackfill, findBackfill } from "@svc/db/standing/backfills";
import { lockStandingPrograms } from "@svc/db/standing/programs";
import { type Backfill, BackfillState } from "@svc/gen/standing";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { refusalOf } from "@svc/testing/project-client";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postIncident } from "./test-alerts.ts";
import {
  clearing,
  createStandingWorld,
  definitionText,
  type StandingProject,
  type StandingWorld,
  settled,
  stateOf,
} from "./test-standing.ts";

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

const at = (text: string) => timestampFromMs(Date.parse(text));
const hourly = { source: { schedule: { every: "1h" } } };

async function create({ standing }: StandingProject, slug: string, definition: object): Promise<string> {
  const { standingProgram } = await standing.createStandingProgram({
    slug,
    definitionJson: definitionText(definition),
  });
  return standingProgram?.id ?? "";
}

/** Returns a backfill when it has ended. The clock is moved forward by a second at a time. */
const ended = ({ standing }: StandingProject, backfill: Backfill | undefined) =>
  settled(async () => {
    const { backfill: now } = await standing.getBackfill({ id: backfill?.id ?? "" });
    if (now?.state !== BackfillState.RUNNING) return now;
    world.goTo(world.now() + 2_000);
    return undefined;
  });

/** Returns the times for which a program's runs were made, oldest first. */
const timesOf = async (project: StandingProject, id: string, count: number) =>
  (await project.runs(id, count)).map(({ fireAt }) => new Date(Number(fireAt?.seconds ?? 0n) * 1_000).toISOString());

test("times of a schedule that were before it was there make a run each, in their order", async () => {
  const project = await world.project();
  world.goTo("2026-01-06T12:30:00Z");
  const id = await create(project, "past", hourly);
  const range = { id, since: at("2026-01-06T06:00:00Z"), until: at("2026-01-06T10:00:00Z") };
  const tried = await project.standing.backfillStandingProgram({ ...range, dryRun: true });
  expect(tried.backfill).toMatchObject({ id: "", state: BackfillState.UNSPECIFIED, total: 4, started: 4, passed: 0 });
  const { backfill } = await project.standing.backfillStandingProgram(range);
  expect(backfill).toMatchObject({ state: BackfillState.RUNNING, total: 4, perMinute: 60, policy: "queueAll" });
  const done = await ended(project, backfill);
  expect(done).toMatchObject({ state: BackfillState.DONE, total: 4, started: 4, skipped: 0, passed: 0 });
  const runs = await project.runs(id, 4);
  expect(runs.map(({ kind, backfillId }) => [kind, backfillId])).toEqual(Array(4).fill(["schedule", backfill?.id]));
  expect(await timesOf(project, id, 4)).toEqual([6, 7, 8, 9].map((n) => `2026-01-06T0${n}:00:00.000Z`));
  const again = await project.standing.backfillStandingProgram(range);
  expect(await ended(project, again.backfill)).toMatchObject({ total: 4, started: 0, passed: 4 });
  expect((await project.runs(id, 4)).length).toBe(4);
  const { backfill: forced } = await project.standing.backfillStandingProgram({ ...range, again: true });
  expect(await ended(project, forced)).toMatchObject({ total: 4, started: 4, passed: 0 });
  const { events } = await project.jobs.listJobEvents({ jobId: runs[0]?.jobId ?? "" });
  expect(events[0]?.principalChain).toEqual([`key:${project.keyId}`, `standing:${id}`]);
});

test("what was missed is made up for, and what ran is not; a time that was decided about by itself never has two runs", async () => {
  const project = await world.project();
  world.goTo("2026-01-07T00:30:00Z");
  const id = await create(project, "missed", hourly);
  world.goTo("2026-01-07T01:00:01Z");
  await settled(async () => (await project.runs(id, 1)).every(({ jobStatus }) => jobStatus === "succeeded"));
  // The service was not running for four hours. Only the newest missed time gets a run.
  world.goTo("2026-01-07T05:30:00Z");
  const runs = await project.runs(id, 2);
  expect(runs.map(({ missed }) => missed)).toEqual([0, 3]);
  const { backfill } = await project.standing.backfillStandingProgram({ id, since: at("2026-01-07T00:00:00Z") });
  const done = await ended(project, backfill);
  expect(done).toMatchObject({ total: 6, started: 4, passed: 2, skipped: 0 });
  const times = await timesOf(project, id, 6);
  expect(new Set(times).size).toBe(times.length);
});

test("what a pause left out is made up for; while the program is paused the backfill waits", async () => {
  const project = await world.project();
  world.goTo("2026-01-08T00:30:00Z");
  const id = await create(project, "paused", hourly);
  await project.standing.pauseStandingProgram({ id });
  world.goTo("2026-01-08T04:30:00Z");
  const since = at("2026-01-08T01:00:00Z");
  const refused = await refusalOf(project.standing.backfillStandingProgram({ id, since }));
  expect(refused.reason).toBe("STANDING_PROGRAM_NOT_ACTIVE");
  await project.standing.resumeStandingProgram({ id });
  const { backfill } = await project.standing.backfillStandingProgram({ id, since, perMinute: 1 });
  await project.runs(id, 1);
  await project.standing.pauseStandingProgram({ id });
  expect((await project.standing.getBackfill({ id: backfill?.id ?? "" })).backfill?.reason).toBe("paused");
  await project.standing.resumeStandingProgram({ id });
  expect(await project.standing.backfillStandingProgram({ id, since }).catch(() => "running")).toBe("running");
  const done = settled(async () => {
    const { backfill: now } = await project.standing.getBackfill({ id: backfill?.id ?? "" });
    if (now?.state === BackfillState.RUNNING) world.goTo(world.now() + 30_000);
    return now?.state !== BackfillState.RUNNING && now;
  });
  expect(await done).toMatchObject({ state: BackfillState.DONE, total: 4, started: 4, passed: 0 });
});

test("what was skipped is decided anew, and takes the place of what it was", async () => {
  const project = await world.project();
  world.goTo("2026-01-09T00:30:00Z");
  const steps = [{ id: "wait", wait: "90m" }];
  const id = await create(project, "skipped", { ...hourly, program: { version: 1, title: "Wait", steps } });
  world.goTo("2026-01-09T01:00:01Z");
  await project.runs(id, 1);
  world.goTo("2026-01-09T02:00:01Z");
  expect((await project.runs(id, 2)).map(stateOf)).toEqual(["started", "skipped overlap"]);
  const range = { id, since: at("2026-01-09T01:00:00Z"), until: at("2026-01-09T02:30:00Z") };
  const { backfill } = await project.standing.backfillStandingProgram({ ...range, policy: "allow" });
  expect(await ended(project, backfill)).toMatchObject({ total: 2, started: 1, passed: 1 });
  expect((await project.runs(id, 3)).map(stateOf)).toEqual(["started", "skipped overlap", "started"]);
  // With the overlap policy of the program itself, the run is skipped again.
  const forced = await project.standing.backfillStandingProgram({ ...range, again: true, policy: "skip" });
  expect(await ended(project, forced.backfill)).toMatchObject({ total: 2, started: 0, skipped: 2 });
});

test("runs that wait hold a backfill back; cancelled, it leaves out those that wait and makes no more", async () => {
  const project = await world.project();
  world.goTo("2026-01-10T00:00:00Z");
  const steps = [{ id: "wait", wait: "20h" }];
  const every = { source: { schedule: { every: "1h" } }, program: { version: 1, title: "Wait", steps } };
  const id = await create(project, "cancelled", every);
  const request = { id, since: at("2026-01-05T00:00:00Z"), perMinute: 600 };
  const { backfill } = await project.standing.backfillStandingProgram(request);
  const waiting = await settled(async () => {
    const { backfill: now } = await project.standing.getBackfill({ id: backfill?.id ?? "" });
    if (now?.reason === "waiting") return now;
    world.goTo(world.now() + 1_000);
    return undefined;
  });
  expect(waiting).toMatchObject({ state: BackfillState.RUNNING, started: 21 });
  // A program shows its running backfill, and shows none after the backfill has ended.
  const named = async () => (await project.standing.getStandingProgram({ id })).backfill;
  expect(await named()).toMatchObject({ id: backfill?.id, total: backfill?.total, started: 21, reason: "waiting" });
  const { backfill: cancelled } = await project.standing.cancelBackfill({ id: backfill?.id ?? "" });
  expect(cancelled).toMatchObject({ state: BackfillState.CANCELLED, reason: "requested" });
  expect(await named()).toBeUndefined();
  world.goTo(world.now() + 10_000);
  const again = await project.standing.cancelBackfill({ id: backfill?.id ?? "" });
  expect(again.backfill).toEqual(cancelled);
  const states = (await project.runs(id, 21)).map(stateOf);
  expect(states).toEqual(["started", ...Array(20).fill("skipped cancelled")]);
  const { backfill: other } = await project.standing.backfillStandingProgram({ ...request, perMinute: 1 });
  await project.standing.updateStandingProgram({ id, definitionJson: definitionText({ ...every, title: "Other" }) });
  expect(await ended(project, other)).toMatchObject({ state: BackfillState.CANCELLED, reason: "updated" });
  const { backfill: last } = await project.standing.backfillStandingProgram({ ...request, perMinute: 1 });
  await project.standing.deleteStandingProgram({ id });
  expect(await ended(project, last)).toMatchObject({ state: BackfillState.CANCELLED, reason: "deleted" });
});

test("a backfill that begins while the task of the one before is looked at goes on", async () => {
  const project = await world.project();
  world.goTo("2026-01-12T12:30:00Z");
  const id = await create(project, "anew", hourly);
  const request = { id, since: at("2026-01-12T00:00:00Z"), perMinute: 1 };
  const { backfill } = await project.standing.backfillStandingProgram(request);
  const name = parseId("bkf", backfill?.id ?? "")!;
  await settled(async () => (await findBackfill(database.db, project.projectId, name))?.started === 1);
  await project.standing.cancelBackfill({ id: name });
  const before = (await findBackfill(database.db, project.projectId, name))!;
  const next = createId("bkf", world.now());
  await withTransaction(database.db, async (tx) => {
    await lockStandingPrograms(tx, [parseId("stp", id)!]);
    // The task of the backfill still exists. The engine claims it, finds no backfill, and waits for the lock of the program.
    world.goTo(world.now() + 120_000);
    await until(async () => {
      const waiting = await database.db.sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return waiting.length > 0;
    });
    const begun = { state: "running", reason: "", endedAt: null, createdAt: world.now() } as const;
    await addBackfill(tx, { ...before, ...begun, id: next, started: 0 });
  });
  const after = await settled(async () => {
    world.goTo(world.now() + 1_000);
    const found = await findBackfill(database.db, project.projectId, next);
    return (found?.started ?? 0) + (found?.passed ?? 0) > 0 && found;
  });
  expect(after).toMatchObject({ state: "running", total: before.total });
});

const trigger = { trigger: { slug: "alerts.incident_opened" } };
const noteProgram = {
  version: 1,
  title: "Tell of an incident",
  inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
  input: { text: "" },
  steps: [{ id: "tell", call: "desk.send_note", entity: "ops", args: { text: { $ref: "input.text" } } }],
};

test("events of the past make a run each by condition and key; those that have one, and those before it listened, are told apart", async () => {
  const project = await world.project();
  world.goTo("2026-01-11T00:00:00Z");
  const since = timestampFromMs(world.now());
  for (const number of [1, 2, 3]) await postIncident(world.node, { id: `early-${number}`, severity: number });
  const definition = {
    source: trigger,
    program: noteProgram,
    when: "has(event.payload.severity) && event.payload.severity > 1",
    input: { text: { $text: "made up: {event.payload.id}" } },
    dedupe: { key: { $ref: "event.payload.title" }, window: "1h" },
    overlap: { policy: "allow" },
  };
  const id = await create(project, "events", definition);
  await postIncident(world.node, { id: "live", severity: 5, title: "live" });
  await project.runs(id, 1);
  await postIncident(world.node, { id: "same-1", severity: 5, title: "live" });
  expect((await project.runs(id, 2)).map(stateOf)[1]).toBe("skipped duplicate");
  const tried = await project.standing.backfillStandingProgram({ id, since, dryRun: true });
  expect(tried.backfill).toMatchObject({ total: 5, passed: 2, started: 3 });
  const { backfill } = await project.standing.backfillStandingProgram({ id, since });
  // The second early incident has the same title as the third, and the last one has the title of the live incident. So these two are
  // duplicates.
  const done = await ended(project, backfill);
  expect(done).toMatchObject({ total: 5, started: 1, skipped: 2, passed: 2 });
  const runs = await project.runs(id, 4);
  const made = runs.filter(({ backfillId }) => backfillId === backfill?.id);
  expect(made.map(stateOf).filter((state) => !state.startsWith("skipped"))).toHaveLength(1);
  expect(made.every(({ eventIds }) => /^evt_/.test(eventIds[0] ?? ""))).toBe(true);
  await settled(async () => world.world.seen.some(({ body }) => body["text"] === "made up: early-2"));
  // An incident that now arrives normally is a duplicate of one that the backfill has handled.
  const { backfill: again } = await project.standing.backfillStandingProgram({ id, since });
  expect(await ended(project, again)).toMatchObject({ total: 5, started: 0 });
  await project.standing.deleteStandingProgram({ id });
});

test("acceptance 14: a member's key cannot backfill a granted program", async () => {
  const project = await world.project();
  world.goTo("2026-01-12T00:00:00Z");
  const id = await create(project, "granted", { ...hourly, program: clearing("n1") });
  await project.decide(id, "proceed");
  await settled(async () => (await project.standing.getStandingProgram({ id })).standingProgram?.approvalId !== "");
  const request = { id, since: at("2026-01-11T22:00:00Z"), until: at("2026-01-12T00:00:00Z") };
  const refused = await refusalOf(project.as("member").backfillStandingProgram(request));
  expect([refused.code, refused.reason]).toEqual(["PermissionDenied", "APPROVER_ROLE_REQUIRED"]);
  const dry = await refusalOf(project.as("member").backfillStandingProgram({ ...request, dryRun: true }));
  expect(dry.reason).toBe("APPROVER_ROLE_REQUIRED");
  const { backfill } = await project.standing.backfillStandingProgram(request);
  expect(await ended(project, backfill)).toMatchObject({ total: 2, started: 2 });
  const ends = await settled(async () => {
    const runs = await project.runs(id, 2);
    return runs.every(({ jobStatus }) => jobStatus !== "") && runs;
  });
  expect(ends.map(({ jobStatus }) => jobStatus)).toEqual(["succeeded", "succeeded"]);
});

test("every refusal names what is at fault; another project's program and backfill read as missing", async () => {
  const project = await world.project();
  world.goTo("2026-02-20T00:00:30Z");
  const id = await create(project, "refused", { source: { schedule: { every: "1m" } } });
  const { standing } = project;
  const since = at("2026-02-19T00:00:00Z");
  const refusal = async (request: Parameters<typeof standing.backfillStandingProgram>[0]) => {
    const { code, reason, field } = await refusalOf(standing.backfillStandingProgram({ id, since, ...request }));
    return [code, reason, field];
  };
  expect(await refusal({ id: "nobody" })).toEqual(["NotFound", "STANDING_PROGRAM_NOT_FOUND", "id"]);
  const { since: _, ...without } = { since };
  const bare = await refusalOf(standing.backfillStandingProgram({ id, ...without }));
  expect([bare.code, bare.reason, bare.field]).toEqual(["InvalidArgument", "FILTER_REQUIRED", "since"]);
  const late = at("2026-02-21T00:00:00Z");
  expect(await refusal({ since: late, until: since })).toEqual(["InvalidArgument", "TIME_RANGE_INVALID", "since"]);
  expect(await refusal({ perMinute: 601 })).toEqual(["InvalidArgument", "BACKFILL_RATE_INVALID", "perMinute"]);
  expect(await refusal({ policy: "queue" })).toEqual(["InvalidArgument", "POLICY_INVALID", "policy"]);
  const old = at("2026-02-01T00:00:00Z");
  expect(await refusal({ since: old })).toEqual(["ResourceExhausted", "BACKFILL_TOO_LARGE", "since"]);
  const collecting = await create(project, "collecting", { source: trigger, collect: { quiet: "1m" } });
  const notPossible = ["FailedPrecondition", "BACKFILL_NOT_POSSIBLE"];
  expect(await refusal({ id: collecting })).toEqual([...notPossible, "id"]);
  await standing.deleteStandingProgram({ id: collecting });
  // Retention has deleted the runs of the first days by then.
  world.goTo("2026-03-30T00:00:30Z");
  expect(await refusal({ until: at("2026-02-22T00:00:00Z") })).toEqual([...notPossible, "since"]);
  const range = { since: at("2026-02-19T00:00:00Z"), until: at("2026-02-19T00:02:00Z") };
  const { backfill } = await standing.backfillStandingProgram({ id, ...range, perMinute: 1 });
  expect(await refusal(range)).toEqual(["FailedPrecondition", "BACKFILL_RUNNING", "id"]);
  const other = await world.project();
  for (const name of [backfill?.id ?? "", "bkf_none"]) {
    const read = await refusalOf(other.standing.getBackfill({ id: name }));
    expect([read.code, read.reason]).toEqual(["NotFound", "BACKFILL_NOT_FOUND"]);
    const cancelled = await refusalOf(other.standing.cancelBackfill({ id: name }));
    expect([cancelled.code, cancelled.reason]).toEqual(["NotFound", "BACKFILL_NOT_FOUND"]);
  }
  const foreign = await refusalOf(other.standing.backfillStandingProgram({ id, since }));
  expect(foreign.reason).toBe("STANDING_PROGRAM_NOT_FOUND");
  await standing.cancelBackfill({ id: backfill?.id ?? "" });
});
