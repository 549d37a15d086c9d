import { toJson } from "@bufbuild/protobuf";
import { createId } from "@svc/core";
import { setProjectPolicy } from "@svc/db/projects/repo";
import { JobStatus, JobView, ReceiptSchema } from "@svc/gen/jobs";
import { canonicalHash } from "@svc/program";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createWorld } from "@svc/testing/desk";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { ifStep } from "@svc/testing/programs";
import { refusalsOf } from "@svc/testing/project-client";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const fetchItems = {
  id: "fetch",
  call: "desk.list_items",
  entity: "ops",
  rows: { from: "items[]", key: "id", keep: ["id", "secret"], page: { arg: "page", from: "next", max: 5 } },
};
const notes = {
  inputSchema: { type: "object", required: ["greeting"], properties: { greeting: { type: "string" } } },
  input: { greeting: "hello" },
  steps: [
    fetchItems,
    {
      id: "send",
      map: "fetch",
      do: [
        {
          id: "note",
          call: "desk.send_note",
          entity: "ops",
          args: { text: { $text: "{input.greeting} {row.id}" } },
          undo: { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } },
        },
      ],
    },
    { id: "sum", reduce: "send", as: { sent: "count ok" } },
  ],
  saga: { on: ["aborted"] },
  result: { sent: { $ref: "steps.sum.sent" } },
};
const deleting = {
  steps: [{ id: "gone", call: "desk.delete_note", entity: "ops", args: { id: "n1", confirm: true } }],
};
const asking = {
  steps: [{ id: "gate", judge: "sure" }],
  points: {
    sure: {
      question: "Is it sure?",
      continuations: ["proceed", "abort"],
      escalation: [{ principal: "owner", timeout: "1h" }],
    },
  },
};
const fault = (reason: string, field: string) => ({ reason, field });

test("what a submission answers is the job as it is read, whatever it is", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client } = await node.project();
  const inputSchema = { type: "object", properties: { token: { type: "string", "x-sensitive": true } } };
  const steps = [fetchItems];
  const submissions = [
    { programJson: programText(notes) },
    { programJson: programText({ steps, inputSchema, input: { token: "hidden" } }) },
    { programJson: programText(notes), mode: "simulate" },
    { programJson: programText(notes), simulateFirst: true },
    { programJson: programText(notes), idempotencyKey: "once" },
    { programJson: programText({ ...notes, approval: { plan: "always" } }) },
  ];
  for (const submission of submissions) {
    const submitted = jobOf(await client.submitJob(submission));
    expect(submitted).toEqual(jobOf(await client.getJob({ id: submitted.id })));
    expect(submitted.programJson).not.toContain("hidden");
  }
});

test("a submitted program is a job at once, runs, and is read back as receipts without any row", async () => {
  await using node = createTestNode(database.db, { world: createWorld({ items: 7, pageSize: 3 }) });
  const { client, keyId } = await node.project();
  const programJson = programText(notes);
  const submitted = jobOf(await client.submitJob({ programJson }));
  expect(submitted).toMatchObject({
    id: expect.stringMatching(/^job_/),
    programJson,
    programHash: canonicalHash(JSON.parse(programJson)),
    mode: "live",
    planApprovalId: "",
    skillSlug: "",
    estimate: {
      accessClasses: ["read", "write", "destructive"],
      toolkits: ["desk"],
      entities: ["ops"],
      notCompensable: [],
    },
    saga: { state: "armed", entries: 0 },
  });
  await node.reach(submitted.id, "succeeded");
  const answer = await client.getJob({ id: submitted.id });
  const job = jobOf(answer);
  expect(answer.simulation).toBeUndefined();
  expect(job).toMatchObject({ status: JobStatus.SUCCEEDED, lastError: "" });
  expect(job.park).toBeUndefined();
  expect(job.finishedAt).toBeDefined();
  expect(
    job.stepReceipts.map(({ stepId, kind, toolSlug, toolVersion, state }) => [
      stepId,
      kind,
      toolSlug,
      toolVersion,
      state,
    ]),
  ).toEqual([
    ["fetch", "call", "desk.list_items", "1.2.3", "completed"],
    ["send", "map", "desk.send_note", "1.2.3", "completed"],
    ["sum", "reduce", "", "", "completed"],
  ]);
  expect(job.stepReceipts[1]).toMatchObject({ rows: { in: 7, ok: 7, failed: 0 }, calls: { write: 7 }, attempts: 1 });
  expect(job.receipt).toMatchObject({
    outcome: "complete",
    resultJson: '{"sent":7}',
    calls: { read: 3, write: 7 },
    limits: { used: { toolCalls: 10, writes: 7, rows: 7 }, max: { toolCalls: 10_000, deadlineSeconds: 86_400 } },
    estimate: job.estimate!,
  });
  const { events } = await client.listJobEvents({ jobId: job.id });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events[0]).toMatchObject({ type: "job-submitted", principalChain: [`key:${keyId}`] });
  expect(job.receipt?.lastSeq).toBe(events.length);
  const listed = await client.listJobs({});
  const everything = JSON.stringify([job, events, listed], (_key, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  expect(everything).not.toContain("marker-");
});

test("texts that would be longer than a text can be end their step, or leave the result out, and the job ends", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const params = { long: "x".repeat(100_000) };
  const text = { $text: "{params.long}".repeat(6_000) };
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: "x" } };
  const steps = [{ ...look, args: { id: text } }];
  const failing = jobOf(await client.submitJob({ programJson: programText({ params, steps }) }));
  await node.reach(failing.id, "failed");
  expect(jobOf(await client.getJob({ id: failing.id })).lastError).toMatch(
    /^REFERENCE_UNFIT: step look: with params.long /,
  );
  const names = Array.from({ length: 200 }, (_, index) => [`n${index}`, { $ref: "params.long" }]);
  const result = Object.fromEntries(names);
  const ending = jobOf(await client.submitJob({ programJson: programText({ params, steps: [look], result }) }));
  await node.reach(ending.id, "succeeded");
  expect(jobOf(await client.getJob({ id: ending.id })).lastError).toMatch(/^RESULT_TOO_LARGE: /);
});

