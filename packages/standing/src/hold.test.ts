import { uuidOfId } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postIncident } from "./test-alerts.ts";
import { createStandingWorld, definitionText, type StandingWorld, settled, stateOf } from "./test-standing.ts";

// Tests of a database that was restored to its state of some hours ago. Its nodes do all their work except starting standing programs
// (SVC_STANDING=hold).

let database: TestDatabase;
let world: StandingWorld;
beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db, { engines: ["deliveries", "jobs", "renewal", "retention"] });
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

const waiting = { version: 1, title: "Wait", steps: [{ id: "w", wait: "20h" }] };

test("acceptance 25: held on an older backup nothing starts of what is due; released, it catches up as it says", async () => {
  world.goTo("2026-03-02T09:00:30Z");
  const { standing, jobs, runs, projectId } = await world.project();
  const create = async (slug: string, definition: object) => {
    const definitionJson = definitionText({ overlap: { policy: "allow" }, program: waiting, ...definition });
    const { standingProgram } = await standing.createStandingProgram({ slug, definitionJson });
    return standingProgram?.id ?? "";
  };
  const timed = await create("timed", { source: { schedule: { cron: ["*/15 * * * *"] } } });
  const told = await create("told", { source: { trigger: { slug: "alerts.incident_opened" } } });
  {
    await using _ = world.addNode({ engines: ["standing"] });
    world.goTo("2026-03-02T09:15:01Z");
    await runs(timed, 1);
  }
  world.goTo("2026-03-02T12:02:00Z");
  await postIncident(world.node, { id: "while-held" });
  // Jobs of callers run meanwhile: the node works, and claims due tasks of jobs.
  for (let count = 0; count < 3; count++) {
    const steps = [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: `i${count}` } }];
    const { job } = await jobs.submitJob({ programJson: JSON.stringify({ version: 1, title: "Look", steps }) });
    await settled(async () => (await jobs.getJob({ id: job?.id ?? "" })).job?.receipt !== undefined);
  }
  const heard = () => database.db.sql`select 1 from standing_arrivals where project_id = ${uuidOfId(projectId)}::uuid`;
  expect([(await runs(timed, 1)).length, (await runs(told, 0)).length, (await heard()).length]).toEqual([1, 0, 1]);
  await using _released = world.addNode({ engines: ["standing"] });
  const caughtUp = await runs(timed, 2);
  expect(caughtUp.map(({ missed }) => missed)).toEqual([0, 10]);
  expect((await runs(told, 1)).map(stateOf)).toEqual(["started"]);
  expect(await heard()).toEqual([]);
});

test("what was due before a restored store was resumed may have been started by the other one: its writes are in doubt, and those of later runs are not", async () => {
  world.goTo("2026-04-06T09:00:30Z");
  const { standing, runs, jobs } = await world.project();
  const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "due" } };
  const program = { version: 1, title: "Note", steps: [note] };
  const definitionJson = definitionText({
    overlap: { policy: "allow" },
    program,
    source: { schedule: { cron: ["*/15 * * * *"] } },
  });
  const { standingProgram } = await standing.createStandingProgram({ slug: "noted", definitionJson });
  const id = standingProgram?.id ?? "";
  const [backupEndsAt, restoredAt, resumedAt] = ["09:01:00", "09:20:00", "09:20:01"].map((time) =>
    Date.parse(`2026-04-06T${time}Z`),
  );
  const restore = {
    key: "r",
    backupEndsAt: backupEndsAt ?? 0,
    restoredAt: restoredAt ?? 0,
    resumedAt: resumedAt ?? 0,
    isNothingSince: false,
  };
  world.goTo("2026-04-06T09:20:02Z");
  await using _ = world.addNode({ engines: ["standing"], restored: () => restore });
  const [missed] = await runs(id, 1);
  const jobOf = async (run: typeof missed) => (await jobs.getJob({ id: run?.jobId ?? "" })).job;
  await settled(async () => (await jobOf(missed))?.park?.reason === "in_doubt");
  const sent = () => world.world.seen.filter(({ body }) => body["text"] === "due").length;
  expect(sent()).toBe(0);
  world.goTo("2026-04-06T09:30:01Z");
  await runs(id, 2);
  await settled(async () => sent() === 1);
});
