import { timestampMs } from "@bufbuild/protobuf/wkt";
import { uuidOfId } from "@svc/core";
import { type Job, JobStatus } from "@svc/gen/jobs";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createWorld } from "@svc/testing/desk";
import { createTestNode, jobOf, programText, type TestNode, type TestProject } from "@svc/testing/jobs-node";
import { refusalsOf } from "@svc/testing/project-client";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const inputSchema = {
  type: "object",
  additionalProperties: false,
  required: ["text"],
  properties: { text: { type: "string", maxLength: 20 } },
};
const input = { text: "hello" };
const send = { id: "send", call: "desk.send_note", entity: "ops", args: { text: { $ref: "input.text" } } };
const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
const announce = { inputSchema, input, steps: [send], result: { note: { $ref: "steps.send.id" } } };
const description = "Leaves a note.";

/** Returns the text of a program whose plan needs no approval, although its undo calls delete something. */
const unapproved = (program: object) => programText({ approval: { plan: "never" }, ...program });

async function succeeded(node: TestNode, { client }: TestProject, program: object): Promise<string> {
  const { id } = jobOf(await client.submitJob({ programJson: unapproved(program) }));
  await node.reach(id, "succeeded");
  return id;
}

/** Promotes programs to skills. Each program must first run once. */
async function promote(node: TestNode, project: TestProject, skills: Record<string, object>): Promise<void> {
  for (const [slug, program] of Object.entries(skills)) {
    await project.client.promoteJob({ jobId: await succeeded(node, project, program), slug, description });
  }
  node.world.seen.length = 0;
}

const submit = async ({ client }: TestProject, program: object) =>
  jobOf(await client.submitJob({ programJson: unapproved(program) }));
const read = async ({ client }: TestProject, id: string) => jobOf(await client.getJob({ id }));
const texts = (node: TestNode) =>
  node.world.seen.flatMap(({ method, body }) => (method === "POST" ? [body["text"]] : []));

async function childOf({ client }: TestProject, parentJobId: string): Promise<Job> {
  const { jobs } = await client.listJobs({ parentJobId });
  expect(jobs).toHaveLength(1);
  return jobs[0] as Job;
}

/** Waits until a job is parked, and returns it. */
async function parked(node: TestNode, project: TestProject, id: string): Promise<Job> {
  await node.reach(id, "parked");
  return read(project, id);
}

test("a skill is run as a step: a job of its own, whose result is the step's value", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  await promote(node, project, { announce });
  const { id, estimate } = await submit(project, {
    steps: [
      { id: "first", run: "skills.announce", input: { text: "one" } },
      { id: "second", run: "skills.announce@1", input: { text: { $ref: "steps.first.note" } } },
    ],
    result: { note: { $ref: "steps.second.note" } },
  });
  expect(estimate).toMatchObject({
    callsMin: 2,
    callsMax: 2,
    writesMax: 2,
    accessClasses: ["write"],
    toolkits: ["desk"],
  });
  await node.reach(id, "succeeded");
  const job = await read(project, id);
  const [one, noteOfOne] = texts(node);
  expect(one).toBe("one");
  expect(JSON.parse(job.receipt?.resultJson ?? "")).toEqual({ note: expect.any(String) });
  expect(job.receipt).toMatchObject({
    outcome: "complete",
    calls: { write: 2 },
    actual: { calls: 2, writes: 2 },
    limits: { used: { toolCalls: 2, writes: 2 } },
  });
  expect(job.stepReceipts).toMatchObject([
    {
      stepId: "first",
      kind: "run",
      toolSlug: "skills.announce",
      toolVersion: "1",
      state: "completed",
      calls: { write: 1 },
    },
    { stepId: "second", kind: "run", toolSlug: "skills.announce@1", state: "completed" },
  ]);
  const { jobs } = await project.client.listJobs({ parentJobId: id });
  expect(jobs.map(({ skillSlug, parentJobId, status }) => [skillSlug, parentJobId, status])).toEqual([
    ["skills.announce", id, JobStatus.SUCCEEDED],
    ["skills.announce", id, JobStatus.SUCCEEDED],
  ]);
  expect(JSON.parse(jobs[1]?.receipt?.resultJson ?? "")).toEqual({ note: noteOfOne });
  const bySkill = (await project.client.listJobs({ skillSlug: "skills.announce" })).jobs.map((one) => one.id);
  expect(bySkill).toEqual(jobs.map((one) => one.id));
  const all = (await project.client.listJobs({})).jobs.map((one) => one.id);
  expect(all.filter((one) => bySkill.includes(one))).toEqual([]);
  const { events } = await project.client.listJobEvents({ jobId: id });
  const started = events.filter(({ type }) => type === "child-started");
  expect(started.map(({ stepId, payloadJson }) => [stepId, JSON.parse(payloadJson)])).toEqual([
    ["first", { jobId: jobs[1]?.id, toolSlug: "skills.announce", version: 1 }],
    ["second", { jobId: jobs[0]?.id, toolSlug: "skills.announce@1", version: 1 }],
  ]);
  const log = await project.client.listJobEvents({ jobId: jobs[0]?.id ?? "" });
  expect(log.events[0]?.principalChain).toEqual([`key:${project.keyId}`, "skill:skills.announce@1"]);
});