test("a job whose result cannot be computed has succeeded without one, and GetJob says why, and where it stands", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const result = { sent: 1, share: { $cel: "int(params.many)" } };
  const program = { ...notes, params: { many: "many" }, result };
  const { id } = jobOf(await client.submitJob({ programJson: programText(program) }));
  await node.reach(id, "succeeded");
  const { lastError, receipt } = jobOf(await client.getJob({ id }));
  expect(lastError).toMatch(/^EXPRESSION_FAILED: .*, at \/result\/share\/\$cel$/);
  expect(receipt).toMatchObject({ calls: { write: 3 }, resultJson: "" });
});

test("whoever holds a receipt can compute its hash", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const { id } = jobOf(await client.submitJob({ programJson: programText(notes) }));
  await node.reach(id, "succeeded");
  const { receipt } = jobOf(await client.getJob({ id }));
  const json = toJson(ReceiptSchema, receipt!, { alwaysEmitImplicit: true }) as Record<string, unknown>;
  expect(receipt?.receiptHash).toMatch(/^[0-9a-f]{64}$/);
  expect(canonicalHash({ ...json, receiptHash: "" })).toBe(receipt?.receiptHash);
});

test("all faults of a program are answered at once, a detail each, named by pointer", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client } = await node.project();
  const steps = [
    { id: "a", call: "desk.nothing", entity: "ops" },
    { id: "b", call: "desk.get_item", entity: "ops", args: { id: 7 } },
    { id: "c", call: "desk.get_item", entity: "nobody", args: { id: "i1" } },
    { id: "d", judge: "who" },
  ];
  const points = { who: { question: "?", continuations: ["proceed"], escalation: [{ principal: "stranger" }] } };
  expect(await refusalsOf(client.submitJob({ programJson: programText({ steps, points }) }))).toEqual({
    code: "InvalidArgument",
    details: [
      fault("PROGRAM_TOOL_UNKNOWN", "programJson/steps/0/call"),
      fault("PROGRAM_ARGUMENT_INVALID", "programJson/steps/1/args/id"),
      fault("PROGRAM_ACCOUNT_MISSING", "programJson/steps/2/entity"),
      fault("PROGRAM_CONTACT_UNKNOWN", "programJson/points/who/escalation/0/principal"),
    ],
  });
  const many = Array.from({ length: 99 }, (_, index) => ({
    id: `s${index}`,
    call: "desk.nothing",
    entity: "ops",
    args: { x: { $ref: "y" } },
  }));
  const programJson = programText({ steps: many, params: { long: "x".repeat(20_000) } });
  const { details } = await refusalsOf(client.submitJob({ programJson }));
  expect(details).toHaveLength(100);
  expect((await client.listJobs({})).jobs).toEqual([]);
});

