import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addProject, type TestProject } from "../tools/project.ts";
import {
  answer,
  askPoint,
  connectOps,
  hasEnded,
  isAsked,
  jobs,
  judge,
  listDeals,
  reach,
  readJob,
  submit,
} from "./project.ts";

// Rerun of a job's program, and reading its steps.

let server: TestServer;
let project: TestProject;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  project = await addProject(server, "reruns");
  await connectOps(server, project.approver);
});
afterAll(() => server?.stop());

const asMember = () => ({ bearer: project.member });
const asApprover = () => ({ bearer: project.approver });
const program = {
  inputSchema: {
    type: "object",
    required: ["limit"],
    properties: { limit: { type: "number" }, note: { type: "string", default: "none" } },
  },
  input: { limit: 5 },
  params: { least: 0, text: "x" },
  steps: [
    listDeals({ args: { limit: { $ref: "input.limit" } }, rows: { from: "data[]", key: "id", keep: ["id", "value"] } }),
    { id: "large", filter: "deals", where: "row.value >= params.least" },
  ],
  result: { limit: { $ref: "input.limit" }, least: { $ref: "params.least" }, large: { $ref: "rows.large" } },
};

function rerun(id: string, request: object = {}, options: { bearer: string } = asMember()) {
  return server.call(jobs("RerunJob"), { id, ...request }, options);
}

async function resultOf(id: string) {
  const job = await reach(server, id, hasEnded, asMember());
  expect(job.lastError).toBe("");
  return JSON.parse(job.receipt.resultJson);
}

test("a job's program runs again as a new job, with its input or another one, and with other params", async () => {
  const id = await submit(server, program, asMember());
  const first = await reach(server, id, hasEnded, asMember());
  const same = await rerun(id);
  expect(same.json).toMatchObject({ drift: [], job: { programHash: first.programHash, mode: "live", attempt: 1 } });
  expect(same.json.job.id).not.toBe(id);
  expect(await resultOf(same.json.job.id)).toMatchObject({ limit: 5, least: 0, large: 3 });
  const other = await rerun(id, { inputJson: '{"limit": 3}', paramsJson: '{"least": 1e12}', repin: true });
  expect(await resultOf(other.json.job.id)).toEqual({ limit: 3, least: 1e12, large: 0 });
  // A rerun with another input keeps that input when it is rerun itself. Its params are those of the program.
  const again = await rerun(other.json.job.id);
  expect(await resultOf(again.json.job.id)).toMatchObject({ limit: 3, least: 0 });
  const steps = await server.call(jobs("ListSteps"), { jobId: other.json.job.id }, asMember());
  expect(JSON.parse(steps.json.overridesJson)).toEqual({ params: { least: 1e12 } });
});

test("the same name for the same rerun is the same job, whatever became of it, and for another it is refused", async () => {
  const id = await submit(server, program, asMember());
  const named = { idempotencyKey: "again", inputJson: '{"limit": 2}' };
  const both = await Promise.all([rerun(id, named), rerun(id, { ...named, inputJson: '{ "limit": 2 }' })]);
  expect(new Set(both.map(({ json }) => json.job.id)).size).toBe(1);
  expect((await rerun(id, { ...named, repin: true })).reason).toBe("IDEMPOTENCY_KEY_REUSED");
});

test.each([
  [{ inputJson: "[]" }, "PROGRAM_ARGUMENT_INVALID", "inputJson"],
  [{ inputJson: '{"limit": "5"}' }, "PROGRAM_ARGUMENT_INVALID", "inputJson"],
  [{ inputJson: "{}" }, "PROGRAM_ARGUMENT_INVALID", "inputJson"],
  [{ paramsJson: '{"least": "0"}' }, "OVERRIDES_INVALID", "paramsJson"],
])("a rerun with %j is refused", async (request, reason, field) => {
  const id = await submit(server, program, asMember());
  const refused = await rerun(id, request);
  expect([refused.code, refused.reason, refused.field]).toEqual(["invalid_argument", reason, field]);
});

test("a plan that needs approval needs it again, of the key that reruns", async () => {
  const approval = { plan: "always", escalation: [{ principal: "owner" }] };
  const id = await submit(server, { ...program, approval }, asApprover());
  await reach(server, id, isAsked, asApprover());
  await answer(server, id, {}, asApprover());
  await reach(server, id, hasEnded, asApprover());
  expect((await rerun(id)).reason).toBe("APPROVER_ROLE_REQUIRED");
  const { json } = await rerun(id, { paramsJson: '{"least": 1}' }, asApprover());
  expect(json.job.status).toBe("JOB_STATUS_PENDING_PLAN_APPROVAL");
});

const shelfOf = (properties: object) => ("shelf" in properties ? { shelf: "{{params.shelf}}" } : {});