test("a number beyond 2^53 in the result of a skill keeps its digits, in a step and in a row", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: "x" } };
  await promote(node, project, {
    count: { inputSchema, input, steps: [look], result: { id: { $cel: "9007199254740993" } } },
  });
  const { id } = await submit(project, {
    input: { list: [{ text: "a" }] },
    steps: [
      { id: "one", run: "skills.count", input },
      { id: "list", take: "input.list", keep: ["text"] },
      { id: "each", map: "list", keep: { id: "calls.run.id" }, do: [{ id: "run", run: "skills.count", input }] },
      { id: "most", reduce: "each", as: { id: "max id" } },
    ],
    result: { one: { $ref: "steps.one.id" }, most: { $ref: "steps.most.id" } },
  });
  await node.reach(id, "succeeded");
  const { receipt } = await read(project, id);
  expect(receipt?.resultJson).toBe('{"one":9007199254740993,"most":9007199254740993}');
});

test("a job keeps the version that it was submitted with, whatever becomes of the skill", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  await promote(node, project, { announce });
  const { id } = await submit(project, {
    steps: [
      { id: "pause", judge: "go" },
      { id: "tell", run: "skills.announce", input },
    ],
    points: { go: { question: "Go?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] } },
  });
  await node.reach(id, "parked");
  const louder = { ...announce, steps: [{ ...send, args: { text: { $text: "{input.text}!" } } }] };
  const jobId = await succeeded(node, project, louder);
  await project.client.promoteJob({ jobId, slug: "announce", description, newVersion: true });
  await project.client.deleteSkill({ slug: "announce", version: 1 });
  node.world.seen.length = 0;
  await project.client.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
  await node.reach(id, "succeeded");
  expect(texts(node)).toEqual(["hello"]);
});

test("what cannot be run is refused with its place", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const deep = (run: string) => ({
    inputSchema,
    input,
    steps: [{ id: "in", run, input: { text: { $ref: "input.text" } } }],
  });
  await promote(node, project, { announce });
  await promote(node, project, { d1: deep("skills.announce"), d2: deep("skills.d1"), d3: deep("skills.d2") });
  const found = async (...steps: object[]) => {
    const { details } = await refusalsOf(project.client.submitJob({ programJson: programText({ steps }) }));
    return details.map(({ reason, field }: { reason: string; field: string }) => `${reason} ${field}`);
  };
  expect(await found({ id: "a", run: "skills.none" })).toEqual(["PROGRAM_TOOL_UNKNOWN programJson/steps/0/run"]);
  expect(await found({ id: "a", run: "skills.announce@2", input })).toEqual([
    "PROGRAM_TOOL_UNKNOWN programJson/steps/0/run",
  ]);
  expect(await found({ id: "a", run: "desk.send_note", input })).toEqual(["PROGRAM_MALFORMED programJson/steps/0/run"]);
  expect(await found({ id: "a", run: "skills.announce", input: { text: 7 } })).toEqual([
    "PROGRAM_ARGUMENT_INVALID programJson/steps/0/input/text",
  ]);
  expect(await found({ id: "a", run: "skills.announce", input: {} })).toEqual([
    "PROGRAM_ARGUMENT_INVALID programJson/steps/0/input",
  ]);
  const nothing = { id: "b", call: "desk.get_item", entity: "ops", args: { id: { $ref: "steps.a.other" } } };
  expect(await found({ id: "a", run: "skills.announce", input }, nothing)).toEqual([
    "PROGRAM_REFERENCE_INVALID programJson/steps/1/args/id",
  ]);
  expect(await found({ id: "a", call: "skills.announce", entity: "ops", args: input })).toEqual([
    "PROGRAM_TOOL_NOT_CALLABLE programJson/steps/0/call",
  ]);
  // Four levels of skills are the maximum.
  const four = await succeeded(node, project, deep("skills.d3"));
  await project.client.promoteJob({ jobId: four, slug: "d4", description });
  expect(await found({ id: "a", run: "skills.d4", input })).toEqual([
    "PROGRAM_TOOL_NOT_CALLABLE programJson/steps/0/run",
  ]);
  // A skill that runs itself through another skill.
  const again = {
    jobId: await succeeded(node, project, deep("skills.d1")),
    slug: "announce",
    description,
    newVersion: true,
  };
  await project.client.promoteJob(again);
  expect(await found({ id: "a", run: "skills.d1", input })).toEqual([
    "PROGRAM_TOOL_NOT_CALLABLE programJson/steps/0/run",
  ]);
  const own = await succeeded(node, project, deep("skills.announce@1"));
  const itself = { jobId: own, slug: "announce@1", description };
  expect(await refusalsOf(project.client.promoteJob(itself))).toMatchObject({
    details: [{ reason: "SKILL_SLUG_INVALID" }],
  });
});

test("a child that fails is the step's failure, undoes what it did, and the job undoes the children that went well", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const saga = { on: ["failed"] };
  const kept = { ...announce, saga, steps: [{ ...send, undo }] };
  const failing = {
    inputSchema,
    input: { text: "x" },
    saga,
    steps: [
      { ...send, undo },
      { id: "item", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.text" } } },
    ],
  };
  const nested = {
    inputSchema,
    input,
    saga,
    steps: [
      { ...send, args: { text: "outer" }, undo },
      { id: "in", run: "skills.kept", input: { text: "inner" } },
    ],
  };
  await promote(node, project, { kept, failing });
  await promote(node, project, { nested });
  node.world.script = ({ path }) => (path === "/items/bad" ? { status: 404 } : undefined);
  const { id, estimate } = await submit(project, {
    saga,
    steps: [
      { id: "first", run: "skills.kept", input: { text: "first" } },
      { id: "both", run: "skills.nested", input },
      { id: "bad", run: "skills.failing", input: { text: "bad" } },
    ],
  });
  expect(estimate).toMatchObject({ notCompensable: [] });
  await node.reach(id, "failed");
  const job = await read(project, id);
  expect(job.lastError).toMatch(
    /^CHILD_FAILED: step bad: skills\.failing \(job_\w+\) has failed: provider_error: step item/,
  );
  expect(job.saga).toMatchObject({ state: "compensated", entries: 2, done: 2, failed: 0 });
  expect(texts(node)).toEqual(["first", "outer", "inner", "bad"]);
  const gone = node.world.seen.flatMap(({ method, path }) => (method === "DELETE" ? [path.split("/").at(-1)] : []));
  // The failed child has undone its own writes first; then the other children were undone, the latest first.
  expect(gone).toEqual(["note-bad", "note-inner", "note-outer", "note-first"]);
  expect(job.stepReceipts.map(({ stepId, state }) => [stepId, state])).toEqual([
    ["first", "undone"],
    ["both", "undone"],
    ["bad", "failed"],
  ]);
});