test("CheckProgram tells what SubmitJob would, of faults, plans and approvals, and stores nothing", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client, as, projectId } = await node.project();
  const good = await client.checkProgram({ programJson: programText(notes) });
  expect(good).toMatchObject({ faults: [], omittedFaults: 0, needsApproval: false, estimate: { rowsMax: 10_000 } });
  const faulty = programText({
    steps: [{ id: "a", call: "desk.get_item", entity: "nobody", args: { id: "{row.id}" } }],
  });
  const { details } = await refusalsOf(client.submitJob({ programJson: faulty }));
  const answer = await client.checkProgram({ programJson: faulty });
  expect(answer.faults.map(({ reason, field }) => ({ reason, field }))).toEqual(details);
  expect(answer.faults.map(({ reason }) => reason)).toEqual(["PROGRAM_ACCOUNT_MISSING", "PROGRAM_TEMPLATE_LITERAL"]);
  for (const { message, help } of answer.faults) expect(message === "" || help === "").toBe(false);
  expect(answer.programHash).toBe(canonicalHash(JSON.parse(faulty)));
  expect(answer.estimate).toBeUndefined();
  const none = { faults: [{ reason: "PROGRAM_MALFORMED", field: "programJson" }], programHash: "" };
  expect(await client.checkProgram({ programJson: "{" })).toMatchObject(none);
  const halved = programText(notes).replace('"title":"', '"title":"\\ud83d');
  expect(await client.checkProgram({ programJson: halved })).toMatchObject({
    faults: [{ reason: "PROGRAM_MALFORMED", field: "programJson/title", message: "holds half a surrogate pair" }],
  });
  const plan = { programJson: programText(deleting) };
  expect(await client.checkProgram(plan)).toMatchObject({ faults: [], needsApproval: true });
  expect(await as("member").checkProgram(plan)).toMatchObject({
    faults: [fault("APPROVER_ROLE_REQUIRED", "programJson/approval")],
    needsApproval: true,
    estimate: { destructiveMax: 1 },
  });
  await setProjectPolicy(database.db, projectId, { planApproval: "always", redirectUrls: [] });
  expect(await client.checkProgram({ programJson: programText(notes) })).toMatchObject({ needsApproval: true });
  expect((await client.listJobs({})).jobs).toEqual([]);
});

test("a point that is an approval is for approvers' keys, of the program's own and of a skill's", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client, as } = await node.project();
  const gated = { steps: [{ id: "gate", judge: "sure" }], points: { sure: { question: "Is it?", approval: true } } };
  const programJson = programText({ ...gated, inputSchema: { type: "object" } });
  const refusal = fault("APPROVER_ROLE_REQUIRED", "programJson/points/sure");
  expect((await refusalsOf(as("member").submitJob({ programJson }))).details).toEqual([refusal]);
  expect((await as("member").checkProgram({ programJson })).faults).toMatchObject([refusal]);
  // A simulation waits for no person.
  expect((await as("member").submitJob({ programJson, mode: "simulate" })).job?.id).not.toBe("");
  expect((await client.checkProgram({ programJson })).faults).toEqual([]);
  expect((await client.submitJob({ programJson })).job?.id).not.toBe("");
});

test("what looks like a template is refused of what is submitted, once the idempotency key was looked up", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client } = await node.project();
  const literal = programText({
    steps: [{ id: "a", call: "desk.send_note", entity: "ops", args: { text: "{input.a}" } }],
  });
  const refused = async (request: object) =>
    (await refusalsOf(client.submitJob({ programJson: literal, ...request }))).details;
  expect(await refused({})).toEqual([fault("PROGRAM_TEMPLATE_LITERAL", "programJson/steps/0/args/text")]);
  await client.submitJob({ programJson: programText(asking), idempotencyKey: "used" });
  expect(await refused({ idempotencyKey: "used" })).toEqual([fault("IDEMPOTENCY_KEY_REUSED", "idempotencyKey")]);
});

test("SubmitJob refuses modes, keys and plans that it cannot take", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client, as, projectId } = await node.project();
  const programJson = programText(asking);
  const refused = (request: object, by = client) => refusalsOf(by.submitJob({ programJson, ...request }));
  const invalid = (reason: string, field: string) => ({ code: "InvalidArgument", details: [fault(reason, field)] });
  expect(await refused({ mode: "dry" })).toEqual(invalid("MODE_INVALID", "mode"));
  expect(await refused({ mode: "simulate", simulateFirst: true })).toEqual(invalid("MODE_CONFLICT", "simulateFirst"));
  expect(await refused({ idempotencyKey: "k".repeat(256) })).toEqual(
    invalid("IDEMPOTENCY_KEY_INVALID", "idempotencyKey"),
  );
  const plan = programText(deleting);
  expect(await refused({ programJson: plan }, as("member"))).toEqual({
    code: "PermissionDenied",
    details: [fault("APPROVER_ROLE_REQUIRED", "programJson/approval")],
  });
  await setProjectPolicy(database.db, projectId, { planApproval: "always", redirectUrls: [] });
  expect((await refused({}, as("member"))).details[0]?.reason).toBe("APPROVER_ROLE_REQUIRED");
  await database.db.sql`update contacts set is_approver = false`;
  expect(await refused({ programJson: plan })).toEqual({
    code: "FailedPrecondition",
    details: [fault("APPROVER_MISSING", "programJson/approval")],
  });
  // A simulation needs no approval, even with a member's key.
  expect(jobOf(await client.submitJob({ programJson: plan, mode: "simulate" })).status).toBe(JobStatus.QUEUED);
  await database.db.sql`update contacts set is_approver = true`;
});

