import { ConnectError } from "@connectrpc/connect";
import { revokeApiKey } from "@svc/db/keys/repo";
import { setProjectPolicy } from "@svc/db/projects/repo";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { JobStatus } from "@svc/gen/jobs";
import { StandingService, StandingState } from "@svc/gen/standing";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { refusalOf, refusalsOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentStandingObserver } from "./observer.ts";
import { createStandingWorld, definitionText, type StandingWorld, settled, stateOf } from "./test-standing.ts";

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

test("a schedule starts its program at its times, with what fired it as the input", async () => {
  world.goTo("2026-03-02T08:59:00Z");
  const { standing, jobs, runs } = await world.project();
  const program = {
    version: 1,
    title: "Say when",
    inputSchema: { type: "object", required: ["day"], properties: { day: { type: "string" }, at: { type: "string" } } },
    input: { day: "" },
    steps: [{ id: "say", call: "desk.send_note", entity: "ops", args: { text: { $text: "{input.day} {input.at}" } } }],
  };
  const definitionJson = definitionText({
    title: "Say the day",
    timeZone: "Europe/Berlin",
    source: { schedule: { cron: ["0 10 * * 1-5"] } },
    input: { day: { $ref: "fire.localDate" }, at: { $text: "{fire.localTime} {fire.timeZone}" } },
    program,
  });
  const { standingProgram } = await standing.createStandingProgram({ slug: "say-when", definitionJson });
  expect(standingProgram).toMatchObject({ slug: "say-when", title: "Say the day", version: 1, pauseReason: "" });
  expect(standingProgram?.nextTimes.map(({ seconds }) => new Date(Number(seconds) * 1000).toISOString())).toEqual([
    "2026-03-02T09:00:00.000Z",
    "2026-03-03T09:00:00.000Z",
    "2026-03-04T09:00:00.000Z",
    "2026-03-05T09:00:00.000Z",
    "2026-03-06T09:00:00.000Z",
  ]);
  const id = standingProgram?.id ?? "";
  world.goTo("2026-03-02T09:00:00Z");
  const [run] = await runs(id, 1);
  expect(run).toMatchObject({ kind: "schedule", version: 1, count: 1, missed: 0 });
  const ended = await settled(async () => {
    const { run: found } = await standing.getStandingRun({ id: run?.id ?? "" });
    return found?.jobStatus !== "" && found;
  });
  expect([stateOf(ended), ended.jobStatus]).toEqual(["ended", "succeeded"]);
  const { job } = await jobs.getJob({ id: ended.jobId });
  expect(job).toMatchObject({ standingProgramId: id, standingRunId: ended.id });
  expect(world.world.seen.map(({ body }) => body["text"])).toContain("2026-03-02 10:00:00 Europe/Berlin");
  expect((await jobs.listJobs({ standingProgramId: id })).jobs.map((one) => one.id)).toEqual([ended.jobId]);
  const { events } = await jobs.listJobEvents({ jobId: ended.jobId });
  expect(events[0]?.principalChain.at(-1)).toBe(`standing:${id}`);
});

test("a fail step that asks for it pauses its program, with its text as the reason, until it is resumed", async () => {
  world.goTo("2026-03-02T08:59:00Z");
  const { standing, runs } = await world.project();
  const stop = { id: "stop", fail: "Only {rows.items} items are there", pause: true, when: "rows.items < 10" };
  const list = {
    id: "items",
    call: "desk.list_items",
    entity: "ops",
    args: {},
    rows: { from: "items[]", keep: ["id"] },
  };
  const create = async (slug: string, step: object) => {
    const program = { version: 1, title: "Stops", steps: [list, step] };
    const source = { schedule: { cron: ["0 9,10,11 * * *"] } };
    const made = await standing.createStandingProgram({ slug, definitionJson: definitionText({ source, program }) });
    return made.standingProgram?.id ?? "";
  };
  const id = await create("stops", stop);
  const goingOn = await create("goes-on", { ...stop, pause: false });
  world.goTo("2026-03-02T09:00:00Z");
  const paused = await settled(async () => {
    const { standingProgram } = await standing.getStandingProgram({ id });
    return standingProgram?.state === StandingState.PAUSED && standingProgram;
  });
  expect(paused).toMatchObject({ pauseReason: "fail_step", pauseDetail: "Only 3 items are there" });
  const [run] = await runs(id, 1);
  expect(run && [stateOf(run), run.jobStatus, run.detail]).toEqual([
    "ended fail_step",
    "failed",
    "Only 3 items are there",
  ]);
  expect(run?.failure).toMatchObject({
    code: "FAIL_STEP",
    stepId: "stop",
    title: 'Step stop ended the job: "Only 3 items are there"',
  });
  await settled(async () => (await runs(goingOn, 1)).every(({ jobStatus }) => jobStatus === "failed"));
  expect((await standing.getStandingProgram({ id: goingOn })).standingProgram).toMatchObject({ pauseReason: "" });
  const { standingProgram: resumed } = await standing.resumeStandingProgram({ id });
  expect(resumed).toMatchObject({ state: StandingState.ACTIVE, pauseReason: "", pauseDetail: "" });
});