test("a child that did its work and cannot give its result is the step's failure, is undone with the job, and is not run again", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const saga = { on: ["failed"] };
  const counted = {
    inputSchema,
    input: { text: "7" },
    saga,
    steps: [{ ...send, undo }],
    result: { count: { $cel: "int(input.text)" } },
  };
  await promote(node, project, { counted });
  const run = { id: "bad", run: "skills.counted", input: { text: "seven" } };
  const { id } = await submit(project, { steps: [run], result: { count: { $ref: "steps.bad.count" } } });
  await node.reach(id, "failed");
  const job = await read(project, id);
  expect(job.lastError).toMatch(
    /^CHILD_RESULT_FAILED: step bad: skills\.counted \(job_\w+\) ended its steps, but its result could not be computed: /,
  );
  expect(job.receipt).toMatchObject({ calls: { write: 1 }, actual: { calls: 1 } });
  await project.client.retryJob({ id });
  await until(
    async () => (await read(project, id)).attempt === 2 && (await read(project, id)).status === JobStatus.FAILED,
  );
  expect((await read(project, id)).receipt).toMatchObject({ calls: { write: 1 }, actual: { calls: 1 } });
  expect(texts(node)).toEqual(["seven"]);
  const undone = await submit(project, { saga, steps: [run] });
  await node.reach(undone.id, "failed");
  expect((await read(project, undone.id)).saga).toMatchObject({ state: "compensated", entries: 1, done: 1 });
  const handled = await submit(project, {
    // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
    steps: [{ ...run, onError: { codes: ["CHILD_RESULT_FAILED"], then: "continue" } }],
    result: { count: { $ref: "steps.bad.count", else: 0 } },
  });
  await node.reach(handled.id, "succeeded");
  expect(JSON.parse((await read(project, handled.id)).receipt?.resultJson ?? "")).toEqual({ count: 0 });
});

test("a child that waits for a person parks its job with a reason that names it, and its clock stands still", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const points = { go: { question: "Go?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] } };
  const asking = { ...announce, points, steps: [{ id: "gate", judge: "go", when: "input.text != 'hello'" }, send] };
  await promote(node, project, { asking });
  const program = { steps: [{ id: "tell", run: "skills.asking", input: { text: "hi" } }] };
  const { id } = await submit(project, program);
  const waiting = await parked(node, project, id);
  const child = await childOf(project, id);
  expect(waiting.park).toMatchObject({ reason: "child", stepId: "tell", childJobId: child.id });
  expect(waiting.park?.judgment).toBeUndefined();
  expect(child.park).toMatchObject({ reason: "judgment", judgment: { question: "Go?" } });
  const [row] = await database.db.sql`select deadline_at from jobs where id = ${uuidOfId(id as never)}`;
  expect(row?.["deadline_at"]).toBeNull();
  await project.client.answerAsk({ jobId: child.id, principalId: "owner", continuation: "proceed" });
  await node.reach(id, "succeeded");
  expect((await read(project, id)).receipt).toMatchObject({ actual: { asks: 1, calls: 1 } });
  const { events } = await project.client.listJobEvents({ jobId: id });
  const moves = events.flatMap(({ type, payloadJson }) =>
    type === "job-status-changed" ? [JSON.parse(payloadJson)] : [],
  );
  expect(moves.map(({ to, reason }) => `${to} ${reason}`)).toEqual([
    "running started",
    "parked child",
    "running child",
    "succeeded finished",
  ]);
  const other = await submit(project, program);
  await node.reach(other.id, "parked");
  const aborted = await childOf(project, other.id);
  await project.client.answerAsk({ jobId: aborted.id, principalId: "owner", continuation: "abort" });
  await node.reach(other.id, "failed");
  expect((await read(project, other.id)).lastError).toMatch(/^CHILD_ABORTED: step tell/);
});

test("children are cancelled with their job, which ends once they have", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const slow = {
    inputSchema,
    input,
    saga: { on: ["cancelled"] },
    steps: [
      { ...send, undo },

      // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
      { id: "rest", if: "input.text == 'slow'", then: [{ id: "pause", wait: "1h" }] },
    ],
  };
  await promote(node, project, { slow });
  await promote(node, project, {
    relay: { inputSchema, input, steps: [{ id: "in", run: "skills.slow", input: { text: { $ref: "input.text" } } }] },
  });
  const { id } = await submit(project, { steps: [{ id: "tell", run: "skills.relay", input: { text: "slow" } }] });
  await until(
    async () => (await project.client.listJobs({ skillSlug: "skills.slow" })).jobs[0]?.status === JobStatus.PARKED,
  );
  expect((await read(project, id)).status).toBe(JobStatus.RUNNING);
  await project.client.cancelJob({ id });
  await node.reach(id, "cancelled");
  const relay = await childOf(project, id);
  const inner = await childOf(project, relay.id);
  expect([relay.status, inner.status]).toEqual([JobStatus.CANCELLED, JobStatus.CANCELLED]);
  expect(inner.saga).toMatchObject({ state: "compensated", done: 1 });
  const job = await read(project, id);
  expect(job.receipt).toMatchObject({ actual: { calls: 1, writes: 1 } });
  expect(job.stepReceipts).toMatchObject([{ stepId: "tell", state: "failed" }]);
  // If a user cancels the child job, the step that runs it fails.
  const { id: other } = await submit(project, { steps: [{ id: "tell", run: "skills.slow", input: { text: "slow" } }] });
  await until(async () => (await project.client.listJobs({ parentJobId: other })).jobs[0]?.status === JobStatus.PARKED);
  await project.client.cancelJob({ id: (await childOf(project, other)).id });
  await node.reach(other, "failed");
  expect((await read(project, other)).lastError).toMatch(/^CHILD_CANCELLED: /);
});