test("a plan that needs approval parks with its ask, and goes on when it is approved", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const job = jobOf(await client.submitJob({ programJson: programText(deleting) }));
  expect(job).toMatchObject({
    status: JobStatus.PENDING_PLAN_APPROVAL,
    planApprovalId: expect.stringMatching(/^apr_/),
    park: { reason: "approval", stepId: "", judgment: { pointId: "approval", continuations: ["proceed", "abort"] } },
    pendingAsk: {
      pointId: "approval",
      principalId: "owner",
      deliveredPrincipals: ["owner"],
      jobId: "",
      requestId: "",
      question: "",
    },
  });
  expect(job.pendingAsk?.approvalId).toBe(job.planApprovalId);
  const { requestId, question } = job.park!.judgment!;
  expect(question).toMatch(
    /^Approve the plan ".+"\? At most 1 call: 1 write, 1 of them destructive \(desk\.delete_note\)\. It cannot undo: gone\.$/,
  );
  expect((await client.getAsk({ jobId: job.id, requestId })).ask?.question).toBe(question);
  await client.answerAsk({ jobId: job.id, requestId, principalId: "owner", continuation: "proceed" });
  await node.reach(job.id, "succeeded");
  const { receipt } = jobOf(await client.getJob({ id: job.id }));
  expect(receipt?.approvals).toMatchObject([
    {
      approvalId: job.planApprovalId,
      stepId: "",
      decision: { continuation: "proceed", principalId: "owner", surface: "api" },
    },
  ]);
});

test("a parked job carries the question, and its ask none of the read surface", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const { id } = jobOf(await client.submitJob({ programJson: programText(asking) }));
  await node.reach(id, "parked");
  const job = jobOf(await client.getJob({ id }));
  expect(job.park?.judgment).toMatchObject({ pointId: "sure", question: "Is it sure?", answerSchemaJson: "" });
  expect(job.pendingAsk).toMatchObject({
    pointId: "sure",
    principalId: "owner",
    hopIndex: 0,
    question: "",
    requestId: "",
    continuations: [],
  });
  expect(job.pendingAsk?.deadlineAt).toBeDefined();
  const [ask] = (await client.listAsks({ jobId: id })).asks;
  expect(ask).toMatchObject({ question: "Is it sure?", requestId: job.park?.judgment?.requestId, jobId: id });
  const answered = jobOf(await client.answerAsk({ jobId: id, principalId: "owner", continuation: "abort" }));
  expect(answered.pendingAsk).toBeUndefined();
  await node.reach(id, "aborted");
});

test("an idempotency key names one job, whatever became of it, and no other content", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const request = { programJson: programText(asking), idempotencyKey: "once" };
  const submitted = await Promise.all(Array.from({ length: 8 }, () => client.submitJob(request)));
  const ids = new Set(submitted.map((answer) => jobOf(answer).id));
  expect(ids.size).toBe(1);
  const [id = ""] = ids;
  await node.reach(id, "parked");
  await client.cancelJob({ id });
  await node.reach(id, "cancelled");
  // The same program written as a different text.
  const spaced = {
    ...request,
    programJson: JSON.stringify(JSON.parse(request.programJson), undefined, 2),
    mode: "live",
  };
  expect(jobOf(await client.submitJob(spaced))).toMatchObject({ id, status: JobStatus.CANCELLED });
  const reused = { code: "AlreadyExists", details: [fault("IDEMPOTENCY_KEY_REUSED", "idempotencyKey")] };
  expect(await refusalsOf(client.submitJob({ ...request, mode: "simulate" }))).toEqual(reused);
  expect(await refusalsOf(client.submitJob({ ...request, simulateFirst: true }))).toEqual(reused);
  expect(await refusalsOf(client.submitJob({ ...request, programJson: programText(notes) }))).toEqual(reused);
  expect(await refusalsOf(client.submitJob({ ...request, programJson: "no" }))).toEqual(reused);
  expect((await client.listJobs({})).jobs).toHaveLength(1);
});

