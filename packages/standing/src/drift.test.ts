import { parseId, uuidOfId } from "@svc/core";
import { StandingService, StandingState } from "@svc/gen/standing";
import { catalogOf } from "@svc/testing/catalog";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { desk } from "@svc/testing/desk";
import { type TestNode, testSealer } from "@svc/testing/node";
import { refusalOf, refusalsOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  clearing,
  createStandingWorld,
  definitionText,
  type StandingProject,
  type StandingWorld,
  settled,
  stateOf,
} from "./test-standing.ts";
import { sealDefinition } from "./versions.ts";

let database: TestDatabase;
let world: StandingWorld;
/** A node with another version of the test app's toolkit. Only this node claims due tasks. */
let later: TestNode;
beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db, { engines: ["jobs"] });
  const { send_keyed: _gone, ...tools } = desk.tools;
  const changed = { toolkit: { ...desk.toolkit, version: "1.3.0" }, tools };
  later = world.addNode({ catalog: catalogOf({ toolkits: [changed] }), engines: ["standing"] });
});
afterAll(async () => {
  await later[Symbol.asyncDispose]();
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

const clientOf = ({ projectId, keyId }: StandingProject, role: "member" | "approver" = "approver") =>
  later.client(StandingService, { projectId, keyId, role });

/** Creates a program, and returns it at its first time after its tools have changed. */
async function drifted(slug: string, definition: object, approves = false) {
  world.goTo("2026-06-01T09:00:30Z");
  const project = await world.project();
  const definitionJson = definitionText(definition);
  const { standingProgram } = await project.standing.createStandingProgram({ slug, definitionJson });
  const id = standingProgram?.id ?? "";
  if (approves) await project.decide(id, "proceed");
  world.goTo("2026-06-01T09:15:05Z");
  return { ...project, id, client: clientOf(project), project, definitionJson };
}

test("acceptance 16: a tool that changed is followed: what is due starts as another version, which says why", async () => {
  const { id, standing, runs } = await drifted("follows", {});
  const [run] = await runs(id, 1);
  expect(run).toMatchObject({ version: 2 });
  expect(run && stateOf(run)).toMatch(/^(?:started|ended)$/);
  const ended = await settled(async () => {
    const [found] = await runs(id, 1);
    return found?.jobStatus !== "" && found;
  });
  expect(ended.jobStatus).toBe("succeeded");
  const { versions, standingProgram } = await standing.getStandingProgram({ id });
  expect(standingProgram).toMatchObject({ version: 2, state: StandingState.ACTIVE });
  expect(versions.map(({ note }) => note)).toEqual(["follows desk.get_item: version 1.2.3 -> 1.3.0", ""]);
  // The program has followed the change, so it gets no second new version.
  world.goTo("2026-06-01T09:30:05Z");
  expect((await runs(id, 2)).map(({ version }) => version)).toEqual([2, 2]);
});

test("acceptance 16: what would have faults by the new definitions pauses, with all of them", async () => {
  const call = (name: string) => ({ id: name, call: "desk.send_keyed", entity: "ops", args: { text: name } });
  const program = { version: 1, title: "Keyed", steps: [call("one"), call("two")] };
  const { id, client, runs } = await drifted("faulty", { program });
  const [run] = await runs(id, 1);
  expect(run && stateOf(run)).toBe("refused drift");
  const { standingProgram } = await client.getStandingProgram({ id });
  expect(standingProgram).toMatchObject({ state: StandingState.PAUSED, pauseReason: "drift", version: 1 });
  expect(standingProgram?.pauseDetail).toMatch(/desk\.send_keyed: gone/);
  expect(standingProgram?.pauseDetail).toMatch(/program\/steps\/0.*program\/steps\/1/s);
  expect(await refusalOf(client.resumeStandingProgram({ id }))).toMatchObject({ reason: "PAUSE_CAUSE_STANDS" });
  const { details: faults } = await refusalsOf(client.resumeStandingProgram({ id, adopt: true }));
  expect(faults.map(({ reason }) => reason)).toEqual(["PROGRAM_TOOL_UNKNOWN", "PROGRAM_TOOL_UNKNOWN"]);
});

test("acceptance 16: a program that is to pause does, and goes on with the new definitions once it is told to", async () => {
  const { id, client, runs } = await drifted("pauses", { drift: "pause" });
  const [run] = await runs(id, 1);
  expect(run && stateOf(run)).toBe("refused drift");
  expect(await refusalOf(client.resumeStandingProgram({ id }))).toMatchObject({ reason: "PAUSE_CAUSE_STANDS" });
  const { standingProgram } = await client.resumeStandingProgram({ id, adopt: true });
  expect(standingProgram).toMatchObject({ state: StandingState.ACTIVE, version: 2, pauseReason: "" });
  world.goTo("2026-06-01T09:30:05Z");
  expect((await runs(id, 2)).map(({ version }) => version)).toEqual([1, 2]);
});

test("acceptance 16: what people approved pauses, and is asked about anew by an approver's key alone", async () => {
  const { id, client, project, runs, decide, definitionJson } = await drifted(
    "granted",
    { program: clearing("d") },
    true,
  );
  const [run] = await runs(id, 1);
  expect(run && stateOf(run)).toBe("refused drift");
  const byMember = clientOf(project, "member").resumeStandingProgram({ id, adopt: true });
  expect(await refusalOf(byMember)).toMatchObject({ reason: "APPROVER_ROLE_REQUIRED" });
  const { standingProgram } = await client.resumeStandingProgram({ id, adopt: true });
  expect(standingProgram).toMatchObject({ state: StandingState.PAUSED, version: 1, pendingVersion: 2 });
  expect(await refusalOf(client.resumeStandingProgram({ id }))).toMatchObject({ reason: "PAUSE_CAUSE_STANDS" });
  await decide(id, "proceed");
  const { standingProgram: active } = await client.getStandingProgram({ id });
  expect(active).toMatchObject({ state: StandingState.ACTIVE, version: 2, pendingVersion: 0, pauseReason: "" });
  const follows = JSON.stringify({ ...JSON.parse(definitionJson), drift: "follow" });
  const refused = client.createStandingProgram({ slug: "no", definitionJson: follows });
  expect(await refusalOf(refused)).toMatchObject({ reason: "POLICY_INVALID", field: "definitionJson/drift" });
});

/** A source that polls all items of the test app. */
const polling = {
  source: {
    poll: {
      ...{ call: "desk.list_items", entity: "ops", args: {}, every: "5m", first: "all" },
      ...{ rows: "items[]", id: "id", cursor: { kind: "seen" } },
    },
  },
};

test("a program that polls follows its tools before it reads, and what it finds starts as the version after", async () => {
  const { id, standing, runs } = await drifted("polls", polling);
  expect((await runs(id, 1)).map(({ version }) => version)).toEqual([2]);
  const { standingProgram, versions } = await standing.getStandingProgram({ id });
  expect(standingProgram).toMatchObject({ state: StandingState.ACTIVE, pollState: { outcome: "ok", found: 3 } });
  expect(versions.map(({ note }) => note)).toEqual(["follows desk.get_item: version 1.2.3 -> 1.3.0", ""]);
});

test("a program that polls and is to pause reads nothing, so that nothing is lost to it once it goes on", async () => {
  const { id, client, runs } = await drifted("holds", { ...polling, drift: "pause" });
  const paused = await settled(async () => {
    const { standingProgram } = await client.getStandingProgram({ id });
    return standingProgram?.state === StandingState.PAUSED && standingProgram;
  });
  expect(paused).toMatchObject({ pauseReason: "drift", version: 1, pollState: { outcome: "failed", code: "drift" } });
  expect(paused.pauseDetail).toBe("desk.get_item: version 1.2.3 -> 1.3.0");
  expect(await refusalOf(client.resumeStandingProgram({ id }))).toMatchObject({ reason: "PAUSE_CAUSE_STANDS" });
  await client.resumeStandingProgram({ id, adopt: true });
  world.goTo("2026-06-01T09:30:05Z");
  expect((await runs(id, 1)).map((run) => [run.version, stateOf(run).replace("ended", "started")])).toEqual([
    [2, "started"],
  ]);
});

test("what stood before a rule follows its tools all the same: what may be absent is not asked of it", async () => {
  world.goTo("2026-06-02T09:00:30Z");
  const project = await world.project();
  const program = {
    version: 1,
    title: "Tell since when",
    inputSchema: { type: "object", properties: { since: { type: "string" } } },
    steps: [
      { id: "tell", call: "desk.send_note", entity: "ops", args: { text: { $text: "{input.since}", else: "-" } } },
    ],
  };
  const textOf = (since: object) => definitionText({ program, input: { since } });
  const definitionJson = textOf({ $ref: "fire.previousAt", else: "never" });
  const { standingProgram } = await project.standing.createStandingProgram({ slug: "older", definitionJson });
  const { id = "" } = standingProgram ?? {};
  const programId = parseId("stp", id);
  if (programId === undefined) throw new Error("no program was made");
  const older = textOf({ $ref: "fire.previousAt" });
  const sealed = sealDefinition(testSealer, { projectId: project.projectId, programId, version: 1 }, older);
  const { sql } = database.db;
  await sql`update standing_versions set definition = ${sealed} where program_id = ${uuidOfId(programId)}::uuid`;
  world.goTo("2026-06-02T09:15:05Z");
  const [run] = await project.runs(id, 1);
  expect(run).toMatchObject({ version: 2 });
  expect(run && stateOf(run)).toBe("refused input_invalid");
});