test("a child uses no more than its job has left", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const thrice = {
    inputSchema,
    input,
    steps: [1, 2, 3].map((n) => ({ ...send, id: `send${n}` })),
  };
  await promote(node, project, { announce, thrice });
  const limits = { toolCalls: 10, writes: 4 };
  const steps = [
    { id: "one", run: "skills.announce", input },
    { id: "two", run: "skills.thrice", input },
    // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
    { id: "gone", if: "true", then: [{ id: "three", run: "skills.announce", input }] },
  ];
  const refused = await refusalsOf(project.client.submitJob({ programJson: programText({ limits, steps }) }));
  expect(refused.details).toEqual(
    [{ reason: "PROGRAM_LIMIT_INVALID", field: "programJson/limits" }].map((one) => ({
      ...one,
      field: "programJson/limits/writes",
    })),
  );
  const looping = {
    until: "steps.loop0.note == ''",
    max: 5,
    every: "1s",
    do: [{ id: "loop0", run: "skills.announce", input }],
  };
  const { details } = await refusalsOf(
    project.client.submitJob({ programJson: programText({ limits, steps: [{ id: "rounds", ...looping }] }) }),
  );
  expect(details).toMatchObject([{ reason: "PROGRAM_LIMIT_INVALID" }]);
  // The number of rows decides how many calls a skill makes, so the limit of the job that runs the skill applies.
  const rows = { from: "items[]", key: "id", keep: ["id"] };
  const all = {
    inputSchema,
    input,
    steps: [
      { id: "items", call: "desk.list_items", entity: "ops", args: {}, rows },
      { id: "each", map: "items", concurrency: 1, do: [{ ...send, args: { text: { $ref: "row.id" } } }] },
    ],
  };
  await promote(node, project, { all });
  const { id } = await submit(project, { limits: { writes: 2 }, steps: [{ id: "every", run: "skills.all", input }] });
  await node.reach(id, "failed");
  expect(texts(node)).toHaveLength(2);
  const job = await read(project, id);
  expect(job.lastError).toMatch(/^CHILD_FAILED: .*LIMIT_REACHED/);
  expect(job.receipt).toMatchObject({
    limits: { used: { writes: 2 }, max: { writes: 2 } },
    estimate: { writesMax: 2 },
  });
});

test("the approval of a plan covers its children, and no run passes it", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client } = project;
  const drop = {
    inputSchema,
    input,
    steps: [{ id: "gone", call: "desk.delete_note", entity: "ops", args: { id: "n1", confirm: true } }],
  };
  const approved = async (program: object) => {
    const { id, status } = await submit(project, { approval: undefined, ...program });
    expect(status).toBe(JobStatus.PENDING_PLAN_APPROVAL);
    await client.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
    await node.reach(id, "succeeded");
    return id;
  };
  await client.promoteJob({ jobId: await approved(drop), slug: "drop", description });
  const careful = { ...announce, approval: { plan: "always" } };
  await client.promoteJob({ jobId: await approved(careful), slug: "careful", description });
  // The approval is required by the skill's own program, at any depth.
  const never = { approval: { plan: "never" } };
  const relay = { inputSchema, input, ...never, steps: [{ id: "in", run: "skills.drop", input }] };
  await client.promoteJob({ jobId: await approved(relay), slug: "relay", description });
  for (const run of ["skills.drop", "skills.careful", "skills.relay"]) {
    const program = { ...never, steps: [{ id: "tell", run, input }] };
    const id = await approved(program);
    expect((await read(project, id)).estimate?.accessClasses).toEqual(
      run === "skills.careful" ? ["write"] : ["destructive"],
    );
    const { events } = await client.listJobEvents({ jobId: (await childOf(project, id)).id });
    expect(events.map(({ type }) => type)).not.toContain("ask-raised");
    const refused = project.as("member").submitJob({ programJson: programText(program) });
    expect((await refusalsOf(refused)).details).toMatchObject([{ reason: "APPROVER_ROLE_REQUIRED" }]);
  }
});

test("a simulated job runs its children simulated", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  await promote(node, project, { announce });
  const program = {
    steps: [{ id: "tell", run: "skills.announce", input }],
    result: { note: { $ref: "steps.tell.note" } },
  };
  const { id } = jobOf(await project.client.submitJob({ programJson: programText(program), mode: "simulate" }));
  await node.reach(id, "succeeded");
  expect(node.world.seen).toEqual([]);
  expect((await read(project, id)).stepReceipts).toMatchObject([{ state: "simulated" }]);
  expect((await childOf(project, id)).mode).toBe("simulate");
  const first = jobOf(await project.client.submitJob({ programJson: programText(program), simulateFirst: true }));
  await node.reach(first.id, "succeeded");
  expect(texts(node)).toEqual(["hello"]);
});