test("a job that is simulated first shows its simulation, and lists leave the twin out", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const { id } = jobOf(await client.submitJob({ programJson: programText(notes), simulateFirst: true }));
  await node.reach(id, "succeeded");
  const { simulation } = await client.getJob({ id });
  expect(simulation).toMatchObject({ mode: "simulate", simulatedFrom: id, status: JobStatus.SUCCEEDED });
  expect(simulation?.stepReceipts.find(({ stepId }) => stepId === "send")?.state).toBe("simulated");
  const ids = async (filter: object) => (await client.listJobs(filter)).jobs.map((job) => job.id);
  expect(await ids({})).toEqual([id]);
  expect(await ids({ mode: "live" })).toEqual([id]);
  expect(await ids({ mode: "simulate" })).toEqual([simulation?.id]);
});

test("ListSteps tells which branch was taken, what is not reached, and how many rows were made of how many", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const gate = (id: string) => ({ id, judge: "sure" });
  const steps = [
    fetchItems,
    { id: "few", limit: "fetch", max: 1 },
    { id: "all", group: "fetch", by: ["secret"], as: { of: "count" } },
    // biome-ignore lint/suspicious/noThenProperty: programs have the field.
    { id: "no", if: "false", then: [gate("never")], else: [gate("now"), gate("soon")] },
    // biome-ignore lint/suspicious/noThenProperty: programs have the field.
    { id: "yes", if: "true", then: [gate("later")], else: [gate("neither")] },
    // biome-ignore lint/suspicious/noThenProperty: programs have the field.
    { id: "none", if: "false", then: [gate("not")] },
  ];
  const { id } = jobOf(await client.submitJob({ programJson: programText({ ...asking, steps }) }));
  const listed = async () => {
    const found = (await client.listSteps({ jobId: id })).steps;
    return Object.fromEntries(found.map(({ stepId, state, branch }) => [stepId, `${state} ${branch}`.trim()]));
  };
  await node.reach(id, "parked");
  expect(await listed()).toMatchObject({
    ...{ no: "running else", never: "not_reached", now: "running", soon: "waiting" },
    ...{ yes: "waiting", later: "waiting", neither: "waiting" },
  });
  for (const stepId of ["now", "soon", "later"]) {
    await until(async () => jobOf(await client.getJob({ id })).park?.stepId === stepId);
    await client.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
  }
  await node.reach(id, "succeeded");
  expect(await listed()).toMatchObject({
    ...{ no: "completed else", never: "not_reached", now: "completed", soon: "completed" },
    ...{ yes: "completed then", later: "completed", neither: "not_reached", none: "completed", not: "not_reached" },
  });
  const { steps: ended } = await client.listSteps({ jobId: id });
  const [all, few, fetched] = ["all", "few", "fetch"].map((stepId) => ended.find((step) => step.stepId === stepId));
  expect(fetched?.rowsMade).toBeUndefined();
  expect(few?.rowsMade).toBe(1);
  expect(all?.rowsMade).toBeGreaterThan(0);
  expect(all?.rowsDone).toBe(fetched?.rowsDone);
});