test("what a definition may not mean is told when it is previewed and made, with its zone and its next times", async () => {
  world.goTo("2026-03-02T08:59:00Z");
  const { standing } = await world.project();
  const told = async (definition: object) => {
    const definitionJson = definitionText(definition);
    const preview = await standing.previewStandingProgram({ definitionJson, count: 3 });
    return { ...preview, notes: preview.notes.map(({ reason, field }) => `${reason} ${field}`) };
  };
  const cron = { schedule: { cron: ["0 9 * * 1-5"] } };
  const unzoned = await told({ source: cron });
  expect(unzoned.notes).toEqual(["ZONE_DEFAULT definitionJson/source/schedule/cron"]);
  expect(unzoned.timeZone).toBe("UTC");
  expect(unzoned.nextTimes.map(({ local }) => local)).toEqual([
    "2026-03-02T09:00:00",
    "2026-03-03T09:00:00",
    "2026-03-04T09:00:00",
  ]);
  expect((await told({ source: cron, timeZone: "UTC" })).notes).toEqual([]);
  expect(await told({ source: cron, timeZone: "Europe/Berlin" })).toMatchObject({
    notes: [],
    timeZone: "Europe/Berlin",
  });
  expect((await told({ source: { schedule: { every: "15m" } } })).notes).toEqual([]);
  expect((await told({ when: "fire.localTime < '12:00:00'" })).notes).toEqual(["ZONE_DEFAULT definitionJson/when"]);
  const definitionJson = definitionText({ source: cron });
  const made = await standing.createStandingProgram({ slug: "unzoned", definitionJson });
  expect(made.notes.map(({ reason }) => reason)).toEqual(["ZONE_DEFAULT"]);
  expect(made.standingProgram?.timeZone).toBe("UTC");
  expect((await standing.createStandingProgram({ slug: "unzoned", definitionJson })).notes).toEqual([]);
  const zoned = definitionText({ source: cron, budget: { runs: 5 } });
  const { notes } = await standing.updateStandingProgram({ id: "unzoned", definitionJson: zoned });
  expect(notes.map(({ field }) => field)).toEqual(["definitionJson/source/schedule/cron"]);
});

test.each<[string, object, string]>([
  [
    "timeZone in schedule",
    { source: { schedule: { cron: ["0 9 * * *"], timeZone: "Europe/Berlin" } } },
    "write it next to source",
  ],
  ["tz in schedule", { source: { schedule: { every: "1h", tz: "UTC" } } }, 'write it next to source: {"timeZone": …'],
  ["cron beside source", { cron: ["0 9 * * *"] }, 'write it in source.schedule: {"source": {"schedule": {"cron": …}}}'],
  ["every in source", { source: { every: "1h" } }, "write it in source.schedule"],
  ["steps beside program", { steps: [] }, 'write it in program: {"program": {"steps": …}}'],
  [
    "when in trigger",
    { source: { trigger: { slug: "alerts.incident_opened", when: "true" } } },
    "write it next to source",
  ],
])("%s is answered with where it belongs", async (_what, definition, place) => {
  const { standing } = await world.project();
  const { details } = await refusalsOf(standing.previewStandingProgram({ definitionJson: definitionText(definition) }));
  expect(details.length).toBeGreaterThan(0);
  await expect(standing.previewStandingProgram({ definitionJson: definitionText(definition) })).rejects.toSatisfy(
    (error) =>
      ConnectError.from(error)
        .findDetails(ErrorDetailSchema)
        .some(({ help }) => help.includes(place)),
  );
});

