import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { TriggersService } from "@svc/gen/triggers";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { startTestReceiver } from "@svc/testing/receiver";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createStandingWorld,
  definitionText,
  type StandingProject,
  type StandingWorld,
  settled,
} from "./test-standing.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
let database: TestDatabase;
let world: StandingWorld;
beforeAll(async () => {
  database = await createTestDatabase();
  const health = { backoffMinMs: 100, backoffMaxMs: 100, failingMaxMs: 1, goneMaxMs: 60_000, goneMin: 3 };
  world = createStandingWorld(database.db, {
    engines: ["jobs", "standing", "deliveries"],
    limits: { deliveries: { health, retryScheduleMs: [100, 100, 100, 100] } },
  });
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

/** Starts on an operational event, and fails with a text from its payload. */
function reporting(slug: string, text: string): string {
  return definitionText({
    source: { trigger: { slug } },
    input: { text: { $ref: text } },
    program: {
      version: 1,
      title: "Report",
      inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
      input: { text: "" },
      steps: [{ id: "stop", fail: "about {input.text}" }],
    },
  });
}

/** Creates a program, and returns a function that waits for its only run and returns the error of the run's job. */
async function starting(project: StandingProject, definitionJson: string) {
  const { standingProgram } = await project.standing.createStandingProgram({ slug: "report", definitionJson });
  return async () => {
    const [run] = await project.runs(standingProgram?.id ?? "", 1);
    const job = await settled(async () => {
      const { job: found } = await project.jobs.getJob({ id: run?.jobId ?? "" });
      return found?.finishedAt !== undefined && found;
    });
    expect(await project.runs(standingProgram?.id ?? "", 1)).toHaveLength(1);
    return job.lastError;
  };
}

async function eventsOf({ projectId }: StandingProject) {
  const triggers = world.node.client(TriggersService, { projectId, role: "member" });
  const { events } = await triggers.listEvents({ toolkitSlug: "svc" });
  return events.map(({ triggerSlug, payloadJson }) => ({ triggerSlug, payload: JSON.parse(payloadJson) as object }));
}

test("a dead endpoint fires svc.subscription_disabled, and a program starts on it", async () => {
  const project = await world.project();
  const triggers = world.node.client(TriggersService, { projectId: project.projectId, role: "approver" });
  await using dead = await startTestReceiver();
  dead.script({ status: 500 });
  const errorOfRun = await starting(project, reporting("svc.subscription_disabled", "event.payload.subscriptionId"));
  await using ops = await startTestReceiver();
  const withReason = async (reason: string) => {
    const filter = `event.payload.reason == '${reason}'`;
    const match = { triggerSlugs: ["svc.subscription_disabled"], filter };
    const created = await triggers.createSubscription({ endpointUrl: ops.url, toolkitSlug: "svc", match });
    return created.subscription?.id ?? "";
  };
  const [failing, gone] = [await withReason("failing"), await withReason("gone")];
  const { subscription } = await triggers.createSubscription({ endpointUrl: dead.url });
  const subscriptionId = subscription?.id ?? "";
  await triggers.sendTestEvent({ subscriptionId });
  expect(await errorOfRun()).toContain(`about ${subscriptionId}`);
  expect((await triggers.getSubscription({ id: subscriptionId })).subscription?.inactiveReason).toBe("failing");
  // The failed job itself is not reported, because an operational event started it.
  expect(await eventsOf(project)).toMatchObject([
    { triggerSlug: "svc.subscription_disabled", payload: { subscriptionId, reason: "failing" } },
  ]);
  for (const [id, count] of [
    [failing, 1],
    [gone, 0],
  ] as const) {
    expect((await triggers.listDeliveries({ subscriptionId: id })).deliveries).toHaveLength(count);
    expect((await triggers.previewSubscription({ id })).matched).toBe(count);
  }
});

test("when svc deactivates an endpoint, the program of the example sends one message that says why", async () => {
  const project = await world.project();
  const triggers = world.node.client(TriggersService, { projectId: project.projectId, role: "approver" });
  await using dead = await startTestReceiver();
  dead.script({ status: 503 });
  const example = JSON.parse(readFileSync(`${root}docs/examples/standing/report-disabled-endpoints.json`, "utf8"));
  // The test app sends the message instead of the chat app.
  const [step] = example.program.steps;
  Object.assign(step, { call: "desk.send_note", entity: "ops", args: { text: step.args.text } });
  await project.standing.createStandingProgram({ slug: "report", definitionJson: JSON.stringify(example) });
  const { subscription } = await triggers.createSubscription({ endpointUrl: dead.url });
  const before = world.world.seen.length;
  await triggers.sendTestEvent({ subscriptionId: subscription?.id ?? "" });
  const sent = await settled(async () => world.world.seen.length > before && world.world.seen.slice(before));
  const text = `http://127.0.0.1:${dead.port} is deactivated: http_503, 1 deliveries waited`;
  expect(sent).toMatchObject([{ method: "POST", path: "/notes", body: { text } }]);
});

test("a failed job is reported once, and not a job that an operational event started", async () => {
  const project = await world.project();
  const errorOfRun = await starting(project, reporting("svc.job_failed", "event.payload.jobId"));
  const programJson = JSON.stringify({ version: 1, title: "Stops", steps: [{ id: "stop", fail: "It stops" }] });
  const { job } = await project.jobs.submitJob({ programJson });
  expect(await errorOfRun()).toContain(`about ${job?.id}`);
  const payload = { jobId: job?.id, status: "failed", title: "Stops", standingProgramId: "" };
  expect(await eventsOf(project)).toMatchObject([
    { triggerSlug: "svc.job_failed", payload: { ...payload, lastError: expect.stringContaining("It stops") } },
  ]);
  // A project that names no operational event has none.
  const other = await world.project();
  const { job: unheard } = await other.jobs.submitJob({ programJson, waitSeconds: 20 });
  expect(unheard?.lastError).toContain("It stops");
  expect(await eventsOf(other)).toEqual([]);
});

test("a filter selects operational events in a delivery, a replay, a poll and after a pause exactly as its preview says", async () => {
  const project = await world.project();
  const triggers = world.node.client(TriggersService, { projectId: project.projectId, role: "approver" });
  await using ops = await startTestReceiver();
  const subscribe = async (filter: string, triggerSlugs = ["svc.job_failed"]) => {
    const request = { endpointUrl: ops.url, toolkitSlug: "svc", match: { triggerSlugs, filter } };
    return (await triggers.createSubscription(request)).subscription?.id ?? "";
  };
  const deliveredTo = async (subscriptionId: string) =>
    (await triggers.listDeliveries({ subscriptionId })).deliveries.map(({ eventId }) => eventId).toSorted();
  const filter = "event.payload.title.startsWith('Bill') && event.type == 'svc.job_failed' && event.id != ''";
  const accepting = await subscribe(filter);
  const refusing = await subscribe("event.payload.status == 'expired'");
  const faulty = await subscribe("event.payload.quota == 'jobs'", []);
  const paused = await subscribe(filter);
  await triggers.updateSubscription({ id: paused, paused: true });
  const since = timestampFromMs(world.now() - 60_000);
  for (const title of ["Bill", "Other", "Bills"]) {
    const programJson = JSON.stringify({ version: 1, title, steps: [{ id: "stop", fail: "It stops" }] });
    await project.jobs.submitJob({ programJson, waitSeconds: 20 });
  }
  const { events } = await triggers.listEvents({ toolkitSlug: "svc" });
  expect(events).toHaveLength(3);
  const wanted = events.flatMap(({ id, payloadJson }) => (payloadJson.includes('"Bill') ? id : [])).toSorted();
  expect(wanted).toHaveLength(2);
  expect(await deliveredTo(accepting)).toEqual(wanted);
  expect([await deliveredTo(refusing), await deliveredTo(faulty), await deliveredTo(paused)]).toEqual([[], [], []]);
  const preview = await triggers.previewSubscription({ id: accepting });
  expect(preview).toMatchObject({ scanned: 3, matched: 2, faulty: 0 });
  expect(preview.requests.map(({ eventId }) => eventId).toSorted()).toEqual(wanted);
  expect(await triggers.previewSubscription({ id: refusing })).toMatchObject({ scanned: 3, matched: 0, faulty: 0 });
  expect(await triggers.previewSubscription({ id: faulty })).toMatchObject({ scanned: 3, matched: 0, faulty: 3 });
  const health = async (id: string) => (await triggers.getSubscription({ id })).subscription?.health?.filterFaults;
  await settled(async () => (await health(faulty)) === 3);
  expect([await health(accepting), await health(refusing)]).toEqual([0, 0]);

  const polled = await triggers.pollEvents({ since, toolkitSlug: "svc", triggerSlugs: ["job_failed"], filter });
  expect(polled.events.map(({ id }) => id).toSorted()).toEqual(wanted);
  const later = await subscribe(filter);
  const until = timestampFromMs(world.now() + 1);
  expect((await triggers.replayEvents({ since, until, subscriptionId: later })).count).toBe(2);
  expect(await deliveredTo(later)).toEqual(wanted);
  await triggers.updateSubscription({ id: paused, paused: false });
  await settled(async () => (await deliveredTo(paused)).length === 2);
  expect(await deliveredTo(paused)).toEqual(wanted);
});