test("a job whose child did not end well is retried with that child, which goes on where it stopped", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.text" } } };
  const late = { ...announce, steps: [send, look, { ...send, id: "again" }] };
  await promote(node, project, { late });
  const deep = {
    inputSchema,
    input,
    steps: [{ id: "in", run: "skills.late", input: { text: { $ref: "input.text" } } }],
  };
  await promote(node, project, { deep });
  let isBroken = true;
  node.world.script = ({ path }) => (isBroken && path === "/items/hello" ? { status: 404 } : undefined);
  const limits = { writes: 2, toolCalls: 5 };
  const { id } = await submit(project, { limits, steps: [{ id: "tell", run: "skills.deep", input }] });
  await node.reach(id, "failed");
  const child = await childOf(project, id);
  const inner = await childOf(project, child.id);
  const why = async (jobId: string) => (await refusalsOf(project.client.retryJob({ id: jobId }))).details;
  expect(await why(inner.id)).toMatchObject([{ reason: "JOB_NOT_RETRYABLE" }]);
  // The child fails once more, and is continued once more.
  await project.client.retryJob({ id });
  await node.reach(id, "failed");
  expect((await read(project, id)).receipt).toMatchObject({ actual: { calls: 3, writes: 1 } });
  isBroken = false;
  await project.as("member").retryJob({ id });
  await node.reach(id, "succeeded");
  expect(texts(node)).toEqual(["hello", "hello"]);
  const [done, doneInner] = [await childOf(project, id), await childOf(project, child.id)];
  expect([done.id, doneInner.id, done.attempt, doneInner.attempt]).toEqual([child.id, inner.id, 3, 3]);
  const job = await read(project, id);
  expect(job.receipt).toMatchObject({ actual: { calls: 5, writes: 2 }, limits: { used: { toolCalls: 5, writes: 2 } } });
  expect(job.stepReceipts).toMatchObject([{ stepId: "tell", state: "completed", calls: { read: 3, write: 2 } }]);
  const { events } = await project.client.listJobEvents({ jobId: id });
  const started = events.flatMap(({ type, payloadJson }) =>
    type === "child-started" ? [JSON.parse(payloadJson)] : [],
  );
  expect(started).toMatchObject([
    { jobId: child.id },
    { jobId: child.id, retried: true },
    { jobId: child.id, retried: true },
  ]);
});

test("children of branches go on where they stopped, those that were cancelled with their job too", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const points = { go: { question: "Go?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] } };
  // This program asks only in the test's own job.
  const asks = { ...announce, points, steps: [send, { id: "gate", judge: "go", when: "input.text != 'hello'" }] };
  await promote(node, project, { asks, announce });
  const ways = {
    one: [{ id: "first", run: "skills.asks", input: { text: "one" } }],
    two: [{ id: "second", run: "skills.asks", input: { text: "two" } }],
    three: [{ id: "third", run: "skills.announce", input: { text: "three" } }],
  };
  const { id } = await submit(project, { steps: [{ id: "ways", parallel: ways }] });
  await node.reach(id, "parked");
  const waiting = async () =>
    (await project.client.listJobs({ parentJobId: id })).jobs.filter(({ status }) => status === JobStatus.PARKED);
  await until(async () => (await waiting()).length === 2);
  await project.client.cancelJob({ id });
  await node.reach(id, "cancelled");
  await project.client.retryJob({ id });
  await until(async () => (await waiting()).length === 2);
  for (const { id: jobId } of await waiting())
    await project.client.answerAsk({ jobId, principalId: "owner", continuation: "proceed" });
  await node.reach(id, "succeeded");
  expect(texts(node).toSorted()).toEqual(["one", "three", "two"]);
  expect((await project.client.listJobs({ parentJobId: id })).jobs).toHaveLength(3);
  expect((await read(project, id)).receipt).toMatchObject({ actual: { calls: 3, writes: 3, asks: 4 } });
});

test("a child that cannot go on is begun anew where it has not written, and its job is refused where it has", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.text" } } };
  const saga = { on: ["failed"] };
  const early = { ...announce, saga, result: {}, steps: [look] };
  const undone = { ...announce, saga, result: {}, steps: [{ ...send, undo }, look] };
  await promote(node, project, { early, undone });
  let isBroken = true;
  node.world.script = ({ path }) => (isBroken && path === "/items/hello" ? { status: 404 } : undefined);
  const job = async (run: string, more: object = {}) => {
    const { id } = await submit(project, { steps: [{ id: "tell", run, input }], ...more });
    await node.reach(id, "failed");
    return id;
  };
  const second = await job("skills.undone");
  const [compensated] = (await project.client.listJobs({ parentJobId: second })).jobs;
  const refused = project.client.retryJob({ id: second });
  await expect(refused).rejects.toThrow(`(${compensated?.id}) has written and has begun to undo its calls`);
  expect((await refusalsOf(project.client.retryJob({ id: second }))).details).toMatchObject([
    { reason: "JOB_NOT_RETRYABLE" },
  ]);
  const first = await job("skills.early");
  const [child] = (await project.client.listJobs({ parentJobId: first })).jobs;
  await database.db
    .sql`update jobs set last_error = 'LIMIT_REACHED: of a test' where id = ${uuidOfId(child?.id as never)}`;
  isBroken = false;
  await project.client.retryJob({ id: first });
  await node.reach(first, "succeeded");
  expect((await project.client.listJobs({ parentJobId: first })).jobs.map(({ status }) => status)).toEqual([
    JobStatus.SUCCEEDED,
    JobStatus.FAILED,
  ]);
});

const rowsOf = { from: "items[]", key: "id", keep: ["id"], page: { arg: "page", from: "next", max: 40 } };
const fetchRows = { id: "items", call: "desk.list_items", entity: "ops", args: {}, rows: rowsOf };