const times = (runs: { readonly fireAt?: { readonly seconds: bigint } | undefined }[]) =>
  runs.map(({ fireAt }) => new Date(Number(fireAt?.seconds) * 1000).toISOString().slice(11, 16));

/** 36 times were missed while the service was not running. For each setting: the expected runs, and the first time that gets a run. */
test.each([
  ["last", [["ended", "12:00", 1, 35]], { started: 1n, missed: 35n }],
  [
    "all",
    Array.from({ length: 36 }, (_, place) => ["ended", clockTime(9 * 60 + 5 + 5 * place), 1, 0]),
    { started: 36n },
  ],
  ["none", [["skipped missed", "09:05", 36, 0]], { started: 0n, missed: 36n }],
] as const)("acceptance 4: down for three hours, with a catch-up of %s", async (policy, expected, counts) => {
  world.goTo("2026-03-02T09:01:00Z");
  const { standing, runs } = await world.project();
  const source = { schedule: { cron: ["*/5 * * * *"], catchUp: { runs: policy } } };
  const definitionJson = definitionText({ source, overlap: { policy: "queueAll", max: 36 } });
  const { standingProgram } = await standing.createStandingProgram({ slug: "every-five", definitionJson });
  const id = standingProgram?.id ?? "";
  world.goTo("2026-03-02T12:02:00Z");
  const made = await settled(async () => {
    const found = await runs(id, 0);
    if (found.length === expected.length && found.every(({ endedAt }) => endedAt !== undefined)) return found;
    // Ten missed times a second get their runs. The next regular time is three minutes away.
    if (world.now() < Date.parse("2026-03-02T12:04:00Z")) world.goTo(world.now() + 500);
    return undefined;
  });
  expect(made.map((run) => [stateOf(run), ...times([run]), run.count, run.missed])).toEqual(expected);
  expect((await standing.getStandingProgram({ id })).standingProgram?.counts).toMatchObject(counts);
});

/** Returns a minute of the day as a time in the form that runs show. */
function clockTime(minutes: number): string {
  return new Date(minutes * 60_000).toISOString().slice(11, 16);
}

test("all that was missed is made up for, the oldest first, ten a second", async () => {
  world.goTo("2026-03-02T13:01:00Z");
  const { standing, runs } = await world.project();
  const source = { schedule: { cron: ["*/5 * * * *"], catchUp: { runs: "all" } } };
  const definitionJson = definitionText({ source, overlap: { policy: "allow" } });
  const { standingProgram } = await standing.createStandingProgram({ slug: "every-five", definitionJson });
  world.goTo("2026-03-02T14:12:00Z");
  const made = await runs(standingProgram?.id ?? "", 14);
  expect(times(made)).toEqual([
    ...["13:05", "13:10", "13:15", "13:20", "13:25", "13:30", "13:35", "13:40", "13:45", "13:50"],
    ...["13:55", "14:00", "14:05", "14:10"],
  ]);
});

test("acceptance 10: a program that is under way skips its next times, as one run that counts them", async () => {
  world.goTo("2026-03-03T08:59:30Z");
  const { standing, runs } = await world.project();
  const definitionJson = definitionText({ program: { version: 1, title: "Wait", steps: [{ id: "w", wait: "3h" }] } });
  const { standingProgram } = await standing.createStandingProgram({ slug: "slow", definitionJson });
  const id = standingProgram?.id ?? "";
  for (const [index, at] of ["09:00", "09:15", "09:30", "09:45"].entries()) {
    world.goTo(`2026-03-03T${at}:00Z`);
    await settled(async () => {
      const found = await runs(id, 1);
      return found.reduce((sum, { count }) => sum + count, 0) > index;
    });
  }
  const made = await runs(id, 2);
  expect(made.map(stateOf)).toEqual(["started", "skipped overlap"]);
  expect(made[1]).toMatchObject({ count: 3, blockingJobId: made[0]?.jobId });
});

