import { toJsonString } from "@bufbuild/protobuf";
import { createId } from "@svc/core";
import { contactsForProject } from "@svc/db/contacts/repo";
import { eventsForProject } from "@svc/db/events/repo";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { AskSchema, AskState, JobStatus } from "@svc/gen/jobs";
import { createTestDatabase } from "@svc/testing/database";
import { createTestNode, jobOf, programText, type TestNode, type TestProject } from "@svc/testing/jobs-node";
import { refusalsOf } from "@svc/testing/project-client";
import { afterAll, expect, test } from "vitest";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const point = {
  question: "Go on with {rows.fetch}?",
  continuations: ["proceed", "retry-with", "abort"],
  overrides: { target: "params", rerunFrom: "fetch" },
  answerSchema: {
    type: "object",
    additionalProperties: false,
    properties: { least: { type: "number" } },
  },
  escalation: [{ principal: "owner", timeout: "1h" }],
  default: { continuation: "abort" },
};
const fetchItems = {
  id: "fetch",
  call: "desk.list_items",
  entity: "ops",
  rows: { from: "items[]", key: "id", keep: ["id", "secret"] },
};
const asking = programText({
  params: { least: 1 },
  steps: [fetchItems, { id: "gate", judge: "sure" }],
  points: { sure: point },
});
const gated = programText({
  steps: [{ id: "gone", call: "desk.delete_note", entity: "ops", args: { id: "n1", confirm: true } }],
});

async function parked(node: TestNode, { client }: TestProject, programJson = asking): Promise<string> {
  const { id } = jobOf(await client.submitJob({ programJson }));
  await node.reach(id, "parked", "pending_plan_approval");
  return id;
}

test("a question is on the job without its read surface, and whole in GetAsk and ListAsks", async () => {
  await using node = createTestNode(db);
  const project = await node.project();
  const { client } = project;
  const jobId = await parked(node, project);
  const job = jobOf(await client.getJob({ id: jobId }));
  const requestId = job.park?.judgment?.requestId ?? "";
  expect(job.pendingAsk).toMatchObject({
    pointId: "sure",
    principalId: "owner",
    hopIndex: 0,
    deliveredPrincipals: ["owner"],
    jobId: "",
    requestId: "",
    question: "",
    state: AskState.UNSPECIFIED,
    continuations: [],
    escalation: [],
  });
  const { ask } = await client.getAsk({ jobId, requestId });
  expect(ask).toMatchObject({
    jobId,
    requestId,
    state: AskState.PENDING,
    question: "Go on with 3?",
    answerSchemaJson: JSON.stringify(point.answerSchema),
    continuations: point.continuations,
    escalation: [{ principalId: "owner", timeoutSeconds: 3600 }],
    stepId: "gate",
    delivery: "",
    exhausted: false,
  });
  expect(ask?.decision).toBeUndefined();
  expect((await client.listAsks({})).asks).toEqual([ask]);
});

test("an answer moves the job in its own transaction, and the decision is read from the ask", async () => {
  await using node = createTestNode(db);
  const project = await node.project();
  const { client, keyId } = project;
  const jobId = await parked(node, project);
  const requestId = jobOf(await client.getJob({ id: jobId })).park?.judgment?.requestId ?? "";
  const overridesJson = '{"least": 2}';
  const answer = { jobId, requestId, principalId: "owner", continuation: "retry-with", overridesJson, note: "more" };
  const moved = jobOf(await client.answerAsk(answer));
  // The engine may already have asked the question again. This is a new ask with another id.
  expect(moved.park?.judgment?.requestId).not.toBe(requestId);
  expect((await client.getAsk({ jobId, requestId })).ask).toMatchObject({
    state: AskState.ANSWERED,
    decision: { continuation: "retry-with", principalId: "owner", keyId, surface: "api", note: "more", overridesJson },
  });
  await node.reach(jobId, "parked");
  expect(await refusalsOf(client.answerAsk(answer))).toMatchObject({ details: [{ reason: "ASK_SETTLED" }] });
  jobOf(await client.answerAsk({ jobId, principalId: "owner", continuation: "proceed" }));
  await node.reach(jobId, "succeeded");
});