test("ListJobs narrows to statuses, a time and a title, and a summary leaves out what is large", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const submit = async (title: string, program: object) =>
    jobOf(await client.submitJob({ programJson: programText({ ...program, title }) }));
  const done = await submit("Tell the Team", notes);
  await node.reach(done.id, "succeeded");
  const parked = await submit("Ask the team first", asking);
  await node.reach(parked.id, "parked");
  const ids = async (filter: object) => (await client.listJobs(filter)).jobs.map((job) => job.id);
  const { SUCCEEDED, PARKED, FAILED } = JobStatus;
  expect(await ids({ statuses: [SUCCEEDED, PARKED] })).toEqual([parked.id, done.id]);
  expect(await ids({ statuses: [PARKED, FAILED] })).toEqual([parked.id]);
  expect(await ids({ status: FAILED, statuses: [SUCCEEDED] })).toEqual([done.id]);
  expect(await ids({ titleContains: "the TEAM" })).toEqual([parked.id, done.id]);
  expect(await ids({ titleContains: "first", statuses: [SUCCEEDED] })).toEqual([]);
  const first = await client.listJobs({ titleContains: "team", pageSize: 1 });
  const second = await client.listJobs({ titleContains: "team", pageSize: 1, pageToken: first.nextPageToken });
  expect([first.jobs[0]?.id, second.jobs[0]?.id, second.nextPageToken]).toEqual([parked.id, done.id, ""]);
  expect(await ids({ since: parked.createdAt })).toEqual([parked.id]);
  expect(await ids({ until: parked.createdAt })).toEqual([done.id]);
  const whole = (await client.listJobs({})).jobs;
  const { jobs } = await client.listJobs({ view: JobView.SUMMARY });
  expect(jobs.map(({ title, submittedByKeyId }) => [title, submittedByKeyId])).toEqual(
    whole.map(({ title, submittedByKeyId }) => [title, submittedByKeyId]),
  );
  expect(jobs.map(({ title }) => title)).toEqual(["Ask the team first", "Tell the Team"]);
  expect(jobs[0]?.submittedByKeyId).toMatch(/^key_/);
  expect(jobs[0]?.park).toEqual(whole[0]?.park);
  for (const job of jobs) {
    expect(job).toMatchObject({ programJson: "", stepReceipts: [], attempts: [] });
    expect([job.receipt, job.pendingAsk]).toEqual([undefined, undefined]);
  }
  expect(whole.every(({ programJson, stepReceipts }) => programJson !== "" && stepReceipts.length > 0)).toBe(true);
  const refused = async (request: object) => (await refusalsOf(client.listJobs(request))).details;
  expect(await refused({ titleContains: "x".repeat(201) })).toEqual([fault("FILTER_TEXT_INVALID", "titleContains")]);
  expect(await refused({ since: parked.createdAt, until: done.createdAt })).toEqual([
    fault("TIME_RANGE_INVALID", "since"),
  ]);
});

test("what a program may not mean is told by the check and by the submission, and keeps neither from it", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client } = await node.project();
  const shelf = {
    ...{ id: "shelf", call: "desk.list_shelf", entity: "ops" },
    rows: { from: "items[]", keep: ["id"] },
  };
  const programJson = programText({ steps: [shelf, { id: "all", reduce: "shelf", as: { all: "count" } }] });
  const { faults, notes: checked } = await client.checkProgram({ programJson });
  expect(faults).toEqual([]);
  expect(checked.map(({ reason, field }) => ({ reason, field }))).toEqual([
    fault("PAGES_UNREAD", "programJson/steps/0/rows"),
    fault("FIELD_UNVERIFIED", "programJson/steps/0/rows/keep"),
  ]);
  expect(checked[0]?.help).toContain('"page": {"max": 20}');
  const submitted = await client.submitJob({ programJson, idempotencyKey: "noted" });
  expect(submitted.notes).toEqual(checked);
  expect((await client.submitJob({ programJson, idempotencyKey: "noted" })).notes).toEqual([]);
  const faulty = programText({ steps: [shelf, { id: "all", reduce: "none", as: { all: "count" } }] });
  expect((await client.checkProgram({ programJson: faulty })).notes).toEqual([]);
});

test("a fail step ends its job as failed with its text, undoes what was done, and is handled where its code is named", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
  const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" }, undo };
  const stop = { id: "enough", fail: "Only {rows.fetch} items in {input.place}", when: "rows.fetch < 10" };
  const input = { place: "the hall", token: "swordfish" };
  const inputSchema = {
    type: "object",
    properties: { place: { type: "string" }, token: { type: "string", "x-sensitive": true } },
  };
  const run = async (steps: readonly object[], status: Parameters<typeof node.reach>[1]) => {
    const program = { steps: [fetchItems, note, ...steps], saga: { on: ["failed"] }, input, inputSchema };
    const { id } = jobOf(await client.submitJob({ programJson: programText(program) }));
    await node.reach(id, status);
    return jobOf(await client.getJob({ id }));
  };
  // biome-ignore lint/suspicious/noThenProperty: programs have the field, and nobody awaits them.
  const goesOn = { then: "continue" };
  const failed = await run([stop, { id: "never", wait: "1h" }], "failed");
  expect(failed.lastError).toBe("FAIL_STEP: step enough: Only 3 items in the hall");
  expect(failed.saga).toMatchObject({ entries: 1, done: 1 });
  expect(failed.stepReceipts.map(({ stepId, state }) => [stepId, state])).toEqual([
    ["fetch", "completed"],
    ["note", "undone"],
    ["enough", "failed"],
  ]);
  expect((await run([{ ...stop, when: "rows.fetch > 10" }], "succeeded")).lastError).toBe("");
  const secret = await run([{ id: "enough", fail: "With {input.token}" }], "failed");
  expect(secret.lastError).toBe("FAIL_STEP: step enough: With ***");
  const block = (onError: object) => ({ ...ifStep("block", "true", [stop]), onError: { ...onError, ...goesOn } });
  expect((await run([block({})], "failed")).lastError).toContain("FAIL_STEP: step enough: ");
  expect((await run([block({ codes: ["FAIL_STEP"] })], "succeeded")).receipt?.outcome).toBe("partial");
});