test("acceptance 10: queued runs start one after the other as jobs end; the newest alone waits where the policy says so", async () => {
  world.goTo("2026-03-04T08:59:30Z");
  const { standing, jobs, runs } = await world.project();
  const program = { version: 1, title: "Wait", steps: [{ id: "w", wait: "20h" }] };
  const definition = { program, source: { schedule: { at: ["2027-01-01T00:00:00Z"] } } };
  for (const [policy, expected] of [
    ["queueAll", ["ended", "started", "queued overlap"]],
    ["queueOne", ["ended", "skipped superseded", "started"]],
    ["cancelRunning", ["ended", "skipped superseded", "started"]],
  ] as const) {
    const definitionJson = definitionText({ ...definition, overlap: { policy } });
    const slug = policy.toLowerCase();
    const { standingProgram } = await standing.createStandingProgram({ slug, definitionJson });
    const id = standingProgram?.id ?? "";
    for (let count = 0; count < 3; count++) await standing.runStandingProgram({ id });
    const [first] = await runs(id, 3);
    if (policy !== "cancelRunning") await jobs.cancelJob({ id: first?.jobId ?? "" });
    const states = await settled(async () => {
      const found = (await runs(id, 3)).map(stateOf);
      return found[0] === "ended" && found.includes("started") && found;
    });
    expect([policy, states]).toEqual([policy, expected]);
  }
});

test("runs by hand: the same key is the same run, the input is the caller's, and the chain begins with who called", async () => {
  world.goTo("2026-03-05T09:00:30Z");
  const { standing, jobs, key, as } = await world.project();
  const program = {
    version: 1,
    title: "Say",
    inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
    input: { text: "nothing" },
    steps: [{ id: "say", call: "desk.send_note", entity: "ops", args: { text: { $ref: "input.text" } } }],
  };
  const definitionJson = definitionText({ program, overlap: { policy: "allow" } });
  const { standingProgram } = await standing.createStandingProgram({ slug: "say", definitionJson });
  const id = standingProgram?.id ?? "";
  const other = await key();
  const request = { id, inputJson: '{"text": "by hand"}', idempotencyKey: "once" };
  const { run } = await as("member", other).runStandingProgram(request);
  const again = await standing.runStandingProgram(request);
  expect(again.run?.id).toBe(run?.id);
  const { job } = await jobs.getJob({ id: run?.jobId ?? "" });
  expect(job?.standingRunId).toBe(run?.id);
  const { events } = await jobs.listJobEvents({ jobId: run?.jobId ?? "" });
  expect(events[0]?.principalChain).toEqual([`key:${other}`, expect.stringMatching(/^key:/), `standing:${id}`]);
  await settled(async () => world.world.seen.some(({ body }) => body["text"] === "by hand"));
  await standing.pauseStandingProgram({ id });
  // A repeated request returns the earlier decision, even if the program is paused now.
  expect((await standing.runStandingProgram(request)).run?.id).toBe(run?.id);
});

test("a program pauses after as many failures in a row as it names, and goes on when it is resumed", async () => {
  world.goTo("2026-03-06T09:00:30Z");
  const { standing, jobs } = await world.project();
  const program = {
    version: 1,
    title: "Fail",
    steps: [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: "none" } }],
  };
  world.world.script = ({ path }) => (path === "/items/none" ? { status: 404, body: {} } : undefined);
  const definitionJson = definitionText({ program, pauseAfter: 2, source: { schedule: { every: "1m" } } });
  const { standingProgram } = await standing.createStandingProgram({ slug: "fails", definitionJson });
  const id = standingProgram?.id ?? "";
  for (const at of ["09:01:05", "09:02:05"]) {
    world.goTo(`2026-03-06T${at}Z`);
    await settled(async () => {
      const { jobs: own } = await jobs.listJobs({ standingProgramId: id });
      return own.length > Number(at.slice(3, 5)) - 1 && own.every(({ finishedAt }) => finishedAt !== undefined);
    });
  }
  const paused = await settled(async () => {
    const { standingProgram: now } = await standing.getStandingProgram({ id });
    return now?.pauseReason !== "" && now;
  });
  expect(paused).toMatchObject({ pauseReason: "failures", nextTimes: [], counts: { failuresInRow: 2 } });
  world.goTo("2026-03-06T10:00:05Z");
  const { standingProgram: resumed } = await standing.resumeStandingProgram({ id });
  expect(resumed).toMatchObject({ pauseReason: "", counts: { failuresInRow: 0 } });
  expect(resumed?.nextTimes[0]?.seconds).toBe(BigInt(Date.UTC(2026, 2, 6, 10, 1) / 1000));
});

