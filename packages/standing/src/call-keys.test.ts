import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createStandingWorld,
  definitionText,
  type StandingProject,
  type StandingWorld,
  settled,
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

const tell = (id: string, text: string) => ({ id, call: "desk.send_keyed", entity: "ops", args: { text } });

/** Promotes a program to a skill after a job of it has succeeded. */
async function promote({ jobs }: StandingProject, slug: string): Promise<void> {
  const inputSchema = { type: "object", properties: {} };
  const program = { version: 1, title: "Tell", inputSchema, input: {}, steps: [tell("tell", "by the skill")] };
  const { job } = await jobs.submitJob({ programJson: JSON.stringify(program) });
  const jobId = job?.id ?? "";
  await settled(async () => (await jobs.getJob({ id: jobId })).job?.receipt !== undefined);
  await jobs.promoteJob({ jobId, slug, description: "Tells of something by a keyed note." });
}

test("a run that a restored backup forgot sends the same keys again: its own calls, and those of the skills that it runs", async () => {
  const project = await world.project();
  await promote(project, "announce");
  const steps = [tell("own", "by the run"), { id: "skill", run: "skills.announce", input: {} }];
  const definitionJson = definitionText({ program: { version: 1, title: "Tell twice", steps } });
  const { standingProgram } = await project.standing.createStandingProgram({ slug: "tell", definitionJson });
  const id = standingProgram?.id ?? "";
  const keysOf = async () => {
    const before = world.world.seen.length;
    const { run } = await project.standing.runStandingProgram({ id, idempotencyKey: "once" });
    const ended = await settled(async () => {
      const { run: now } = await project.standing.getStandingRun({ id: run?.id ?? "" });
      return now?.jobStatus !== "" && now;
    });
    expect(ended.jobStatus).toBe("succeeded");
    return world.world.seen.slice(before).flatMap(({ key }) => key ?? []);
  };
  const first = await keysOf();
  expect(new Set(first).size).toBe(2);
  await database.db.sql`delete from standing_runs`;
  expect(await keysOf()).toEqual(first);
});