test("ListUndoEntries tells what may be undone, and was, and not what would be sent", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const program = { ...notes, saga: { on: ["cancelled"] } };
  const { id } = jobOf(await client.submitJob({ programJson: programText(program) }));
  await node.reach(id, "succeeded");
  const { entries, nextPageToken } = await client.listUndoEntries({ jobId: id });
  expect(entries.map(({ entry, state }) => [entry, state])).toEqual([
    [1, "armed"],
    [2, "armed"],
    [3, "armed"],
  ]);
  expect(entries.map(({ ordinal }) => ordinal).sort()).toEqual([0, 1, 2]);
  expect(entries[0]).toMatchObject({ stepId: "send", toolSlug: "desk.delete_note", entityId: "ops" });
  expect(nextPageToken).toBe("");
  const first = await client.listUndoEntries({ jobId: id, pageSize: 2 });
  const second = await client.listUndoEntries({ jobId: id, pageToken: first.nextPageToken });
  expect([...first.entries, ...second.entries]).toEqual(entries);
  const { client: stranger } = await node.project();
  const refused = async (call: Promise<unknown>) => (await refusalsOf(call)).details;
  expect(await refused(stranger.listUndoEntries({ jobId: id }))).toEqual([fault("JOB_NOT_FOUND", "jobId")]);
  expect(await refused(client.listUndoEntries({ jobId: "job_1" }))).toEqual([fault("ID_MALFORMED", "jobId")]);
  expect(await refused(client.listUndoEntries({ jobId: id, pageSize: -1 }))).toEqual([
    fault("PAGE_SIZE_NEGATIVE", "pageSize"),
  ]);
  expect(await refused(client.listUndoEntries({ jobId: id, pageToken: "x" }))).toEqual([
    fault("PAGE_TOKEN_INVALID", "pageToken"),
  ]);
});

test("ListJobs filters and pages, newest first", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client } = await node.project();
  const made: string[] = [];
  for (let index = 0; index < 5; index++)
    made.unshift(jobOf(await client.submitJob({ programJson: programText(asking) })).id);
  const first = await client.listJobs({ pageSize: 3 });
  const second = await client.listJobs({ pageSize: 3, pageToken: first.nextPageToken });
  expect([...first.jobs, ...second.jobs].map(({ id }) => id)).toEqual(made);
  expect(second.nextPageToken).toBe("");
  expect((await client.listJobs({ status: JobStatus.QUEUED })).jobs).toHaveLength(5);
  expect((await client.listJobs({ status: JobStatus.PARKED })).jobs).toEqual([]);
  expect((await client.listJobs({ skillSlug: "skills.none" })).jobs).toEqual([]);
  const refused = async (request: object) => (await refusalsOf(client.listJobs(request))).details;
  expect(await refused({ mode: "x" })).toEqual([fault("MODE_INVALID", "mode")]);
  expect(await refused({ pageSize: -1 })).toEqual([fault("PAGE_SIZE_NEGATIVE", "pageSize")]);
  expect(await refused({ status: JobStatus.PARKED, pageToken: first.nextPageToken })).toEqual([
    fault("PAGE_TOKEN_INVALID", "pageToken"),
  ]);
});

test("CancelJob ends a job once, and refuses one that ended otherwise", async () => {
  await using node = createTestNode(database.db);
  const { client, keyId } = await node.project();
  const { id } = jobOf(await client.submitJob({ programJson: programText(asking) }));
  await node.reach(id, "parked");
  await client.cancelJob({ id });
  await node.reach(id, "cancelled");
  const before = await client.listJobEvents({ jobId: id });
  expect(jobOf(await client.cancelJob({ id })).status).toBe(JobStatus.CANCELLED);
  expect(await client.listJobEvents({ jobId: id })).toEqual(before);
  expect(before.events.map(({ type }) => type)).toContain("ask-withdrawn");
  const end = before.events.findLast(({ type }) => type === "job-status-changed");
  expect(end?.principalChain).toContain(`key:${keyId}`);
  const other = jobOf(await client.submitJob({ programJson: programText(notes) }));
  await node.reach(other.id, "succeeded");
  expect(await refusalsOf(client.cancelJob({ id: other.id }))).toEqual({
    code: "FailedPrecondition",
    details: [fault("JOB_FINISHED", "id")],
  });
});