test("acceptance 15: a program whose key is revoked pauses at its next time, and another key adopts it", async () => {
  world.goTo("2026-03-07T09:00:30Z");
  const { standing, keyId, key, as, runs } = await world.project();
  const definitionJson = definitionText({});
  const { standingProgram } = await standing.createStandingProgram({ slug: "revoked", definitionJson });
  const id = standingProgram?.id ?? "";
  await revokeApiKey(database.db, keyId, world.now());
  world.goTo("2026-03-07T09:15:00Z");
  const [run] = await runs(id, 1);
  expect(run && stateOf(run)).toBe("refused key_revoked");
  expect((await standing.getStandingProgram({ id })).standingProgram?.pauseReason).toBe("key_revoked");
  expect(await refusalOf(standing.resumeStandingProgram({ id }))).toMatchObject({ reason: "PAUSE_CAUSE_STANDS" });
  const other = as("approver", await key());
  const { standingProgram: adopted } = await other.updateStandingProgram({ id, definitionJson });
  expect(adopted).toMatchObject({ version: 2, pauseReason: "" });
  world.goTo("2026-03-07T09:30:00Z");
  const states = (await runs(id, 2)).map(stateOf);
  expect(states[1]).toMatch(/^(?:started|ended)$/);
});

test("a project has no more runs under way than it may, over programs; the others wait their turn", async () => {
  await using bounded = world.addNode({ limits: { standing: { projectRunsMax: 2 } }, engines: [] });
  world.goTo("2026-03-08T09:00:30Z");
  const { projectId, keyId, jobs, standing } = await world.project();
  const client = bounded.client(StandingService, { projectId, keyId, role: "approver" });
  const program = { version: 1, title: "Wait", steps: [{ id: "w", judge: "sure" }], points };
  const started: string[] = [];
  const definition = {
    source: { schedule: { at: ["2027-01-01T00:00:00Z"] } },
    overlap: { policy: "queueAll", max: 9 },
  };
  for (const slug of ["one", "two", "three"]) {
    const slow = { version: 1, title: "Slow", steps: [{ id: "w", wait: "20h" }] };
    const definitionJson = definitionText({ ...definition, program: slug === "one" ? program : slow });
    const { standingProgram } = await standing.createStandingProgram({ slug, definitionJson });
    const { run } = await client.runStandingProgram({ id: standingProgram?.id ?? "" });
    started.push(run === undefined ? "" : stateOf(run));
    // A parked run gives its slot to another run.
    await settled(async () => {
      const { job } = await jobs.getJob({ id: run?.jobId ?? "" });
      return job?.park !== undefined;
    });
  }
  expect(started).toEqual(["started", "started", "started"]);
});

test("acceptance 22: another project sees nothing of it", async () => {
  const { standing } = await world.project();
  const { standingProgram } = await standing.createStandingProgram({
    slug: "mine",
    definitionJson: definitionText({}),
  });
  const id = standingProgram?.id ?? "";
  const { run } = await standing.runStandingProgram({ id });
  const { standing: other, jobs } = await world.project();
  const missing = { code: "NotFound", reason: "STANDING_PROGRAM_NOT_FOUND" };
  for (const call of [
    () => other.getStandingProgram({ id }),
    () => other.getStandingProgram({ id: "mine" }),
    () => other.updateStandingProgram({ id, definitionJson: definitionText({}) }),
    () => other.pauseStandingProgram({ id }),
    () => other.resumeStandingProgram({ id }),
    () => other.deleteStandingProgram({ id }),
    () => other.runStandingProgram({ id }),
    () => other.listStandingRuns({ standingProgramId: id }),
    () => other.previewStandingProgram({ id }),
  ]) {
    expect(await refusalOf(call())).toMatchObject(missing);
  }
  expect(await refusalOf(other.getStandingRun({ id: run?.id ?? "" }))).toMatchObject({
    reason: "STANDING_RUN_NOT_FOUND",
  });
  expect((await other.listStandingPrograms({})).standingPrograms).toEqual([]);
  expect((await jobs.listJobs({ standingProgramId: id })).jobs).toEqual([]);
});

