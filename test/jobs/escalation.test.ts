import { createProject } from "@svc/db/projects/repo";
import { ConnectionsService } from "@svc/gen/connections";
import { ContactsService } from "@svc/gen/contacts";
import { AskState, JobStatus, JobsService } from "@svc/gen/jobs";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, type TestNode } from "@svc/testing/node";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readText } from "../source.ts";

// Runs docs/examples/escalate-unanswered-ask.json with a test clock, so that hours pass at once.

const clock = createTestClock();
const programJson = readText("docs/examples/escalate-unanswered-ask.json");
let database: TestDatabase;
let node: TestNode;
let jobs: ReturnType<typeof clientOf>;

function clientOf(projectId: Awaited<ReturnType<typeof createProject>>["id"]) {
  return node.client(JobsService, { projectId });
}

beforeAll(async () => {
  database = await createTestDatabase();
  const catalog = await shippedCatalog();
  node = createTestNode(database.db, { clock, catalog, sandboxMode: "force", engines: ["jobs"] });
  const { id: projectId } = await createProject(database.db, "escalation", clock.now());
  jobs = clientOf(projectId);
  const connections = node.client(ConnectionsService, { projectId });
  for (const toolkitSlug of ["sales_crm", "messaging_bot"]) {
    await connections.initiateConnection({ toolkitSlug, entityId: "ops", scheme: "api_key", apiKey: "sandbox" });
  }
  const contacts = node.client(ContactsService, { projectId });
  for (const principalId of ["lead", "head"])
    await contacts.putContact({ contact: { principalId, name: principalId } });
});
afterAll(async () => {
  await node?.[Symbol.asyncDispose]();
  await database?.drop();
});

async function ask(): Promise<string> {
  const { job } = await jobs.submitJob({ programJson });
  const id = job?.id ?? "";
  await until(async () => (await jobs.getJob({ id })).job?.pendingAsk !== undefined);
  return id;
}

/** Moves the clock by some hours, and waits until the question is with the given person or is settled. */
async function pass(id: string, hours: number, principalId: string) {
  clock.advance(hours * 3_600_000 + 1_000);
  node.jobs.engine.wake();
  await until(async () => {
    node.jobs.engine.wake();
    return ((await jobs.getJob({ id })).job?.pendingAsk?.principalId ?? "") === principalId;
  });
  return (await jobs.listAsks({ jobId: id })).asks[0];
}

async function ended(id: string) {
  await until(async () => (await jobs.getJob({ id })).job?.finishedAt !== undefined);
  return (await jobs.getJob({ id })).job;
}

test("a question that nobody answers climbs in its time, and whoever it reached may answer", async () => {
  const id = await ask();
  const first = (await jobs.listAsks({ jobId: id })).asks[0];
  expect(first).toMatchObject({ principalId: "lead", hopIndex: 0, question: expect.stringContaining("3 open deals") });
  // An answer from a later contact, who has not been asked yet, has no effect.
  const early = jobs.answerAsk({ jobId: id, principalId: "head", continuation: "proceed" });
  await expect(early).rejects.toThrow("has not reached");
  const second = await pass(id, 1, "head");
  expect(second).toMatchObject({ hopIndex: 1, deliveredPrincipals: ["lead", "head"] });
  const found = await jobs.getAsk({ requestId: second?.requestId ?? "" });
  expect(found.ask).toEqual(second);
  await jobs.answerAsk({ jobId: id, principalId: "lead", continuation: "proceed" });
  const job = await ended(id);
  expect(job).toMatchObject({
    status: JobStatus.SUCCEEDED,
    receipt: { resultJson: '{"open":3}', asks: { answered: 1 } },
  });
  const { events } = await jobs.listJobEvents({ jobId: id });
  expect(events.filter(({ type }) => type === "ask-escalated")).toHaveLength(1);
});

test("when the ladder is over the declared default is applied, and nothing was sent", async () => {
  const id = await ask();
  await pass(id, 1, "head");
  await pass(id, 4, "owner");
  const settled = await pass(id, 24, "");
  expect(settled).toMatchObject({ state: AskState.DEFAULTED, decision: { continuation: "abort", surface: "timeout" } });
  expect(await ended(id)).toMatchObject({ status: JobStatus.ABORTED, receipt: { calls: { write: 0 } } });
});
