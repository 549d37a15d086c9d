import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { refusalsOf } from "@svc/testing/project-client";
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

const trigger = { trigger: { slug: "alerts.incident_opened" } };

/** Sends a note with a text of what it is given. */
const noteProgram = {
  version: 1,
  title: "Tell of an incident",
  inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
  input: { text: "" },
  steps: [{ id: "tell", call: "desk.send_note", entity: "ops", args: { text: { $ref: "input.text" } } }],
};

async function create({ standing }: StandingProject, slug: string, definition: object): Promise<string> {
  const definitionJson = definitionText({ source: trigger, program: noteProgram, ...definition });
  const { standingProgram } = await standing.createStandingProgram({ slug, definitionJson });
  return standingProgram?.id ?? "";
}

const countsOf = async ({ standing }: StandingProject, id: string) =>
  (await standing.getStandingProgram({ id })).standingProgram?.counts;

/** Nobody else's events reach what a later test makes. */
const end = ({ standing }: StandingProject, id: string) => standing.deleteStandingProgram({ id });

/** No event is left that nothing was decided about. */
const decided = () =>
  settled(async () => {
    const [row] = await database.db.sql<{ count: number }[]>`select count(*)::int4 as count from standing_arrivals`;
    return row?.count === 0;
  });

test("an event starts a job with what it carries as the input", async () => {
  const project = await world.project();
  const id = await create(project, "tell", {
    input: { text: { $text: "{event.payload.id}: {event.payload.title} ({event.triggerSlug}, {fire.kind})" } },
  });
  await postIncident(world.node, { id: "inc-1", title: "It smokes" });
  const [run] = await project.runs(id, 1);
  expect(run).toMatchObject({ kind: "event", version: 1, count: 1 });
  const ended = await settled(async () => {
    const { run: found } = await project.standing.getStandingRun({ id: run?.id ?? "" });
    return found?.jobStatus !== "" && found;
  });
  expect([stateOf(ended), ended.jobStatus]).toEqual(["ended", "succeeded"]);
  const told = world.world.seen.map(({ body }) => body["text"]);
  expect(told).toContain("inc-1: It smokes (alerts.incident_opened, event)");
  const { events } = await project.jobs.listJobEvents({ jobId: ended.jobId });
  expect(events[0]?.principalChain).toEqual([`key:${project.keyId}`, `standing:${id}`]);
  const { standingProgram } = await project.standing.getStandingProgram({ id });
  expect(standingProgram).toMatchObject({ sourceKind: "trigger", nextTimes: [], counts: { seen: 1n, started: 1n } });
  await end(project, id);
});

test("a post that comes again is one event, and starts one run", async () => {
  const project = await world.project();
  const id = await create(project, "once", { input: { text: { $ref: "event.payload.id" } } });
  await Promise.all([1, 2, 3].map(() => postIncident(world.node, { id: "inc-2" }, "delivery-2")));
  await decided();
  expect((await project.runs(id, 1)).length).toBe(1);
  await end(project, id);
});

test("acceptance 8: what when turns away leaves no row and is counted; what it cannot tell is refused with its reason", async () => {
  const project = await world.project();
  const id = await create(project, "severe", {
    when: "event.payload.severity >= params.least && fire.kind == 'event'",
    input: { text: { $ref: "event.payload.id" } },
    program: { ...noteProgram, params: { least: 2 } },
  });
  for (const severity of [1, 3, 1]) await postIncident(world.node, { id: `inc-s${severity}`, severity });
  await decided();
  expect((await project.runs(id, 1)).length).toBe(1);
  expect(await countsOf(project, id)).toMatchObject({ seen: 3n, filtered: 2n, started: 1n });
  await postIncident(world.node, { id: "inc-without" });
  const made = await project.runs(id, 2);
  expect(stateOf(made[1]!)).toBe("refused filter_error");
  expect(made[1]?.detail).toContain("reads a field that is absent");
  await end(project, id);
});

test("what was received while a program was paused is not its own; what a pause overtakes is skipped with its reason", async () => {
  const project = await world.project();
  const { standing } = project;
  const id = await create(project, "paused", { input: { text: { $ref: "event.payload.id" } } });
  await standing.pauseStandingProgram({ id });
  await postIncident(world.node, { id: "inc-while-paused" });
  await standing.resumeStandingProgram({ id });
  await postIncident(world.node, { id: "inc-after" });
  await decided();
  const made = await project.runs(id, 1);
  expect(made.map(stateOf).map((state) => state.split(" ")[0])).not.toContain("skipped");
  expect(made.length).toBe(1);
  await end(project, id);
});

test("every fault of a definition that events start is told at once, with its place", async () => {
  const { standing } = await world.project();
  const faulty = (definition: object) =>
    refusalsOf(
      standing.createStandingProgram({
        slug: "faulty",
        definitionJson: definitionText({ source: trigger, program: noteProgram, ...definition }),
      }),
    );
  const fields = async (definition: object) =>
    (await faulty(definition)).details
      .map(({ reason, field }) => `${reason} ${field.replace("definitionJson", "")}`)
      .sort();
  expect(await fields({ source: { trigger: { slug: "alerts.nothing" } } })).toEqual([
    "TRIGGER_UNKNOWN /source/trigger/slug",
  ]);
  expect(await fields({ source: { ...trigger, schedule: { every: "15m" } } })).toEqual([
    "DEFINITION_MALFORMED /source",
  ]);
  expect(
    await fields({ when: "event.payload.nothing == 'x'", input: { text: { $ref: "event.payload.severity" } } }),
  ).toEqual(["EXPRESSION_INVALID /when", "INPUT_MISMATCH /input/text"]);
  expect(await fields({ when: "steps.tell.id == 'x'" })).toEqual(["EXPRESSION_INVALID /when"]);
  expect(await fields({ when: "event.payload.severity" })).toEqual(["EXPRESSION_INVALID /when"]);
  expect(await fields({ input: { text: { $ref: "event.nothing" } } })).toEqual(["EXPRESSION_INVALID /input/text"]);
  expect(await fields({ program: { ...noteProgram, approval: { plan: "always" } } })).toContain("BUDGET_REQUIRED ");
});