test("a deleted program reads as missing, what waits is skipped, and its jobs are found by its id", async () => {
  world.goTo("2026-03-09T09:00:30Z");
  const { standing, jobs } = await world.project();
  const program = { version: 1, title: "Wait", steps: [{ id: "w", wait: "20h" }] };
  const definitionJson = definitionText({ program, overlap: { policy: "queueAll" } });
  const { standingProgram } = await standing.createStandingProgram({ slug: "gone", definitionJson });
  const id = standingProgram?.id ?? "";
  await standing.runStandingProgram({ id });
  const { run: waits } = await standing.runStandingProgram({ id });
  await standing.deleteStandingProgram({ id, cancelRunning: true });
  expect(await refusalOf(standing.getStandingProgram({ id }))).toMatchObject({ reason: "STANDING_PROGRAM_NOT_FOUND" });
  const { run } = await standing.getStandingRun({ id: waits?.id ?? "" });
  expect(run && stateOf(run)).toBe("skipped deleted");
  await settled(async () => {
    const { jobs: own } = await jobs.listJobs({ standingProgramId: id });
    return own.length === 1 && own[0]?.status === JobStatus.CANCELLED;
  });
  // The slug of the deleted program is free again.
  const again = await standing.createStandingProgram({ slug: "gone", definitionJson });
  expect(again.standingProgram?.id).not.toBe(id);
});

const points = {
  sure: { question: "Sure?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner", timeout: "9h" }] },
};

test("acceptance 22: asks of a program's jobs are found by its id", async () => {
  world.goTo("2026-03-10T09:00:30Z");
  const { standing, jobs } = await world.project();
  const program = { version: 1, title: "Ask", steps: [{ id: "gate", judge: "sure" }], points };
  const { standingProgram } = await standing.createStandingProgram({
    slug: "asks",
    definitionJson: definitionText({ program }),
  });
  const id = standingProgram?.id ?? "";
  const { run } = await standing.runStandingProgram({ id });
  const asks = await settled(async () => {
    const found = (await jobs.listAsks({ standingProgramId: id })).asks;
    return found.length > 0 && found;
  });
  expect(asks.map(({ jobId, standingProgramId }) => [jobId, standingProgramId])).toEqual([[run?.jobId, id]]);
});

test("acceptance 1: a definition with faults is refused with all of them at once", async () => {
  const { standing } = await world.project();
  const definition = {
    version: 2,
    timeZone: "+02:00",
    source: { schedule: { cron: ["61 * * * *", "0 0 1 1 1 1"], jitter: "1h" } },
    input: { day: { $ref: "fired.at" } },
    overlap: { policy: "never" },
    rate: { max: 0, per: "1m" },
    program: { version: 1, title: "T", steps: [{ id: "look", call: "desk.nothing", entity: "ops" }] },
  };
  const definitionJson = JSON.stringify(definition);
  const refused = await refusalsOf(standing.createStandingProgram({ slug: "faulty", definitionJson }));
  expect(refused.details).toEqual([
    { reason: "DEFINITION_MALFORMED", field: "definitionJson/version" },
    { reason: "TIME_ZONE_UNKNOWN", field: "definitionJson/timeZone" },
    { reason: "SCHEDULE_INVALID", field: "definitionJson/source/schedule/cron/0" },
    { reason: "SCHEDULE_INVALID", field: "definitionJson/source/schedule/cron/1" },
    { reason: "EXPRESSION_INVALID", field: "definitionJson/input/day" },
    { reason: "DEFINITION_MALFORMED", field: "definitionJson/overlap/policy" },
    { reason: "DEFINITION_MALFORMED", field: "definitionJson/rate/max" },
    { reason: "PROGRAM_TOOL_UNKNOWN", field: "definitionJson/program/steps/0/call" },
  ]);
  const error = await standing.createStandingProgram({ slug: "faulty", definitionJson }).catch(ConnectError.from);
  const details = error instanceof ConnectError ? error.findDetails(ErrorDetailSchema) : [];
  expect(details.map(({ help }) => help)).toEqual(refused.details.map(() => expect.stringMatching(/\w/)));
});