const shop = (version: string, properties: object) => ({
  toolkit: {
    slug: "own_desk",
    name: "Own desk",
    description: "A desk of our own, for tests of drift and of nothing else.",
    version,
    category: "communication",
    baseUrl: "https://desk.example.com",
    auth: [{ type: "none" }],
  },
  tools: {
    list_things: {
      kind: "action",
      class: "read",
      description: "Lists the things that lie on the desk, in their order.",
      intents: ["things of the desk", "list all things", "what lies there"],
      input: { type: "object", additionalProperties: false, properties },
      output: { type: "object", properties: { things: { type: "array", items: { type: "object" } } } },
      request: { method: "GET", path: "/things", query: shelfOf(properties) },
    },
  },
});

test("what changed of a tool since is told, and a job that keeps its definitions runs on them", async () => {
  const publish = (definition: object) =>
    server.call("svc.v1.CatalogService/PublishToolkit", { definitionJson: JSON.stringify(definition) }, asApprover());
  const published = await publish(shop("1.0.0", {}));
  expect([published.code, JSON.stringify(published.json)]).toEqual(["ok", expect.anything()]);
  const connect = { toolkitSlug: "own_desk", entityId: "ops" };
  const connected = await server.call("svc.v1.ConnectionsService/InitiateConnection", connect, asApprover());
  expect([connected.code, JSON.stringify(connected.json)]).toEqual(["ok", expect.anything()]);
  const id = await submit(
    server,
    { steps: [{ id: "one", call: "own_desk.list_things", entity: "ops", args: {} }] },
    asMember(),
  );
  await reach(server, id, hasEnded, asMember());
  const changed = await publish(shop("1.1.0", { shelf: { type: "string", description: "Where to look." } }));
  expect([changed.code, JSON.stringify(changed.json)]).toEqual(["ok", expect.anything()]);
  const kept = await rerun(id);
  expect(kept.json.drift).toEqual([
    { toolSlug: "own_desk.list_things", what: "version", before: "1.0.0", after: "1.1.0" },
    expect.objectContaining({ what: "inputSchema", after: expect.stringContaining('"shelf"') }),
  ]);
  expect((await reach(server, kept.json.job.id, hasEnded, asMember())).stepReceipts[0].toolVersion).toBe("1.0.0");
  const repinned = await rerun(id, { repin: true });
  expect((await reach(server, repinned.json.job.id, hasEnded, asMember())).stepReceipts[0].toolVersion).toBe("1.1.0");
  await server.call("svc.v1.CatalogService/DeleteToolkit", { slug: "own_desk" }, asApprover());
  const gone = await rerun(id, { repin: true });
  expect(gone.reason).toBe("PROGRAM_TOOL_UNKNOWN");
});

test("the steps of a job are listed in the program's order, begun or not, with what is left, and an ask is found by its id alone", async () => {
  const points = { ask: askPoint() };
  const steps = [...program.steps, judge, { id: "sum", reduce: "large", as: { all: "count" } }];
  const id = await submit(server, { ...program, steps, points }, asMember());
  const { park } = await reach(server, id, isAsked, asMember());
  const { json } = await server.call(jobs("ListSteps"), { jobId: id }, asMember());
  expect(
    json.steps.map(({ stepId, state, rowsDone, rowsRemaining }: Record<string, unknown>) => [
      stepId,
      state,
      rowsDone,
      rowsRemaining,
    ]),
  ).toEqual([
    ["deals", "completed", 3, undefined],
    ["large", "completed", 3, undefined],
    ["judge", "running", 0, undefined],
    ["sum", "waiting", 0, 3],
  ]);
  const { requestId } = park.judgment;
  expect((await server.call(jobs("GetAsk"), { requestId }, asMember())).json.ask).toMatchObject({
    jobId: id,
    requestId,
  });
  expect((await server.call(jobs("GetAsk"), { requestId: "ask_01h455vb4pex5vsknk084sn02q" }, asMember())).reason).toBe(
    "ASK_NOT_FOUND",
  );
});

test("refused answers beyond the hundredth are counted on the log", { timeout: 60_000 }, async () => {
  const id = await submit(server, { steps: [judge], points: { ask: askPoint() } }, asMember());
  await reach(server, id, isAsked, asMember());
  for (let n = 0; n < 205; n++) await answer(server, id, { principalId: "nobody" }, asMember());
  const { json } = await server.call(jobs("ListJobEvents"), { jobId: id }, asMember());
  const refused = json.events.filter(({ type }: { type: string }) => type === "answer-refused");
  const counts = refused.flatMap(({ payloadJson }: { payloadJson: string }) => JSON.parse(payloadJson).counted ?? []);
  expect([refused.length, counts]).toEqual([101, [200]]);
  expect((await readJob(server, id, asMember())).status).toBe("JOB_STATUS_PARKED");
});
