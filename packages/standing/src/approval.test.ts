import { setProjectPolicy } from "@svc/db/projects/repo";
import { JobStatus } from "@svc/gen/jobs";
import { StandingState } from "@svc/gen/standing";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { refusalOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  clearing,
  createStandingWorld,
  definitionText,
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

const yearly = { schedule: { at: ["2027-01-01T00:00:00Z"] } };
const destructive = clearing("n1");
const deleted = (note: string) =>
  world.world.seen.filter(({ method, path }) => method === "DELETE" && path === `/notes/${note}`).length;

test("acceptance 12: a destructive program asks once; its runs ask nobody again", async () => {
  world.goTo("2026-04-01T09:00:30Z");
  const { standing, jobs, keyId, decide, runs } = await world.project();
  const definitionJson = definitionText({
    program: clearing("often"),
    source: { schedule: { every: "1m" } },
    overlap: { policy: "allow" },
  });
  const { standingProgram } = await standing.createStandingProgram({ slug: "clears", definitionJson });
  const id = standingProgram?.id ?? "";
  expect(standingProgram).toMatchObject({ state: StandingState.PENDING_APPROVAL, nextTimes: [], approvalId: "" });
  const { jobs: rehearsals } = await jobs.listJobs({ mode: "rehearse" });
  expect(rehearsals).toMatchObject([
    { mode: "rehearse", status: JobStatus.PENDING_PLAN_APPROVAL, standingProgramId: id, standingRunId: "" },
  ]);
  expect(rehearsals[0]?.park?.judgment?.question).toMatch(
    /^Approve .* for all runs of a standing program\? A run makes at most/,
  );
  expect((await jobs.listJobs({})).jobs).toEqual([]);
  expect((await jobs.listJobs({ standingProgramId: id })).jobs.map((job) => job.id)).toEqual([rehearsals[0]?.id]);
  const { events } = await jobs.listJobEvents({ jobId: rehearsals[0]?.id ?? "" });
  expect(events[0]?.principalChain).toEqual([`key:${keyId}`, `standing:${id}`]);
  await decide(id, "proceed");
  const { job } = await jobs.getJob({ id: rehearsals[0]?.id ?? "" });
  expect(job).toMatchObject({ status: JobStatus.SUCCEEDED, receipt: { outcome: "none", calls: {} }, stepReceipts: [] });
  expect(deleted("often")).toBe(0);
  const { standingProgram: active, versions } = await standing.getStandingProgram({ id });
  expect(active).toMatchObject({ state: StandingState.ACTIVE, pendingVersion: 0, approvalId: job?.planApprovalId });
  expect(versions).toMatchObject([
    { version: 1, approval: "granted", jobId: job?.id, approvalId: job?.planApprovalId },
  ]);
  // `npm run test:crash` makes all hundred runs.
  const count = Number(process.env["SVC_STANDING_RUNS_AFTER_APPROVAL"] ?? 4);
  for (let minute = 1; minute <= count; minute++) {
    world.goTo(Date.UTC(2026, 3, 1, 9, minute, 5));
    await runs(id, minute);
  }
  const made = await settled(async () => {
    const found = await runs(id, count);
    return found.every(({ jobStatus }) => jobStatus === "succeeded") && found;
  });
  expect(deleted("often")).toBe(count);
  expect((await jobs.listAsks({ standingProgramId: id })).asks).toHaveLength(1);
  const { job: run } = await jobs.getJob({ id: made[0]?.jobId ?? "" });
  expect(run?.planApprovalId).toBe(job?.planApprovalId);
});

test("who says no rejects the version: the program stands paused, and asks anew for another one", async () => {
  world.goTo("2026-04-02T09:00:30Z");
  const { standing, jobs, decide } = await world.project();
  const definitionJson = definitionText({ program: destructive, source: yearly });
  const { standingProgram } = await standing.createStandingProgram({ slug: "clears", definitionJson });
  const id = standingProgram?.id ?? "";
  await decide(id, "abort");
  const { standingProgram: rejected, versions } = await standing.getStandingProgram({ id });
  expect(rejected).toMatchObject({ state: StandingState.PAUSED, pauseReason: "approval", pendingVersion: 0 });
  expect(versions).toMatchObject([{ approval: "rejected" }]);
  const { jobs: rehearsals } = await jobs.listJobs({ mode: "rehearse" });
  expect(rehearsals).toMatchObject([{ status: JobStatus.REJECTED, receipt: { outcome: "none" } }]);
  expect(await refusalOf(standing.resumeStandingProgram({ id }))).toMatchObject({ reason: "PAUSE_CAUSE_STANDS" });
  expect(await refusalOf(standing.runStandingProgram({ id }))).toMatchObject({ reason: "STANDING_PROGRAM_NOT_ACTIVE" });
  const { standingProgram: again } = await standing.updateStandingProgram({ id, definitionJson });
  expect(again).toMatchObject({ state: StandingState.PENDING_APPROVAL, version: 2, pendingVersion: 2 });
  await decide(id, "proceed");
  expect((await standing.getStandingProgram({ id })).standingProgram?.state).toBe(StandingState.ACTIVE);
});

test("a rehearsal is none that anybody submits, retries, reruns or promotes; who cancels it rejects the version", async () => {
  world.goTo("2026-04-03T09:00:30Z");
  const { standing, jobs, decide } = await world.project();
  const definitionJson = definitionText({ program: destructive, source: yearly });
  const submitted = jobs.submitJob({ programJson: JSON.stringify(destructive), mode: "rehearse" });
  expect(await refusalOf(submitted)).toMatchObject({ reason: "MODE_INVALID" });
  const { standingProgram } = await standing.createStandingProgram({ slug: "clears", definitionJson });
  const id = standingProgram?.id ?? "";
  const [first] = (await jobs.listJobs({ mode: "rehearse" })).jobs;
  await jobs.cancelJob({ id: first?.id ?? "" });
  const rejected = await settled(async () => {
    const { standingProgram: now } = await standing.getStandingProgram({ id });
    return now?.state === StandingState.PAUSED && now;
  });
  expect(rejected.pauseReason).toBe("approval");
  await standing.updateStandingProgram({ id, definitionJson });
  await decide(id, "proceed");
  const [second] = (await jobs.listJobs({ mode: "rehearse" })).jobs;
  for (const one of [first, second]) {
    const reasons: string[] = [];
    for (const call of [
      () => jobs.retryJob({ id: one?.id ?? "" }),
      () => jobs.rerunJob({ id: one?.id ?? "" }),
      () => jobs.promoteJob({ jobId: one?.id ?? "", slug: "clear", description: "Clears a note of the desk." }),
    ]) {
      reasons.push((await refusalOf(call())).reason);
    }
    expect(reasons).toEqual(["JOB_NOT_RETRYABLE", "JOB_NOT_RETRYABLE", "JOB_NOT_PROMOTABLE"]);
  }
});

test("acceptance 13: a larger estimate or a larger day asks anew, and the old version runs meanwhile; what is covered asks nobody", async () => {
  world.goTo("2026-04-04T09:00:30Z");
  const { standing, jobs, decide, runs } = await world.project();
  const text = (change: object, program: object = destructive) =>
    definitionText({ program, source: { schedule: { every: "30m" } }, ...change });
  const { standingProgram } = await standing.createStandingProgram({ slug: "clears", definitionJson: text({}) });
  const id = standingProgram?.id ?? "";
  await decide(id, "proceed");
  const update = async (definitionJson: string) =>
    (await standing.updateStandingProgram({ id, definitionJson })).standingProgram;
  // The new definition starts less often and has another title and overlap policy. It does nothing else and nothing more, so the approval
  // still covers it.
  const covered = { title: "Clears", source: { schedule: { every: "45m" } }, overlap: { policy: "queueAll" } };
  const first = (await standing.getStandingProgram({ id })).standingProgram?.approvalId;
  expect(await update(text(covered))).toMatchObject({ version: 2, pendingVersion: 0, approvalId: first });
  // The limits of the approved version count, not those of the present version.
  expect(await update(text({}))).toMatchObject({ version: 3, pendingVersion: 0, approvalId: first });
  const two = { ...destructive.steps[0], id: "two" };
  const larger = { ...destructive, steps: [...destructive.steps, two] };
  for (const [version, definitionJson] of [
    [4, text({}, larger)],
    [5, text({ source: { schedule: { every: "15m" } } })],
    [6, text({ input: { day: { $ref: "fire.localDate" } } }, { ...destructive, inputSchema: { type: "object" } })],
  ] as const) {
    expect(await update(definitionJson)).toMatchObject({ version: 3, pendingVersion: version });
  }
  world.goTo("2026-04-04T09:30:05Z");
  const [run] = await runs(id, 1);
  expect(run).toMatchObject({ version: 3 });
  // Only one question is open at a time. Questions about versions that were replaced are withdrawn.
  const open = await settled(async () => {
    const found = (await jobs.listJobs({ mode: "rehearse" })).jobs.filter(({ finishedAt }) => finishedAt === undefined);
    return found.length === 1 && found;
  });
  expect(open).toHaveLength(1);
  const { versions } = await standing.getStandingProgram({ id });
  expect(versions.map(({ approval }) => approval)).toEqual([
    "pending",
    "superseded",
    "superseded",
    "granted",
    "granted",
    "granted",
  ]);
  await decide(id, "abort");
  expect((await standing.getStandingProgram({ id })).standingProgram).toMatchObject({
    ...{ version: 3, pendingVersion: 0, state: StandingState.ACTIVE },
  });
});

test("acceptance 14: a member's key cannot run or resume a granted program, and no other key may answer for it", async () => {
  world.goTo("2026-04-05T09:00:30Z");
  const { standing, as, key, decide } = await world.project();
  const definitionJson = definitionText({ program: destructive, source: yearly });
  const member = as("member");
  const refused = { reason: "APPROVER_ROLE_REQUIRED" };
  expect(await refusalOf(member.createStandingProgram({ slug: "no", definitionJson }))).toMatchObject(refused);
  const { standingProgram } = await standing.createStandingProgram({ slug: "clears", definitionJson });
  const id = standingProgram?.id ?? "";
  const other = await key();
  expect(await refusalOf(decide(id, "proceed", other))).toMatchObject({ reason: "APPROVAL_KEY_MISMATCH" });
  await decide(id, "proceed");
  expect(await refusalOf(member.runStandingProgram({ id }))).toMatchObject(refused);
  await member.pauseStandingProgram({ id });
  expect(await refusalOf(member.resumeStandingProgram({ id }))).toMatchObject(refused);
  expect(await refusalOf(member.updateStandingProgram({ id, definitionJson }))).toMatchObject(refused);
  await standing.resumeStandingProgram({ id });
  const { run } = await standing.runStandingProgram({ id });
  expect(run && stateOf(run)).toBe("started");
});

test("a member's key takes a failed run of a granted program on as it was approved, and neither changes nor repeats it", async () => {
  world.goTo("2026-04-05T10:00:30Z");
  const { standing, jobs, jobsAs, decide } = await world.project();
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: "unripe" } };
  const failing = clearing("ripe");
  const program = { ...failing, params: { unused: 1 }, steps: [look, ...failing.steps] };
  let isBroken = true;
  world.world.script = ({ path }) => (isBroken && path === "/items/unripe" ? { status: 404 } : undefined);
  const definitionJson = definitionText({ program, source: yearly });
  const { standingProgram } = await standing.createStandingProgram({ slug: "clears", definitionJson });
  const id = standingProgram?.id ?? "";
  await decide(id, "proceed");
  await standing.runStandingProgram({ id });
  const failed = await settled(async () => {
    const found = (await jobs.listJobs({ standingProgramId: id })).jobs.find(({ mode }) => mode === "live");
    return found?.status === JobStatus.FAILED && found;
  });
  isBroken = false;
  const member = jobsAs("member");
  const refused = { reason: "APPROVER_ROLE_REQUIRED" };
  expect(await refusalOf(member.retryJob({ id: failed.id, paramsJson: '{"unused": 2}' }))).toMatchObject(refused);
  expect(await refusalOf(member.rerunJob({ id: failed.id }))).toMatchObject(refused);
  expect(deleted("ripe")).toBe(0);
  await member.retryJob({ id: failed.id });
  await settled(async () => (await jobs.getJob({ id: failed.id })).job?.status === JobStatus.SUCCEEDED);
  expect(deleted("ripe")).toBe(1);
  // The waiting run was started; no second run was added.
  expect((await standing.listStandingRuns({ standingProgramId: id })).runs).toHaveLength(1);
  world.world.script = () => undefined;
});