test.each([
  ["SCHEDULE_INVALID", { source: { schedule: { cron: ["0 0 31 2 *"] } } }, "/source/schedule"],
  ["SCHEDULE_INVALID", { source: { schedule: { at: ["2020-01-01T00:00:00Z"] } } }, "/source/schedule"],
  ["SCHEDULE_INVALID", { source: { schedule: { every: "30s" } } }, "/source/schedule/every"],
  ["SCHEDULE_INVALID", { source: { schedule: { every: "5m", at: [] } } }, "/source/schedule"],
  ["JITTER_TOO_LONG", { source: { schedule: { every: "5m", jitter: "5m" } } }, "/source/schedule/jitter"],
  ["JITTER_TOO_LONG", { source: { schedule: { every: "5d", jitter: "2h" } } }, "/source/schedule/jitter"],
  ["INPUT_MISMATCH", { input: { day: 1 } }, "/input"],
  ["POLICY_INVALID", { budget: {} }, "/budget"],
  ["POLICY_INVALID", { overlap: { policy: "queueAll", queueFor: "90d" } }, "/overlap/queueFor"],
  ["DEFINITION_MALFORMED", { unknown: 1 }, "/unknown"],
])("%s of %j", async (reason, change, pointer) => {
  const { standing } = await world.project();
  const definitionJson = definitionText(change);
  const refused = await refusalOf(standing.previewStandingProgram({ definitionJson }));
  expect(refused).toMatchObject({ code: "InvalidArgument", reason, field: `definitionJson${pointer}` });
});

test("the same slug and definition is the same program; slugs, counts and versions are held to their bounds", async () => {
  const { standing, as } = await world.project();
  const definitionJson = definitionText({});
  const first = await standing.createStandingProgram({ slug: "same", definitionJson });
  const again = await standing.createStandingProgram({ slug: "same", definitionJson: `${definitionJson} ` });
  expect(again.standingProgram?.id).toBe(first.standingProgram?.id);
  const id = first.standingProgram?.id ?? "";
  const other = definitionText({ title: "Another" });
  const refusals = [
    () => standing.createStandingProgram({ slug: "same", definitionJson: other }),
    () => standing.createStandingProgram({ slug: "Not So", definitionJson }),
    () => standing.updateStandingProgram({ id, definitionJson: other, expectedVersion: 7 }),
    () => standing.previewStandingProgram({ id, count: 101 }),
    () => standing.runStandingProgram({ id, inputJson: "[]" }),
    () => standing.runStandingProgram({ id, idempotencyKey: "k".repeat(256) }),
    () => standing.listStandingPrograms({ pageSize: -1 }),
    () => standing.listStandingRuns({ standingProgramId: id, pageToken: "x" }),
  ];
  const reasons: string[] = [];
  for (const call of refusals) reasons.push((await refusalOf(call())).reason);
  expect(reasons).toEqual([
    "STANDING_SLUG_TAKEN",
    "STANDING_SLUG_INVALID",
    "STANDING_VERSION_STALE",
    "PREVIEW_COUNT_INVALID",
    "INPUT_MISMATCH",
    "IDEMPOTENCY_KEY_INVALID",
    "PAGE_SIZE_NEGATIVE",
    "PAGE_TOKEN_INVALID",
  ]);
  const destroying = definitionText({
    program: {
      version: 1,
      title: "Destroy",
      approval: { plan: "destructive" },
      steps: [{ id: "d", call: "desk.delete_note", entity: "ops", args: { id: "n", confirm: true } }],
    },
  });
  const byMember = as("member").createStandingProgram({ slug: "destroys", definitionJson: destroying });
  expect(await refusalOf(byMember)).toMatchObject({ reason: "APPROVER_ROLE_REQUIRED" });
  const { standingProgram } = await standing.createStandingProgram({ slug: "destroys", definitionJson: destroying });
  expect(standingProgram?.needsApproval).toBe(true);
  const destroyer = standingProgram?.id ?? "";
  // Nothing is deleted before people have approved the program.
  expect(standingProgram).toMatchObject({ state: StandingState.PENDING_APPROVAL, pendingVersion: 1 });
  expect(await refusalOf(standing.runStandingProgram({ id: destroyer }))).toMatchObject({
    reason: "STANDING_PROGRAM_NOT_ACTIVE",
  });
});

