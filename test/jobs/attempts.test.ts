import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addProject, type TestProject } from "../tools/project.ts";
import { answer, connectOps, hasEnded, isAsked, jobs, reach, readJob, readLog, submit } from "./project.ts";

// Retries of a job over the API: roles, approval, answers and refusals.

let server: TestServer;
let project: TestProject;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  project = await addProject(server, "attempts");
  await connectOps(server, project.approver);
  const body = { toolkitSlug: "sales_crm", entityId: "sandbox:error", scheme: "api_key", apiKey: "x" };
  const connected = await server.call("svc.v1.ConnectionsService/InitiateConnection", body, {
    bearer: project.approver,
  });
  expect(connected.code).toBe("ok");
});
afterAll(() => server?.stop());

const list = (entity: string) => ({
  id: "deals",
  call: "sales_crm.list_deals",
  entity,
  args: { limit: { $ref: "params.limit" } },
});
const failing = { params: { limit: 10, other: "x" }, steps: [list("sandbox:error")] };
const asMember = () => ({ bearer: project.member });
const asApprover = () => ({ bearer: project.approver });

function retry(id: string, request: object = {}, options = asMember()) {
  return server.call(jobs("RetryJob"), { id, ...request }, options);
}

test("a member's key takes a failed job on; each attempt keeps its receipt, and the log goes on", async () => {
  const id = await submit(server, failing, asMember());
  const first = await reach(server, id, hasEnded, asMember());
  expect(first).toMatchObject({ status: "JOB_STATUS_FAILED", attempt: 1, attempts: [] });
  const { json } = await retry(id, { idempotencyKey: "again" });
  expect(json.job).toMatchObject({ id, attempt: 2 });
  expect((await retry(id, { idempotencyKey: "again" })).json.job.attempt).toBe(2);
  const second = await reach(server, id, hasEnded, asMember());
  expect(second.attempts).toEqual([
    expect.objectContaining({
      attempt: 1,
      status: "JOB_STATUS_FAILED",
      receipt: first.receipt,
      lastError: first.lastError,
      finishedAt: first.finishedAt,
    }),
  ]);
  expect(second.receipt.calls.read).toBe(2 * first.receipt.calls.read);
  expect(second.receipt.receiptHash).not.toBe(first.receipt.receiptHash);
  expect(second.stepReceipts).toEqual([expect.objectContaining({ stepId: "deals", attempts: 2, state: "failed" })]);
  const log = await readLog(server, id, asMember());
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_entry, index) => index + 1));
  const retried = log.filter(({ type }) => type === "job-retried");
  expect(retried.map(({ payloadJson }) => JSON.parse(payloadJson))).toEqual([{ attempt: 2, ended: "failed" }]);
  const { json: listed } = await server.call(jobs("ListJobs"), { status: "JOB_STATUS_FAILED" }, asMember());
  expect(listed.jobs).toContainEqual(second);
});

test.each([
  [{ paramsJson: "{" }, "OVERRIDES_INVALID", "paramsJson"],
  [{ paramsJson: '{"nope": 1}' }, "OVERRIDES_INVALID", "paramsJson"],
  [{ paramsJson: '{"limit": "10"}' }, "OVERRIDES_INVALID", "paramsJson"],
  [{ paramsJson: '{"other": null}' }, "OVERRIDES_INVALID", "paramsJson"],
  [{ fromStepId: "nope" }, "JOB_STEP_UNKNOWN", "fromStepId"],
])("a retry with %j is refused, and the job stays as it ended", async (request, reason, field) => {
  const id = await submit(server, failing, asMember());
  const before = await reach(server, id, hasEnded, asMember());
  const refused = await retry(id, request);
  expect([refused.reason, refused.field]).toEqual([reason, field]);
  expect(await readJob(server, id, asMember())).toEqual(before);
});

test("a key of another retry is refused, and what was approved is asked about again when params change, by the key that retries", async () => {
  const approval = { plan: "always", escalation: [{ principal: "owner" }] };
  const id = await submit(server, { ...failing, approval }, asApprover());
  await reach(server, id, isAsked, asApprover());
  await answer(server, id, {}, asApprover());
  const failed = await reach(server, id, hasEnded, asApprover());
  // The plan was approved as it is, so anyone may retry the job.
  await retry(id, { idempotencyKey: "same" });
  await reach(server, id, (job) => hasEnded(job) && job.attempt === 2, asMember());
  expect((await retry(id, { idempotencyKey: "same", resendUnknown: true })).reason).toBe("IDEMPOTENCY_KEY_REUSED");
  const changed = { paramsJson: '{"limit": 5}' };
  expect((await retry(id, changed)).reason).toBe("APPROVER_ROLE_REQUIRED");
  const other = await server.admin("CreateApiKey", { projectId: project.id, role: "ROLE_APPROVER", name: "second" });
  const { json } = await retry(id, changed, { bearer: other.json.key });
  expect(json.job).toMatchObject({ status: "JOB_STATUS_PENDING_PLAN_APPROVAL", attempt: 3 });
  expect(json.job.planApprovalId).not.toBe(failed.planApprovalId);
  expect((await answer(server, id, {}, asApprover())).reason).toBe("APPROVAL_KEY_MISMATCH");
  await answer(server, id, {}, { bearer: other.json.key });
  const third = await reach(server, id, (job) => hasEnded(job) && job.attempt === 3, asMember());
  expect(third.attempts.map((ended: { attempt: number }) => ended.attempt)).toEqual([1, 2]);
  expect(third.receipt.approvals).toHaveLength(2);
});

test("a plan that was never approved is not passed by cancelling it and taking it on", async () => {
  const approval = { plan: "always", escalation: [{ principal: "owner" }] };
  const id = await submit(server, { ...failing, approval }, asApprover());
  await server.call(jobs("CancelJob"), { id }, asApprover());
  await reach(server, id, hasEnded, asApprover());
  expect((await retry(id)).reason).toBe("APPROVER_ROLE_REQUIRED");
  const { json } = await retry(id, {}, asApprover());
  expect(json.job.status).toBe("JOB_STATUS_PENDING_PLAN_APPROVAL");
});
