import { createId, systemClock } from "@svc/core";
import { putAccountReferences } from "@svc/db/account-references/repo";
import { StandingRunState, StandingService } from "@svc/gen/standing";
import { TriggersService } from "@svc/gen/triggers";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { refusalOf, refusalsOf } from "@svc/testing/project-client";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Incident, postIncident } from "./test-alerts.ts";
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

/** A program that sends a note with a text from its input. */
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

/** Deletes a program, so that it gets no events of later tests. */
const end = ({ standing }: StandingProject, id: string) => standing.deleteStandingProgram({ id });

/** Gives the engine time to claim the tasks that are due now. */
const systemTurn = () => systemClock.wait(100);

/** Returns the event of an incident. */
async function eventOf({ projectId }: StandingProject, id: string): Promise<{ readonly event: string }> {
  const client = world.node.client(TriggersService, { projectId, role: "member" });
  const { event } = await client.getEvent({ id });
  return { event: String(JSON.parse(event?.payloadJson ?? "{}").id) };
}

/** Resolves when every event was decided. */
const decided = () =>
  settled(async () => {
    const [row] = await database.db.sql<{ count: number }[]>`select count(*)::int4 as count from standing_arrivals`;
    return row?.count === 0;
  });

test("an entity that no event is about is noted, and the events that pass are counted", async () => {
  const project = await world.project();
  const source = { trigger: { slug: "alerts.incident_opened", entity: "ops" } };
  const definitionJson = definitionText({ source });
  const { notes, standingProgram } = await project.standing.createStandingProgram({ slug: "unheard", definitionJson });
  expect(notes.map(({ reason, field }) => `${reason} ${field}`)).toEqual([
    "ENTITY_UNHEARD definitionJson/source/trigger/entity",
  ]);
  expect(notes[0]?.message).toContain("posts of alerts.incident_opened name no account");
  const id = standingProgram?.id ?? "";
  expect((await project.standing.getStandingProgram({ id })).passedOver).toBe(0);
  await postIncident(world.node, { id: "inc-passes" });
  await decided();
  expect((await project.standing.getStandingProgram({ id })).passedOver).toBe(1);
  const preview = await project.standing.previewStandingProgram({ definitionJson });
  expect(preview).toMatchObject({ seen: 0, matched: 0, passedOver: 1 });
  const all = await project.standing.previewStandingProgram({ definitionJson: definitionText({ source: trigger }) });
  expect(all).toMatchObject({ seen: 1, passedOver: 0, notes: [] });
  await end(project, id);
});