test("a policy that is raised pauses what it holds, until an approver's key adopts it", async () => {
  world.goTo("2026-03-11T09:00:30Z");
  const { projectId, standing, runs, decide } = await world.project();
  const definitionJson = definitionText({});
  const { standingProgram } = await standing.createStandingProgram({ slug: "held", definitionJson });
  const id = standingProgram?.id ?? "";
  await setProjectPolicy(database.db, projectId, { planApproval: "always", redirectUrls: [] });
  world.goTo("2026-03-11T09:15:00Z");
  const [run] = await runs(id, 1);
  expect(run && stateOf(run)).toBe("refused approval");
  expect((await standing.getStandingProgram({ id })).standingProgram?.pauseReason).toBe("approval");
  expect(await refusalOf(standing.resumeStandingProgram({ id }))).toMatchObject({ reason: "PAUSE_CAUSE_STANDS" });
  const { standingProgram: asked } = await standing.updateStandingProgram({ id, definitionJson });
  expect(asked).toMatchObject({ version: 1, pendingVersion: 2, pauseReason: "approval" });
  expect(await refusalOf(standing.resumeStandingProgram({ id }))).toMatchObject({ reason: "PAUSE_CAUSE_STANDS" });
  await decide(id, "proceed");
  const { standingProgram: adopted } = await standing.getStandingProgram({ id });
  expect(adopted).toMatchObject({ version: 2, pendingVersion: 0, pauseReason: "", needsApproval: true });
});

test("two nodes that fail at random start each occurrence once", async () => {
  world.goTo("2026-03-12T09:00:00Z");
  const { standing, runs } = await world.project();
  let failures = 0;
  let passes = 0;
  const fails = {
    limits: { standing: { batchMax: 3, projectRunsMax: 1_000 } },
    observer: { standing: { ...silentStandingObserver, failed: () => void failures++ } },
    onStandingFaultPoint: () => {
      if (++passes % 4 === 0) throw new Error("a node fails here");
    },
  };
  const at = Array.from({ length: 12 }, (_, place) => new Date(Date.UTC(2026, 2, 12, 9, place + 1)).toISOString());
  const definitionJson = definitionText({
    source: { schedule: { at } },
    overlap: { policy: "allow" },
    program: waiting,
  });
  const ids: string[] = [];
  for (let index = 0; index < 6; index++) {
    const { standingProgram } = await standing.createStandingProgram({ slug: `p${index}`, definitionJson });
    ids.push(standingProgram?.id ?? "");
  }
  {
    await using one = world.addNode({ ...fails, engines: ["standing"] });
    await using other = world.addNode({ ...fails, engines: ["standing"] });
    for (let place = 1; place <= 12; place++) {
      world.goTo(Date.UTC(2026, 2, 12, 9, place, 5));
      for (const id of ids) await runs(id, place);
    }
    expect([one.nodeId, other.nodeId]).not.toContain(world.node.nodeId);
  }
  expect(failures).toBeGreaterThan(0);
  for (const id of ids) {
    const made = await runs(id, 12);
    expect(made.map(({ fireAt }) => new Date(Number(fireAt?.seconds) * 1000).toISOString())).toEqual(at);
    expect(new Set(made.map(({ jobId }) => jobId)).size).toBe(12);
  }
});

const waiting = { version: 1, title: "Wait", steps: [{ id: "w", wait: "9h" }] };