test("a program that is simulated first is asked about with the receipt; a simulation that fails rejects it", async () => {
  world.goTo("2026-04-06T09:00:30Z");
  const { standing, jobs, decide } = await world.project();
  const program = {
    ...destructive,
    inputSchema: { type: "object", required: ["item"], properties: { item: { type: "string" } } },
    input: { item: "never" },
    steps: [
      { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.item" } } },
      ...clearing("simulated").steps,
    ],
  };
  const text = (item: string) => definitionText({ program, source: yearly, input: { item: { $text: item } } });
  const request = { slug: "clears", definitionJson: text("day-{fire.localDate}"), simulate: true };
  const { standingProgram } = await standing.createStandingProgram(request);
  const id = standingProgram?.id ?? "";
  const ask = await settled(async () => {
    const { asks } = await jobs.listAsks({ standingProgramId: id });
    return asks[0];
  });
  expect(ask.simulationReceipt).toMatchObject({ outcome: "complete", calls: { read: 1, destructive: 0 } });
  expect(world.world.seen.map(({ path }) => path)).toContain("/items/day-2027-01-01");
  await decide(id, "proceed");
  expect((await standing.getStandingProgram({ id })).standingProgram?.state).toBe(StandingState.ACTIVE);
  expect(deleted("simulated")).toBe(0);
  world.world.script = ({ path }) => (path === "/items/bad" ? { status: 404, body: {} } : undefined);
  const bad = await standing.createStandingProgram({ ...request, slug: "bad", definitionJson: text("bad") });
  const rejected = await settled(async () => {
    const { standingProgram: now } = await standing.getStandingProgram({ id: bad.standingProgram?.id ?? "" });
    return now?.state === StandingState.PAUSED && now;
  });
  expect(rejected.pauseDetail).toMatch(/^version 1 was not approved: its simulation failed: SIMULATION_FAILED/);
});

test("one that stands paused is asked about all the same, and paused once it is approved", async () => {
  world.goTo("2026-04-07T09:00:30Z");
  const { standing, decide } = await world.project();
  const definitionJson = definitionText({ program: destructive, source: yearly });
  const request = { slug: "clears", definitionJson, paused: true };
  const { standingProgram } = await standing.createStandingProgram(request);
  const id = standingProgram?.id ?? "";
  expect(standingProgram).toMatchObject({ state: StandingState.PENDING_APPROVAL, pauseReason: "requested" });
  await decide(id, "proceed");
  const { standingProgram: paused } = await standing.getStandingProgram({ id });
  expect(paused).toMatchObject({ state: StandingState.PAUSED, pauseReason: "requested", version: 1 });
  const { standingProgram: resumed } = await standing.resumeStandingProgram({ id });
  expect(resumed).toMatchObject({ state: StandingState.ACTIVE, pauseReason: "" });
});

test("a run that waits under a version that the policy holds by now is refused, and not started by the next one", async () => {
  world.goTo("2026-04-08T09:00:30Z");
  const { projectId, standing, jobs, decide, runs } = await world.project();
  const program = { version: 1, title: "Wait", steps: [{ id: "w", wait: "20h" }] };
  const definitionJson = definitionText({ program, source: yearly, overlap: { policy: "queueAll" } });
  const { standingProgram } = await standing.createStandingProgram({ slug: "waits", definitionJson });
  const id = standingProgram?.id ?? "";
  for (let count = 0; count < 2; count++) await standing.runStandingProgram({ id });
  await setProjectPolicy(database.db, projectId, { planApproval: "always", redirectUrls: [] });
  await standing.updateStandingProgram({ id, definitionJson });
  await decide(id, "proceed");
  const [first] = await runs(id, 2);
  await jobs.cancelJob({ id: first?.jobId ?? "" });
  const states = await settled(async () => {
    const found = (await runs(id, 2)).map(stateOf);
    return found[1] !== "queued overlap" && found;
  });
  expect(states).toEqual(["ended", "refused approval"]);
  const [, refused] = await runs(id, 2);
  expect(refused?.failure).toMatchObject({ code: "approval", title: expect.stringContaining("has no approval") });
  const { run } = await standing.runStandingProgram({ id });
  expect(run && stateOf(run)).toBe("started");
});