test("another project sees nothing of a job", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const stranger = (await node.project()).client;
  const { id } = jobOf(await client.submitJob({ programJson: programText(asking), idempotencyKey: "mine" }));
  await node.reach(id, "parked");
  const missing = (field: string) => ({ code: "NotFound", details: [fault("JOB_NOT_FOUND", field)] });
  expect(await refusalsOf(stranger.getJob({ id }))).toEqual(missing("id"));
  expect(await refusalsOf(stranger.cancelJob({ id }))).toEqual(missing("id"));
  expect(await refusalsOf(stranger.listJobEvents({ jobId: id }))).toEqual(missing("jobId"));
  expect(await refusalsOf(collect(stranger.watchJob({ jobId: id })))).toEqual(missing("jobId"));
  expect(await refusalsOf(stranger.promoteJob({ jobId: id, slug: "x", description: "y" }))).toEqual(missing("jobId"));
  expect((await stranger.listJobs({})).jobs).toEqual([]);
  const own = jobOf(await stranger.submitJob({ programJson: programText(asking), idempotencyKey: "mine" }));
  expect(own.id).not.toBe(id);
  const gone = createId("job", 1);
  expect(await refusalsOf(client.getJob({ id: gone }))).toEqual(missing("id"));
  expect((await refusalsOf(client.getJob({ id: "job_1" }))).details[0]?.reason).toBe("ID_MALFORMED");
});

test("ListJobEvents pages a log by seq", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const { id: jobId } = jobOf(await client.submitJob({ programJson: programText(notes) }));
  await node.reach(jobId, "succeeded");
  const all = (await client.listJobEvents({ jobId })).events;
  const paged: typeof all = [];
  let pageToken = "";
  do {
    const page = await client.listJobEvents({ jobId, pageSize: 2, pageToken });
    expect(page.events.length).toBeLessThanOrEqual(2);
    paged.push(...page.events);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(paged).toEqual(all);
  const refused = async (request: object) => (await refusalsOf(client.listJobEvents({ jobId, ...request }))).details;
  expect(await refused({ pageSize: -1 })).toEqual([fault("PAGE_SIZE_NEGATIVE", "pageSize")]);
  expect(await refused({ pageToken: "AAAA" })).toEqual([fault("PAGE_TOKEN_INVALID", "pageToken")]);
});

test("WatchJob streams the log without a gap, live, and ends with it", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const { id: jobId } = jobOf(await client.submitJob({ programJson: programText(asking) }));
  await node.reach(jobId, "parked");
  const seen: string[] = [];
  const watching = collect(client.watchJob({ jobId }), (type) => {
    seen.push(type);
    if (type === "ask-raised") void client.answerAsk({ jobId, principalId: "owner", continuation: "proceed" });
  });
  const streamed = await watching;
  const { events } = await client.listJobEvents({ jobId });
  expect(streamed).toEqual(events);
  expect(seen.at(-1)).toBe("job-status-changed");
  expect(await collect(client.watchJob({ jobId, afterSeq: 2 }))).toEqual(events.slice(2));
  expect(await collect(client.watchJob({ jobId, afterSeq: 999 }))).toEqual([]);
});

test("WatchJob hears at once of what its own node does", async () => {
  await using node = createTestNode(database.db, { watchPollMs: 60_000 });
  const { client } = await node.project();
  const { id: jobId } = jobOf(await client.submitJob({ programJson: programText(asking) }));
  await node.reach(jobId, "parked");
  const streamed = collect(client.watchJob({ jobId }), (type) => {
    if (type === "ask-raised") void client.answerAsk({ jobId, principalId: "owner", continuation: "proceed" });
  });
  expect(await streamed).toEqual((await client.listJobEvents({ jobId })).events);
});

test("WatchJob ends with its caller, and with the node, as unavailable", async () => {
  await using node = createTestNode(database.db);
  const { client } = await node.project();
  const { id: jobId } = jobOf(await client.submitJob({ programJson: programText(asking) }));
  await node.reach(jobId, "parked");
  const caller = new AbortController();
  const left = refusalsOf(collect(client.watchJob({ jobId }, { signal: caller.signal }), () => caller.abort()));
  expect((await left).code).toBe("Canceled");
  const { ConnectError, Code } = await import("@connectrpc/connect");
  const stopped = refusalsOf(
    collect(client.watchJob({ jobId }), () => node.shutdown.abort(new ConnectError("stopping", Code.Unavailable))),
  );
  expect((await stopped).code).toBe("Unavailable");
});

async function collect(
  stream: AsyncIterable<{ readonly event?: { readonly type: string } | undefined }>,
  onEvent: (type: string) => void = () => {},
): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const { event } of stream) {
    events.push(event);
    onEvent(event?.type ?? "");
  }
  return events;
}