test("a plan that is refused is rejected with the answer, and nothing was executed", async () => {
  await using node = createTestNode(db);
  const project = await node.project();
  const { client } = project;
  const jobId = await parked(node, project, gated);
  const { planApprovalId } = jobOf(await client.getJob({ id: jobId }));
  const [ask] = (await client.listAsks({ jobId })).asks;
  expect(ask).toMatchObject({ pointId: "approval", approvalId: planApprovalId, stepId: "", escalation: [] });
  expect(ask?.deadlineAt).toBeUndefined();
  const answer = { jobId, principalId: "owner", continuation: "abort" };
  expect(await refusalsOf(project.as("member").answerAsk(answer))).toMatchObject({
    code: "PermissionDenied",
    details: [{ reason: "APPROVER_ROLE_REQUIRED" }],
  });
  const stranger = project.as("approver", createId("key", 1));
  expect(await refusalsOf(stranger.answerAsk(answer))).toMatchObject({
    details: [{ reason: "APPROVAL_KEY_MISMATCH" }],
  });
  const job = jobOf(await client.answerAsk(answer));
  expect(job).toMatchObject({ status: JobStatus.REJECTED, receipt: { outcome: "none", asks: { refusedAnswers: 2 } } });
  expect(node.world.seen).toEqual([]);
});

test("the approval of a plan that was simulated first shows the simulation's receipt", async () => {
  await using node = createTestNode(db);
  const project = await node.project();
  const { id: jobId } = jobOf(await project.client.submitJob({ programJson: gated, simulateFirst: true }));
  await node.reach(jobId, "pending_plan_approval");
  const [ask] = (await project.client.listAsks({ jobId })).asks;
  const { simulation } = await project.client.getJob({ id: jobId });
  expect(ask?.simulationReceipt).toEqual(simulation?.receipt);
  expect(simulation?.receipt).toBeDefined();
});

test("the filters of ListAsks combine, and its pages are newest first and without gap", async () => {
  await using node = createTestNode(db);
  const project = await node.project();
  const { client } = project;
  const first = await parked(node, project);
  const second = await parked(node, project);
  await client.answerAsk({ jobId: first, principalId: "owner", continuation: "proceed" });
  const jobsOf = async (filter: Parameters<typeof client.listAsks>[0]) =>
    (await client.listAsks(filter)).asks.map(({ jobId }) => jobId);
  expect(await jobsOf({})).toEqual([second, first]);
  expect(await jobsOf({ state: AskState.PENDING })).toEqual([second]);
  expect(await jobsOf({ state: AskState.ANSWERED, principalId: "owner" })).toEqual([first]);
  expect(await jobsOf({ state: AskState.DEFAULTED })).toEqual([]);
  expect(await jobsOf({ principalId: "nobody\0" })).toEqual([]);
  expect(await jobsOf({ jobId: first, state: AskState.PENDING })).toEqual([]);
  expect(await jobsOf({ standingProgramId: "s" })).toEqual([]);
  const page = await client.listAsks({ pageSize: 1 });
  expect(page.asks.map(({ jobId }) => jobId)).toEqual([second]);
  const rest = await client.listAsks({ pageSize: 1, pageToken: page.nextPageToken });
  expect([rest.asks.map(({ jobId }) => jobId), rest.nextPageToken]).toEqual([[first], ""]);
  const foreign = client.listAsks({ pageToken: page.nextPageToken, jobId: first });
  expect(await refusalsOf(foreign)).toMatchObject({ details: [{ reason: "PAGE_TOKEN_INVALID" }] });
  expect(await refusalsOf(client.listAsks({ pageSize: -1 }))).toMatchObject({
    details: [{ reason: "PAGE_SIZE_NEGATIVE" }],
  });
});

test("another project sees nothing of a job's asks, and a job without the ask says which is missing", async () => {
  await using node = createTestNode(db);
  const [project, stranger] = [await node.project(), await node.project()];
  const jobId = await parked(node, project);
  const [ask] = (await project.client.listAsks({})).asks;
  const requestId = ask?.requestId ?? "";
  const { client } = stranger;
  expect((await client.listAsks({})).asks).toEqual([]);
  expect((await client.listAsks({ jobId })).asks).toEqual([]);
  const missing = { code: "NotFound", details: [{ reason: "JOB_NOT_FOUND", field: "jobId" }] };
  expect(await refusalsOf(client.getAsk({ jobId, requestId }))).toEqual(missing);
  expect(await refusalsOf(client.answerAsk({ jobId, principalId: "owner", continuation: "proceed" }))).toEqual(missing);
  const noAsk = { code: "NotFound", details: [{ reason: "ASK_NOT_FOUND", field: "requestId" }] };
  for (const id of ["", createId("ask", 1)]) {
    expect(await refusalsOf(project.client.getAsk({ jobId, requestId: id }))).toEqual(noAsk);
  }
  expect((await project.client.getAsk({ jobId, requestId })).ask?.state).toBe(AskState.PENDING);
});