test("a row whose skill failed runs it again where it is done again, whatever else ended with it", async () => {
  await using node = createTestNode(database.db, { world: createWorld({ items: 2 }) });
  const project = await node.project();
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.text" } } };
  await promote(node, project, { look: { ...announce, steps: [look], result: { id: { $ref: "steps.look.id" } } } });
  let isBroken = true;
  node.world.script = ({ path }) => (isBroken && path === "/items/i1" ? { status: 404 } : undefined);
  const each = {
    id: "each",
    map: "items",
    do: [{ id: "look", run: "skills.look", input: { text: { $ref: "row.id" } } }],
  };
  const { id } = await submit(project, { steps: [fetchRows, each] });
  await node.reach(id, "failed");
  isBroken = false;
  await project.client.retryJob({ id });
  await node.reach(id, "succeeded");
  expect((await read(project, id)).stepReceipts[1]).toMatchObject({ state: "completed", rows: { ok: 2, failed: 0 } });
  const children = (await project.client.listJobs({ parentJobId: id })).jobs;
  expect(children.map(({ attempt }) => attempt).toSorted()).toEqual([1, 2]);
});

/** Returns a skill that writes for each row, and then fails for the given rows until the cause is repaired. */
function lateSkill(node: TestNode, ...rows: string[]) {
  const isBroken = { now: true };
  node.world.script = ({ path }) =>
    isBroken.now && rows.some((row) => path === `/items/${row}`) ? { status: 404 } : undefined;
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.text" } } };
  const again = { id: "again", call: "desk.send_note", entity: "ops", args: { text: { $text: "{input.text} again" } } };
  return { isBroken, late: { ...announce, steps: [send, look, again] } };
}

const eachLate = {
  id: "each",
  map: "items",
  concurrency: 2,
  do: [{ id: "tell", run: "skills.late", input: { text: { $ref: "row.id" } } }],
};
const allOf = (rows: readonly string[]) => rows.flatMap((row) => [row, `${row} again`]).toSorted();

test("the job of a row whose skill failed behind a write goes on where it stopped, as often as the row is done again", async () => {
  await using node = createTestNode(database.db, { world: createWorld({ items: 4 }) });
  const project = await node.project();
  const { isBroken, late } = lateSkill(node, "i1", "i2");
  await promote(node, project, { late });
  const { id } = await submit(project, { limits: { writes: 8 }, steps: [fetchRows, eachLate] });
  await node.reach(id, "failed");
  await project.client.retryJob({ id });
  await node.reach(id, "failed");
  expect(texts(node)).toHaveLength(6);
  isBroken.now = false;
  await project.as("member").retryJob({ id });
  await node.reach(id, "succeeded");
  expect(texts(node).toSorted()).toEqual(allOf(["i0", "i1", "i2", "i3"]));
  const children = (await project.client.listJobs({ parentJobId: id })).jobs;
  expect(children.map(({ attempt }) => attempt).toSorted()).toEqual([1, 1, 3, 3]);
  const { receipt, stepReceipts } = await read(project, id);
  expect(stepReceipts[1]).toMatchObject({ state: "completed", rows: { in: 4, ok: 4, failed: 0 } });
  // Two rows were checked twice without success, and then once more.
  expect(receipt).toMatchObject({ actual: { calls: 17, writes: 8 }, limits: { used: { writes: 8 } } });
});

test("people who answer that failed rows are done again have their jobs go on, too", async () => {
  await using node = createTestNode(database.db, { world: createWorld({ items: 3 }) });
  const project = await node.project();
  const { isBroken, late } = lateSkill(node, "i1");
  await promote(node, project, { late });
  const points = {
    rows: { question: "Again?", continuations: ["retry-with", "skip"], escalation: [{ principal: "owner" }] },
  };
  const { id } = await submit(project, { points, steps: [fetchRows, { ...eachLate, onRows: { failed: "rows" } }] });
  await node.reach(id, "parked");
  isBroken.now = false;
  await project.client.answerAsk({ jobId: id, principalId: "owner", continuation: "retry-with" });
  await node.reach(id, "succeeded");
  expect(texts(node).toSorted()).toEqual(allOf(["i0", "i1", "i2"]));
  expect((await project.client.listJobs({ parentJobId: id })).jobs).toHaveLength(3);
});