test("an entity without an account that posts name is noted, with the one that is meant", async () => {
  await using node = world.addNode({ catalog: await shippedCatalog(), engines: [] });
  const { projectId } = await world.project();
  const standing = node.client(StandingService, { projectId, role: "approver" });
  const noteOf = async (entity: string) => {
    const source = { trigger: { slug: "calendar.events_changed", entity } };
    const program = { version: 1, title: "Waits", steps: [{ id: "w", wait: "1s" }] };
    const { notes } = await standing.previewStandingProgram({ definitionJson: definitionText({ source, program }) });
    return notes.map(({ message, help }) => `${message}: ${help}`).join("\n");
  };
  expect(await noteOf("team")).toContain(
    "no account of it takes events of calendar, so no event would start a run: connect calendar for team",
  );
  const reference = { toolkitSlug: "calendar", projectId, entityId: "team" };
  await putAccountReferences(database.db, [
    { ...reference, reference: "chan-1", accountId: createId("acc", world.now()) },
  ]);
  expect(await noteOf("team")).toBe("");
  expect(await noteOf("Team")).toContain('write "team", or connect calendar for Team');
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

test("a program whose input the definition makes needs none of its own; submitted by itself it lacks it", async () => {
  const project = await world.project();
  const { input: _input, ...program } = noteProgram;
  const id = await create(project, "without", { program, input: { text: { $text: "given {event.payload.id}" } } });
  await postIncident(world.node, { id: "inc-9", title: "It rings" });
  const [run] = await project.runs(id, 1);
  await settled(
    async () => (await project.standing.getStandingRun({ id: run?.id ?? "" })).run?.jobStatus === "succeeded",
  );
  expect(world.world.seen.map(({ body }) => body["text"])).toContain("given inc-9");
  await end(project, id);
  const lacking = { reason: "PROGRAM_ARGUMENT_INVALID", field: "programJson" };
  expect(await refusalOf(project.jobs.submitJob({ programJson: JSON.stringify(program) }))).toMatchObject(lacking);
  expect(await refusalOf(create(project, "lacking", { program }))).toMatchObject({
    reason: "PROGRAM_ARGUMENT_INVALID",
  });
});

test("a post that comes again is one event, and starts one run", async () => {
  const project = await world.project();
  const id = await create(project, "once", { input: { text: { $ref: "event.payload.id" } } });
  await Promise.all([1, 2, 3].map(() => postIncident(world.node, { id: "inc-2" }, "delivery-2")));
  await decided();
  expect((await project.runs(id, 1)).length).toBe(1);
  await end(project, id);
});

// `npm run test:crash` runs a thousand of these races.
const races = 5 * Number(process.env["SVC_STANDING_ROUNDS"] ?? 4);

test("acceptance 7: an event that races with Create starts a run, or was received before; the next one starts one", {
  timeout: 60_000 + races * 2_000,
}, async () => {
  const project = await world.project();
  for (let race = 0; race < races; race++) {
    const [id] = await Promise.all([
      create(project, `race-${race}`, { overlap: { policy: "allow" }, input: { text: { $ref: "event.payload.id" } } }),
      postIncident(world.node, { id: `race-${race}` }),
    ]);
    const answeredAt = world.now();
    await postIncident(world.node, { id: `after-${race}` });
    await decided();
    const made = await project.runs(id, 1);
    const events = await Promise.all(made.map(({ eventIds: [eventId] }) => eventOf(project, eventId ?? "")));
    const names = events.map(({ event }) => event);
    expect(names.at(-1)).toBe(`after-${race}`);
    expect(new Set(names).size).toBe(names.length);
    if (names.length === 1) {
      const client = world.node.client(TriggersService, { projectId: project.projectId, role: "member" });
      const { events: listed } = await client.listEvents({ triggerSlug: trigger.trigger.slug, pageSize: 2 });
      const raced = listed.find(({ payloadJson }) => payloadJson.includes(`"race-${race}"`));
      expect(Number(raced?.receivedAt?.seconds ?? 0n) * 1_000).toBeLessThanOrEqual(answeredAt);
    }
    await end(project, id);
  }
});

test("acceptance 8: what when turns away leaves no row and is counted; what it cannot tell is refused with its reason", async () => {
  const project = await world.project();
  const id = await create(project, "severe", {
    when: "int(event.payload.title) >= params.least && fire.kind == 'event'",
    input: { text: { $ref: "event.payload.id" } },
    program: { ...noteProgram, params: { least: 2 } },
  });
  for (const title of ["1", "3", "1"]) await postIncident(world.node, { id: `inc-s${title}`, title });
  await decided();
  expect((await project.runs(id, 1)).length).toBe(1);
  expect(await countsOf(project, id)).toMatchObject({ seen: 3n, filtered: 2n, started: 1n });
  await postIncident(world.node, { id: "inc-without" });
  const made = await project.runs(id, 2);
  expect(stateOf(made[1]!)).toBe("refused filter_error");
  expect(made[1]?.detail).toContain("int takes a text of digits");
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

/** Posts incidents, one second apart, beginning at a time. */
async function postEach(count: number, from: number, incident: (index: number) => Incident): Promise<void> {
  for (let index = 0; index < count; index++) {
    world.goTo(from + index * 100);
    await postIncident(world.node, incident(index));
  }
}

/** Returns the texts of the notes that were sent. */
const notes = () => world.world.seen.flatMap(({ body }) => (typeof body["text"] === "string" ? [body["text"]] : []));

test("acceptance 7: what has a key that was seen starts no other run, until the window is over", async () => {
  const project = await world.project();
  const id = await create(project, "dedupe", {
    dedupe: { key: { $text: "{event.payload.id}/{event.payload.service}", else: "no service" }, window: "10m" },
    input: { text: { $ref: "event.payload.id" } },
  });
  const at = world.now();
  for (const [index, service] of ["a", "a", "b", "a"].entries()) {
    world.goTo(at + index * 1_000);
    await postIncident(world.node, { id: "inc-7", service });
  }
  await decided();
  const made = await project.runs(id, 3);
  expect(made.map(stateOf).map((state) => state.replace(/^(started|ended|queued).*/, "run"))).toEqual(
    expect.arrayContaining(["run", "run", "skipped duplicate"]),
  );
  expect(made.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  world.goTo(at + 11 * 60_000);
  await postIncident(world.node, { id: "inc-7", service: "a" });
  await decided();
  expect(made.length + 1).toBe((await project.runs(id, made.length + 1)).length);
  await end(project, id);
});

test.each(["all", "last"])("acceptance 9: 100 events in 10 s, quiet for 30 s, are one run; take: %s", async (take) => {
  const project = await world.project();
  const id = await create(project, "collect", {
    collect: { quiet: "30s", wait: "10m", take },
    input: { text: { $ref: "event.payload.id" }, ids: { $ref: "events" } },
    program: {
      ...noteProgram,
      inputSchema: {
        type: "object",
        required: ["text"],
        properties: { text: { type: "string" }, ids: { type: "array", items: { type: "object" } } },
      },
    },
  });
  const at = world.now();
  await postEach(100, at, (index) => ({ id: `inc-${take}-${index}` }));
  await decided();
  const open = await project.runs(id, 1);
  expect(open.map(stateOf)).toEqual(["collecting"]);
  expect(open[0]).toMatchObject({ count: 100 });
  world.goTo(at + 9_900 + 30_000);
  const run = await settled(async () => {
    const [found, ...others] = await project.runs(id, 1);
    expect(others).toEqual([]);
    return found?.jobStatus === "succeeded" && found;
  });
  expect(run.eventIds.length).toBe(100);
  expect(notes()).toContain(`inc-${take}-99`);
  const { job } = await project.jobs.getJob({ id: run.jobId });
  expect(job?.standingRunId).toBe(run.id);
  await end(project, id);
});

test("a window is for its key, closes when it is full, and waits for no more than its time", async () => {
  const project = await world.project();
  const id = await create(project, "windows", {
    collect: { quiet: "1m", wait: "90s", max: 3, key: { $ref: "event.payload.service" } },
    overlap: { policy: "allow" },
    input: { text: { $text: "{event.payload.service} {event.payload.id}", else: "no service" } },
  });
  const at = world.now();
  await postEach(4, at, (index) => ({ id: `w${index}`, service: "full" }));
  await settled(async () => notes().includes("full w2"));
  for (const second of [40, 80, 85]) {
    world.goTo(at + second * 1_000);
    await postIncident(world.node, { id: `w-${second}`, service: "waits" });
  }
  await decided();
  world.goTo(at + 40_000 + 89_000);
  expect(notes()).not.toContain("waits w-85");
  world.goTo(at + 40_000 + 90_000);
  await settled(async () => notes().includes("waits w-85") && notes().includes("full w3"));
  const made = await project.runs(id, 3);
  expect(made.map(({ count }) => count).sort()).toEqual([1, 3, 3]);
  await end(project, id);
});

test("an open window waits for Resume, and is skipped when its program is deleted", async () => {
  const project = await world.project();
  const { standing } = project;
  const collecting = { collect: { quiet: "30s" }, input: { text: { $ref: "event.payload.id" } } };
  const [kept, gone] = [await create(project, "kept", collecting), await create(project, "gone", collecting)];
  await postIncident(world.node, { id: "inc-open" });
  await decided();
  await standing.pauseStandingProgram({ id: kept });
  const [before] = await project.runs(gone, 1);
  await end(project, gone);
  world.goTo(world.now() + 60_000);
  expect(stateOf((await standing.getStandingRun({ id: before?.id ?? "" })).run!)).toBe("skipped deleted");
  expect((await project.runs(kept, 1)).map(stateOf)).toEqual(["collecting"]);
  await standing.resumeStandingProgram({ id: kept });
  await settled(async () => (await project.runs(kept, 1))[0]?.jobStatus === "succeeded");
  await end(project, kept);
});

test("acceptance 10: a lane is of a key: those of one wait for each other, those of others do not", async () => {
  const project = await world.project();
  const id = await create(project, "lanes", {
    overlap: { policy: "queueAll", key: { $ref: "event.payload.service" } },
    program: { version: 1, title: "Wait", steps: [{ id: "w", wait: "1h" }] },
  });
  for (const service of ["a", "a", "b", "a"]) await postIncident(world.node, { id: "inc", service });
  await decided();
  const made = await project.runs(id, 4);
  expect(made.map((run) => `${run.key} ${stateOf(run)}`).sort()).toEqual([
    "a queued overlap",
    "a queued overlap",
    "a started",
    "b started",
  ]);
  world.goTo(world.now() + 3_600_000);
  await settled(async () => {
    const found = await project.runs(id, 4);
    return found.filter(({ key, state }) => key === "a" && state === StandingRunState.STARTED).length === 1;
  });
  await end(project, id);
});

test("acceptance 11: rate and budget of a key hold over two nodes, and what waited keeps its event", async () => {
  await using other = world.addNode();
  const project = await world.project();
  const id = await create(project, "bounded", {
    rate: { max: 2, per: "1m", key: { $ref: "event.payload.service" } },
    budget: { runs: 5, whenOver: "skip" },
    overlap: { policy: "allow" },
    input: { text: { $text: "bounded {event.payload.id}" } },
  });
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      postIncident(index % 2 === 0 ? world.node : other, { id: `r${index}`, service: index < 6 ? "x" : "y" }),
    ),
  );
  await decided();
  const started = async () => {
    const found = await project.runs(id, 1);
    return found.filter(({ jobId }) => jobId !== "");
  };
  expect((await started()).length).toBe(4);
  const at = world.now();
  for (let minute = 1; minute <= 4; minute++) {
    world.goTo(at + minute * 61_000);
    await systemTurn();
  }
  await settled(async () => (await started()).length === 5);
  const sent = notes().filter((text) => text.startsWith("bounded "));
  expect(new Set(sent).size).toBe(sent.length);
  await end(project, id);
});

test("acceptance 22: jobs, asks and runs are found by their program, page by page, and by no other project", async () => {
  const project = await world.project();
  const stranger = await world.project();
  const id = await create(project, "found", {
    overlap: { policy: "allow" },
    input: { text: { $ref: "event.payload.id" } },
  });
  for (let index = 0; index < 5; index++) await postIncident(world.node, { id: `found-${index}` });
  await decided();
  await project.runs(id, 5);
  const { standing, jobs } = project;
  const pages = async <Row>(
    read: (pageToken: string) => Promise<{ readonly rows: readonly Row[]; readonly nextPageToken: string }>,
  ): Promise<Row[]> => {
    const all: Row[] = [];
    let token = "";
    do {
      const page = await read(token);
      all.push(...page.rows);
      token = page.nextPageToken;
    } while (token !== "");
    return all;
  };
  const runs = await pages(async (pageToken) => {
    const page = await standing.listStandingRuns({ standingProgramId: id, pageSize: 2, pageToken });
    return { rows: page.runs, nextPageToken: page.nextPageToken };
  });
  const listed = await pages(async (pageToken) => {
    const page = await jobs.listJobs({ standingProgramId: id, pageSize: 2, pageToken });
    return { rows: page.jobs, nextPageToken: page.nextPageToken };
  });
  expect(new Set(runs.map(({ jobId }) => jobId))).toEqual(new Set(listed.map((job) => job.id)));
  expect([runs.length, listed.length]).toEqual([5, 5]);
  expect((await stranger.jobs.listJobs({ standingProgramId: id })).jobs).toEqual([]);
  for (const call of [
    () => stranger.standing.getStandingProgram({ id }),
    () => stranger.standing.pauseStandingProgram({ id }),
    () => stranger.standing.resumeStandingProgram({ id }),
    () => stranger.standing.deleteStandingProgram({ id }),
    () => stranger.standing.runStandingProgram({ id }),
    () => stranger.standing.previewStandingProgram({ id }),
    () => stranger.standing.listStandingRuns({ standingProgramId: id }),
  ]) {
    expect(await refusalOf(call())).toMatchObject({ reason: "STANDING_PROGRAM_NOT_FOUND" });
  }
  expect(await refusalOf(stranger.standing.getStandingRun({ id: runs[0]?.id ?? "" }))).toMatchObject({
    reason: "STANDING_RUN_NOT_FOUND",
  });
  await end(project, id);
});

test("a run by hand takes an event of the trigger, and a preview tells which of the last ones would have started it", async () => {
  const project = await world.project();
  const { standing } = project;
  const id = await create(project, "by-hand", {
    when: "has(event.payload.severity) && event.payload.severity > 3.0",
    input: { text: { $text: "by hand {event.payload.id}" } },
  });
  const stranger = await world.project();
  for (const severity of [1, 5, 2]) await postIncident(world.node, { id: `hand-${severity}`, severity });
  await decided();
  expect(await standing.previewStandingProgram({ id })).toMatchObject({ seen: 3, matched: 1, nextTimes: [] });
  const client = world.node.client(TriggersService, { projectId: project.projectId, role: "member" });
  const { events } = await client.listEvents({ triggerSlug: "alerts.incident_opened" });
  const turnedAway = events.find(({ payloadJson }) => payloadJson.includes("hand-1"))?.id ?? "";
  expect(await refusalOf(standing.runStandingProgram({ id }))).toMatchObject({ reason: "INPUT_MISMATCH" });
  const ask = { id, eventId: turnedAway, idempotencyKey: "once" };
  const { run } = await standing.runStandingProgram(ask);
  expect((await standing.runStandingProgram(ask)).run?.id).toBe(run?.id);
  await settled(async () => notes().includes("by hand hand-1"));
  const other = world.node.client(TriggersService, { projectId: stranger.projectId, role: "member" });
  const { events: others } = await other.listEvents({ triggerSlug: "alerts.incident_opened" });
  for (const eventId of ["evt_1", others[0]?.id ?? "", createId("evt", world.now())]) {
    expect(await refusalOf(standing.runStandingProgram({ id, eventId }))).toMatchObject({ reason: "EVENT_NOT_FOUND" });
  }
  await end(project, id);
});

test("acceptance 23: under updates each event starts one run, of the version that it names", async () => {
  const project = await world.project();
  const { standing } = project;
  const of = (version: number) => ({
    overlap: { policy: "queueAll", max: 100 },
    input: { text: { $text: `v${version} {event.payload.id}` } },
  });
  const id = await create(project, "updated", of(1));
  const posted = (async () => {
    for (let index = 0; index < 30; index++) await postIncident(world.node, { id: `u${index}` });
  })();
  for (let version = 2; version <= 4; version++) {
    const definitionJson = definitionText({ source: trigger, program: noteProgram, ...of(version) });
    await standing.updateStandingProgram({ id, definitionJson, expectedVersion: version - 1 });
  }
  await posted;
  await decided();
  const made = await settled(async () => {
    const found = await project.runs(id, 30);
    return found.every(({ jobStatus }) => jobStatus === "succeeded") && found;
  });
  expect(made.length).toBe(30);
  const texts = notes().filter((text) => /^v\d u\d+$/.test(text));
  expect(new Set(texts.map((text) => text.split(" ")[1])).size).toBe(30);
  for (const run of made) {
    const { event } = await eventOf(project, run.eventIds[0] ?? "");
    expect(texts).toContain(`v${run.version} ${event}`);
  }
  await end(project, id);
});

test("what an event may lack has an else or is asked for, and an object is no text", async () => {
  const project = await world.project();
  const faultsOf = async (definition: object) => {
    const definitionJson = definitionText({ source: trigger, program: noteProgram, ...definition });
    const refused = await refusalsOf(project.standing.createStandingProgram({ slug: "lacking", definitionJson }));
    return refused.details.map(({ reason, field }) => `${reason} ${field.replace("definitionJson", "")}`);
  };
  const service = "event.payload.service";
  const unfit = ["EXPRESSION_INVALID /input/text"];
  expect(await faultsOf({ input: { text: { $ref: service } } })).toEqual(unfit);
  expect(await faultsOf({ input: { text: { $text: `{${service}}` } } })).toEqual(unfit);
  expect(await faultsOf({ input: { text: { $ref: "fire.previousAt" } } })).toEqual(unfit);
  expect(await faultsOf({ input: { text: { $text: "{event.payload}" } } })).toEqual(unfit);
  const key = { $ref: service };
  expect(await faultsOf({ dedupe: { key, window: "1h" } })).toEqual(["EXPRESSION_INVALID /dedupe/key"]);
  expect(await faultsOf({ when: `${service} == 'a'` })).toEqual(["EXPRESSION_INVALID /when"]);
  const id = await create(project, "whole", {
    when: `has(${service}) && ${service} == 'a'`,
    input: { text: { $ref: service, else: "none" } },
    dedupe: { key: { $text: `{${service}}`, else: "none" }, window: "1h" },
  });
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
    await fields({
      when: "event.payload.nothing == 'x'",
      input: { text: { $ref: "event.payload.severity", else: 1 } },
    }),
  ).toEqual(["EXPRESSION_INVALID /when", "INPUT_MISMATCH /input/text", "INPUT_MISMATCH /input/text/else"]);
  expect(await fields({ when: "steps.tell.id == 'x'" })).toEqual(["EXPRESSION_INVALID /when"]);
  expect(await fields({ when: "event.payload.title" })).toEqual(["EXPRESSION_INVALID /when"]);
  expect(await fields({ input: { text: { $ref: "event.nothing" } } })).toEqual(["EXPRESSION_INVALID /input/text"]);
  expect(await fields({ program: { ...noteProgram, approval: { plan: "always" } } })).toContain("BUDGET_REQUIRED ");
});
