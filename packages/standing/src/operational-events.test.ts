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
  const { subscription } = await triggers.createSubscription({ endpointUrl: dead.url });
  const subscriptionId = subscription?.id ?? "";
  await triggers.sendTestEvent({ subscriptionId });
  expect(await errorOfRun()).toContain(`about ${subscriptionId}`);
  expect((await triggers.getSubscription({ id: subscriptionId })).subscription?.inactiveReason).toBe("failing");
  // The failed job itself is not reported, because an operational event started it.
  expect(await eventsOf(project)).toMatchObject([
    { triggerSlug: "svc.subscription_disabled", payload: { subscriptionId, reason: "failing" } },
  ]);
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