test("jobs of rows that were cancelled with theirs go on where they stopped, and their ends are taken once", async () => {
  await using node = createTestNode(database.db, { world: createWorld({ items: 3 }) });
  const project = await node.project();
  const points = { go: { question: "Go?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] } };
  // This program asks only in the test's own jobs.
  const late = { ...announce, points, steps: [send, { id: "gate", judge: "go", when: "input.text != 'hello'" }] };
  await promote(node, project, { late });
  const { id } = await submit(project, { steps: [fetchRows, eachLate] });
  const waiting = async () =>
    (await project.client.listJobs({ parentJobId: id })).jobs.filter(({ status }) => status === JobStatus.PARKED);
  await until(async () => (await waiting()).length === 2);
  await project.client.cancelJob({ id });
  await node.reach(id, "cancelled");
  await project.client.retryJob({ id });
  for (let answered = 0; answered < 3; answered++) {
    await until(async () => (await waiting()).length > 0);
    const [first] = await waiting();
    await project.client.answerAsk({ jobId: first?.id ?? "", principalId: "owner", continuation: "proceed" });
  }
  await node.reach(id, "succeeded");
  expect(texts(node).toSorted()).toEqual(["i0", "i1", "i2"]);
  expect((await project.client.listJobs({ parentJobId: id })).jobs).toHaveLength(3);
  expect((await read(project, id)).receipt).toMatchObject({ rows: { ok: 3 }, actual: { calls: 4, writes: 3 } });
});

test("a row whose job has written and cannot go on fails again, and says why; the others are done", async () => {
  await using node = createTestNode(database.db, { world: createWorld({ items: 3 }) });
  const project = await node.project();
  const { isBroken, late } = lateSkill(node, "i1", "i2");
  await promote(node, project, { late });
  const { id } = await submit(project, { steps: [fetchRows, eachLate] });
  await node.reach(id, "failed");
  const [one, two] = (await project.client.listJobs({ parentJobId: id })).jobs.filter(
    ({ status }) => status === JobStatus.FAILED,
  );
  await database.db
    .sql`update jobs set last_error = 'LIMIT_REACHED: of a test' where id = ${uuidOfId(one?.id as never)}`;
  isBroken.now = false;
  await project.client.retryJob({ id });
  await node.reach(id, "failed");
  const { stepReceipts, receipt } = await read(project, id);
  expect(stepReceipts[1]).toMatchObject({ rows: { in: 3, ok: 2, failed: 1 } });
  expect(stepReceipts[1]?.errors.find(({ code }) => code === "CHILD_NOT_RETRYABLE")?.sample).toContain(
    `skills.late (${one?.id}) has written and reached a limit`,
  );
  expect(texts(node)).toHaveLength(5);
  expect((await project.client.getJob({ id: two?.id ?? "" })).job).toMatchObject({ attempt: 2 });
  expect(receipt).toMatchObject({ actual: { writes: 5 } });
});

test("a map runs a skill for each row, a few at a time, beside its calls", async () => {
  const world = createWorld({ items: 23, pageSize: 10 });
  await using node = createTestNode(database.db, { world });
  const project = await node.project();
  await promote(node, project, { announce });
  const { id, estimate } = await submit(project, {
    limits: { rows: 100, concurrency: 4 },
    steps: [
      fetchRows,
      {
        id: "each",
        map: "items",
        concurrency: 3,
        do: [
          { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "row.id" } } },
          { id: "tell", run: "skills.announce", input: { text: { $ref: "row.id" } } },
          { id: "after", call: "desk.send_note", entity: "ops", args: { text: { $ref: "calls.tell.note" } } },
        ],
        keep: { note: "calls.tell.note" },
      },
      { id: "sum", reduce: "each", as: { ok: "count ok", all: "count" } },
    ],
    result: { ok: { $ref: "steps.sum.ok" } },
  });
  expect(estimate).toMatchObject({ writesMax: 200, accessClasses: ["read", "write"] });
  await node.reach(id, "succeeded");
  const job = await read(project, id);
  expect(job.stepReceipts[1]).toMatchObject({
    state: "completed",
    toolSlug: "desk.get_item",
    rows: { in: 23, ok: 23 },
    calls: { read: 23, write: 46 },
  });
  expect(job.receipt).toMatchObject({ limits: { used: { toolCalls: 72, writes: 46 } }, actual: { calls: 72 } });
  const expected = Array.from({ length: 23 }, (_, index) => [`i${index}`, `note-i${index}`]).flat();
  expect(texts(node).toSorted()).toEqual(expected.toSorted());
  const { jobs } = await project.client.listJobs({ parentJobId: id, pageSize: 100 });
  expect(jobs).toHaveLength(23);
  // There are never more child jobs at the same time than rows that may run.
  const spans = jobs.map(({ createdAt, finishedAt }) => [timestampMs(createdAt!), timestampMs(finishedAt!)] as const);
  const most = spans.map(([at]) => spans.filter(([from, to]) => from <= at && at < to).length);
  expect(Math.max(...most)).toBeLessThanOrEqual(4);
  const { events } = await project.client.listJobEvents({ jobId: id });
  expect(events.filter(({ type }) => type === "child-started")).toHaveLength(1);
});

test("a row whose skill fails has failed, and what the others did is undone with the job, children among it", async () => {
  const world = createWorld({ items: 6 });
  await using node = createTestNode(database.db, { world });
  const project = await node.project();
  const saga = { on: ["failed"] };
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.text" } } };
  await promote(node, project, { kept: { ...announce, saga, steps: [look, { ...send, undo }] } });
  node.world.script = ({ path }) => (path === "/items/i3" ? { status: 404 } : undefined);
  const map = {
    id: "each",
    map: "items",
    concurrency: 2,
    do: [{ id: "tell", run: "skills.kept", input: { text: { $ref: "row.id" } } }],
  };
  const tolerant = await submit(project, { steps: [fetchRows, { ...map, tolerate: { count: 1 } }] });
  await node.reach(tolerant.id, "succeeded");
  expect((await read(project, tolerant.id)).stepReceipts[1]).toMatchObject({
    state: "partial",
    rows: { in: 6, ok: 5, failed: 1 },
    errors: [{ code: "CHILD_FAILED", count: 1, firstOrdinal: 3 }],
  });
  node.world.seen.length = 0;
  const { id } = await submit(project, { saga, steps: [fetchRows, map] });
  await node.reach(id, "failed");
  expect((await read(project, id)).saga).toMatchObject({ state: "compensated", entries: 5, done: 5 });
  const gone = node.world.seen.flatMap(({ method, path }) => (method === "DELETE" ? [path.split("/").at(-1)] : []));
  expect(gone.toSorted()).toEqual(["note-i0", "note-i1", "note-i2", "note-i4", "note-i5"]);
});