test("ask endpoints are the project's own, checked as subscriptions are, and show their secret once", async () => {
  await using node = createTestNode(db, { isStarted: false });
  const [project, stranger] = [await node.project(), await node.project()];
  const { client, projectId } = project;
  const refuse = async (endpointUrl: string) =>
    (await refusalsOf(client.createAskEndpoint({ endpointUrl }))).details.map(({ reason }) => reason);
  expect(await refuse("")).toEqual(["ENDPOINT_URL_INVALID"]);
  expect(await refuse("http://example.com/")).toEqual(["ENDPOINT_URL_NOT_HTTPS"]);
  expect(await refuse("https://169.254.169.254/")).toEqual(["ENDPOINT_ADDRESS_REFUSED"]);
  const made = await client.createAskEndpoint({ endpointUrl: "https://example.com/asks" });
  expect(made.signingSecret).toMatch(/^whsec_[A-Za-z0-9+/=]{44}$/);
  expect(made.askEndpoint).toMatchObject({ endpointUrl: "https://example.com/asks", active: true, inactiveReason: "" });
  const id = made.askEndpoint?.id ?? "";
  expect(id).toMatch(/^aep_/);
  await client.createAskEndpoint({ endpointUrl: "https://example.com/more" });
  const page = await client.listAskEndpoints({ pageSize: 1 });
  expect(page.askEndpoints.map(({ endpointUrl }) => endpointUrl)).toEqual(["https://example.com/more"]);
  const rest = await client.listAskEndpoints({ pageSize: 1, pageToken: page.nextPageToken });
  expect([rest.askEndpoints, rest.nextPageToken]).toEqual([[made.askEndpoint], ""]);
  expect(await subscriptionsForProject(db, projectId).list({ after: undefined, limit: 10 })).toEqual([]);
  expect((await stranger.client.listAskEndpoints({})).askEndpoints).toEqual([]);
  const missing = { code: "NotFound", details: [{ reason: "ASK_ENDPOINT_NOT_FOUND", field: "id" }] };
  expect(await refusalsOf(stranger.client.deleteAskEndpoint({ id }))).toEqual(missing);
  await client.deleteAskEndpoint({ id });
  expect(await refusalsOf(client.deleteAskEndpoint({ id }))).toEqual(missing);
  expect(await refusalsOf(client.deleteAskEndpoint({ id: "sub_1" }))).toMatchObject({
    details: [{ reason: "ID_MALFORMED" }],
  });
});

test("no field of a row is in what is asked, logged, published or sent to a contact", async () => {
  await using node = createTestNode(db);
  const project = await node.project();
  const { client, projectId } = project;
  await client.createAskEndpoint({ endpointUrl: "https://example.com/asks" });
  const reach = { toolSlug: "desk.send_note", entityId: "ops", args: { text: "{question} {jobId} {requestId}" } };
  const contact = { principalId: "owner", name: "Owner", isApprover: true, reach, createdAt: 1 };
  await contactsForProject(db, projectId).put(contact, 10);
  const jobId = await parked(node, project);
  const requestId = jobOf(await client.getJob({ id: jobId })).park?.judgment?.requestId ?? "";
  const read = async () => (await client.getAsk({ jobId, requestId })).ask;
  for (;;) {
    const ask = await read();
    if (ask?.toolCallId !== "" && ask?.delivery === "pending") break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const published = await db.sql<{ id: string; payload: string }[]>`select id, payload from events where kind = 'ask'`;
  expect(published.map(({ payload }) => JSON.parse(payload))).toMatchObject([{ jobId, ask: { requestId } }]);
  const { events } = await client.listJobEvents({ jobId });
  const ask = await read();
  const texts = [
    JSON.stringify(published),
    JSON.stringify(node.world.seen.map(({ body }) => body)),
    JSON.stringify(events.map(({ payloadJson }) => payloadJson)),
    ask === undefined ? "" : toJsonString(AskSchema, ask),
  ];
  expect(texts.join("\n")).toContain(requestId);
  expect(texts.join("\n")).not.toContain("marker-");
  expect(events.every(({ payloadJson }) => Buffer.byteLength(payloadJson) <= 4_096)).toBe(true);
  const filter = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
  expect(await eventsForProject(db, projectId).list(filter, { after: undefined, limit: 10 })).toEqual([]);
});