test("a row whose skill did its work and cannot give its result has failed, and is undone with the job", async () => {
  const world = createWorld({ items: 3 });
  await using node = createTestNode(database.db, { world });
  const project = await node.project();
  const saga = { on: ["failed"] };
  const steps = [{ ...send, undo }];
  const result = { count: { $cel: "int(input.text.replace('i', '')) / (input.text == 'i1' ? 0 : 1)" } };
  await promote(node, project, { counted: { inputSchema, input: { text: "i7" }, saga, steps, result } });
  const tell = { id: "tell", run: "skills.counted", input: { text: { $ref: "row.id" } } };
  const { id } = await submit(project, { saga, steps: [fetchRows, { id: "each", map: "items", do: [tell] }] });
  await node.reach(id, "failed");
  const job = await read(project, id);
  expect(job.stepReceipts[1]).toMatchObject({
    rows: { in: 3, ok: 2, failed: 1 },
    errors: [{ code: "CHILD_RESULT_FAILED", count: 1, firstOrdinal: 1 }, { code: "ROWS_FAILED" }],
  });
  expect(job.saga).toMatchObject({ state: "compensated", entries: 3, done: 3 });
});

test("the skills of a map's rows share what the job may use, and are cancelled with it", async () => {
  const world = createWorld({ items: 12 });
  await using node = createTestNode(database.db, { world });
  const project = await node.project();
  const slow = {
    ...announce,
    steps: [
      send,
      {
        id: "more",
        if: "input.text == 'i2' || input.text == 'i3'",
        // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
        then: [{ id: "rest", wait: "1h" }],
      },
    ],
  };
  await promote(node, project, { announce, slow });
  const mapOf = (run: string) => ({
    id: "each",
    map: "items",
    concurrency: 4,
    do: [{ id: "tell", run, input: { text: { $ref: "row.id" } } }],
  });
  const { id } = await submit(project, { limits: { writes: 7 }, steps: [fetchRows, mapOf("skills.announce")] });
  await node.reach(id, "failed");
  expect(texts(node)).toHaveLength(7);
  expect((await read(project, id)).receipt?.limits?.used?.writes).toBe(7);
  node.world.seen.length = 0;
  const other = await submit(project, { steps: [fetchRows, mapOf("skills.slow")] });
  await until(async () => texts(node).length === 12);
  await until(
    async () => (await project.client.listJobs({ parentJobId: other.id, status: JobStatus.PARKED })).jobs.length === 2,
  );
  await project.client.cancelJob({ id: other.id });
  await node.reach(other.id, "cancelled");
  const { jobs } = await project.client.listJobs({ parentJobId: other.id, pageSize: 50 });
  expect(jobs.filter(({ status }) => status === JobStatus.CANCELLED)).toHaveLength(2);
  expect((await read(project, other.id)).receipt?.actual?.writes).toBe(12);
});

test("a map whose children all wait for people is parked until one goes on", async () => {
  const world = createWorld({ items: 2 });
  await using node = createTestNode(database.db, { world });
  const project = await node.project();
  const points = { go: { question: "Go?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] } };
  const asking = { ...announce, points, steps: [{ id: "gate", judge: "go", when: "input.text != 'hello'" }, send] };
  await promote(node, project, { asking });
  const each = {
    id: "each",
    map: "items",
    do: [{ id: "tell", run: "skills.asking", input: { text: { $ref: "row.id" } } }],
  };
  const { id } = await submit(project, { steps: [fetchRows, each] });
  const asked = async () =>
    (await project.client.listJobs({ parentJobId: id, status: JobStatus.PARKED })).jobs.map((job) => job.id);
  for (const left of [2, 1]) {
    await until(async () => (await asked()).length === left);
    const children = await asked();
    // The parent still names the child that has continued, until it is notified.
    await until(async () => children.includes((await parked(node, project, id)).park?.childJobId ?? ""));
    await project.client.answerAsk({ jobId: children[0] ?? "", principalId: "owner", continuation: "proceed" });
    if (left === 2) await until(async () => texts(node).length === 1);
  }
  await node.reach(id, "succeeded");
  expect((await read(project, id)).receipt).toMatchObject({ rows: { ok: 2 }, actual: { asks: 2 } });
});

test("skills of branches stand in the estimate, and the plan is approved with them", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client } = project;
  const gone = {
    id: "gone",
    call: "desk.delete_note",
    entity: "ops",
    args: { id: { $ref: "input.text" }, confirm: true },
  };
  const drop = { inputSchema, input, steps: [gone] };
  await promote(node, project, { announce });
  const approved = await submit(project, { approval: undefined, ...drop });
  await client.answerAsk({ jobId: approved.id, principalId: "owner", continuation: "proceed" });
  await node.reach(approved.id, "succeeded");
  await client.promoteJob({ jobId: approved.id, slug: "drop", description });
  node.world.seen.length = 0;
  const each = { id: "each", map: "items", do: [{ id: "row", run: "skills.announce", input }] };
  const ways = {
    one: [{ id: "drop", run: "skills.drop", input }],
    two: [{ id: "tell", run: "skills.announce", input }],
    three: [fetchRows, each],
  };
  const programJson = programText({ limits: { rows: 20 }, steps: [{ id: "ways", parallel: ways }] });
  expect((await refusalsOf(project.as("member").submitJob({ programJson }))).details).toMatchObject([
    { reason: "APPROVER_ROLE_REQUIRED" },
  ]);
  const { id, status, estimate } = jobOf(await client.submitJob({ programJson }));
  expect(status).toBe(JobStatus.PENDING_PLAN_APPROVAL);
  expect(estimate).toMatchObject({ callsMin: 3, writesMax: 22, destructiveMax: 1 });
  expect(texts(node)).toEqual([]);
  await client.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
  await node.reach(id, "succeeded");
  expect(node.world.seen.flatMap(({ method, path }) => (method === "DELETE" ? [path] : []))).toEqual(["/notes/hello"]);
});
