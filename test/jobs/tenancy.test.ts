import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Code, createSvcClient } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addProject, callTool, type TestProject } from "../tools/project.ts";
import {
  answer,
  askPoint,
  connectOps,
  contacts,
  hasEnded,
  isAsked,
  jobs,
  judge,
  putContact,
  reach,
  readJob,
  readLog,
  sendMessage,
  submit,
  trySubmit,
} from "./project.ts";

// Another project, with an approver's key, sees no object of project `default`.

let server: TestServer;
let other: TestProject;
/** Ids of project `default`: a job that waits for an answer, its question, a job that succeeded, and an endpoint for questions. */
let waiting: string;
let requestId: string;
let done: string;
let endpointId: string;

const inputSchema = { type: "object", additionalProperties: false, properties: { text: { type: "string" } } };

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  other = await addProject(server, "other");
  await connectOps(server);
  await putContact(server, "only-here");
  waiting = await submit(
    server,
    { steps: [judge], points: { ask: askPoint({ escalation: [{ principal: "only-here" }] }) } },
    { idempotencyKey: "shared" },
  );
  done = await submit(server, { inputSchema, steps: [sendMessage()] });
  requestId = (await reach(server, waiting, isAsked)).park.judgment.requestId;
  await reach(server, done, hasEnded);
  const promoted = await server.call(jobs("PromoteJob"), { jobId: done, slug: "tell", description: "Tells the team" });
  expect(promoted.code).toBe("ok");
  const endpoint = await server.call(jobs("CreateAskEndpoint"), { endpointUrl: "https://example.com/asks" });
  endpointId = endpoint.json.askEndpoint.id;
});
afterAll(() => server?.stop());

const theirs = () => ({ bearer: other.approver });

test.each([
  ["GetJob", () => ({ id: waiting }), "JOB_NOT_FOUND"],
  ["CancelJob", () => ({ id: waiting }), "JOB_NOT_FOUND"],
  ["CancelJob", () => ({ id: done }), "JOB_NOT_FOUND"],
  ["RetryJob", () => ({ id: done, idempotencyKey: "shared" }), "JOB_NOT_FOUND"],
  ["RerunJob", () => ({ id: done }), "JOB_NOT_FOUND"],
  ["ListSteps", () => ({ jobId: waiting }), "JOB_NOT_FOUND"],
  ["PauseJob", () => ({ id: waiting }), "JOB_NOT_FOUND"],
  ["ResumeJob", () => ({ id: waiting }), "JOB_NOT_FOUND"],
  ["ListJobEvents", () => ({ jobId: waiting }), "JOB_NOT_FOUND"],
  ["PromoteJob", () => ({ jobId: done, slug: "mine", description: "x" }), "JOB_NOT_FOUND"],
  [
    "AnswerAsk",
    () => ({ jobId: waiting, requestId, principalId: "only-here", continuation: "proceed" }),
    "JOB_NOT_FOUND",
  ],
  ["AnswerAsk", () => ({ jobId: waiting, principalId: "owner", continuation: "proceed" }), "JOB_NOT_FOUND"],
  ["GetAsk", () => ({ jobId: waiting, requestId }), "JOB_NOT_FOUND"],
  ["GetAsk", () => ({ requestId }), "ASK_NOT_FOUND"],
  ["DeleteAskEndpoint", () => ({ id: endpointId }), "ASK_ENDPOINT_NOT_FOUND"],
] as const)("%s answers another project as of something missing, and changes nothing", async (method, body, reason) => {
  const before = [await readJob(server, waiting), await readLog(server, waiting), await readLog(server, done)];
  const missing = await server.call(jobs(method), body(), theirs());
  expect([missing.code, missing.reason]).toEqual(["not_found", reason]);
  expect(JSON.stringify(missing.json)).not.toContain("only-here");
  expect([await readJob(server, waiting), await readLog(server, waiting), await readLog(server, done)]).toEqual(before);
});

test("a foreign id and one that never was are refused in the same words", async () => {
  const wordsOf = async (id: string) => {
    const { json } = await server.call(jobs("GetJob"), { id }, theirs());
    return JSON.stringify([json.message, json.details[0].debug]).replaceAll(id, "ID");
  };
  expect(await wordsOf(waiting)).toBe(await wordsOf("job_01h455vb4pex5vsknk084sn02q"));
});

test("WatchJob of a foreign job ends as missing", async () => {
  const { jobs: client } = createSvcClient({ baseUrl: server.url, apiKey: other.approver });
  const watch = async () => {
    for await (const event of client.watchJob({ jobId: waiting })) throw new Error(`got ${event.event?.type}`);
  };
  await expect(watch()).rejects.toMatchObject({ code: Code.NotFound });
});

test("lists of another project are empty, whatever they filter by", async () => {
  const lists: [string, object, string][] = [
    [jobs("ListJobs"), {}, "jobs"],
    [jobs("ListJobs"), { skillSlug: "skills.tell" }, "jobs"],
    [jobs("ListAsks"), {}, "asks"],
    [jobs("ListAsks"), { jobId: waiting }, "asks"],
    [jobs("ListAsks"), { principalId: "only-here" }, "asks"],
    [jobs("ListAskEndpoints"), {}, "askEndpoints"],
  ];
  for (const [method, body, field] of lists) {
    const { json } = await server.call(method, body, theirs());
    expect(json[field], `${method} ${JSON.stringify(body)}`).toEqual([]);
  }
  const { json } = await server.call(contacts("ListContacts"), {}, theirs());
  expect(json.contacts.map(({ principalId }: { principalId: string }) => principalId)).toEqual(["owner"]);
});

test("contacts of another project cannot be asked, deleted or shadowed", async () => {
  const program = { steps: [judge], points: { ask: askPoint({ escalation: [{ principal: "only-here" }] }) } };
  const refused = await trySubmit(server, program, {}, theirs());
  expect([refused.reason, refused.field]).toEqual([
    "PROGRAM_CONTACT_UNKNOWN",
    "programJson/points/ask/escalation/0/principal",
  ]);
  const gone = await server.call(contacts("DeleteContact"), { principalId: "only-here" }, theirs());
  expect([gone.code, gone.reason]).toEqual(["not_found", "CONTACT_NOT_FOUND"]);
  await putContact(server, "only-here", { name: "Theirs", bearer: other.approver });
  const { json } = await server.call(contacts("ListContacts"), {});
  const own = json.contacts.find(({ principalId }: { principalId: string }) => principalId === "only-here");
  expect(own.name).toBe("only-here");
  const answered = await answer(server, waiting, { principalId: "only-here" }, theirs());
  expect(answered.reason).toBe("JOB_NOT_FOUND");
});

test("accounts of another project are none: a program that uses them is refused", async () => {
  const refused = await trySubmit(server, { steps: [sendMessage()] }, {}, theirs());
  expect(refused.reason).toBe("PROGRAM_ACCOUNT_MISSING");
});

test("an idempotency key of one project is free in another, and names no foreign job", async () => {
  const program = { steps: [{ id: "pause", wait: "1s" }] };
  const id = await submit(server, program, { idempotencyKey: "shared", bearer: other.member });
  expect(id).not.toBe(waiting);
  await reach(server, id, hasEnded, { bearer: other.member });
  const { json } = await server.call(jobs("ListJobs"), {}, theirs());
  expect(json.jobs.map((job: { id: string }) => job.id)).toEqual([id]);
});

test("a skill is seen and called by its own project only, and its name stays free elsewhere", async () => {
  const bearer = other.approver;
  for (const [method, body] of [
    ["svc.v1.CatalogService/GetTool", { slug: "skills.tell" }],
    ["svc.v1.CatalogService/GetTool", { slug: "skills.tell", projectId: other.id }],
    ["svc.v1.ToolsService/DescribeTool", { slug: "skills.tell" }],
    ["svc.v1.ToolsService/CallTool", { toolSlug: "skills.tell", argumentsJson: "{}" }],
  ] as const) {
    const answered = await server.call(method, body, { bearer });
    expect([method, answered.code], JSON.stringify(answered.json)).toEqual([method, "not_found"]);
  }
  const found = await server.call("svc.v1.ToolsService/SearchTools", { query: "Tells the team" }, { bearer });
  expect(JSON.stringify(found.json)).not.toContain("skills.tell");
  const list = await server.call("svc.v1.CatalogService/ListTools", { pageSize: 500 }, { bearer });
  expect(JSON.stringify(list.json)).not.toContain("skills.tell");
  await using mcp = await openMcp(bearer);
  const called = await mcp.callTool({ name: "call_tool", arguments: { slug: "skills.tell", arguments: {} } });
  expect(called.isError).toBe(true);

  const own = await submit(server, { inputSchema, steps: [{ id: "pause", wait: "1s" }] }, { bearer });
  await reach(server, own, hasEnded, { bearer });
  const body = { jobId: own, slug: "tell", description: "Waits" };
  expect((await server.call(jobs("PromoteJob"), body, { bearer })).code).toBe("ok");
  const mine = await callTool(server, "skills.tell", { text: "x" });
  const job = await reach(server, JSON.parse(mine.resultJson).job_id, hasEnded);
  expect(job.stepReceipts[0].kind).toBe("call");
});

async function openMcp(key: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport as unknown as Parameters<Client["connect"]>[0]);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

test("a job's id in the sequence of another project's calls tells it nothing: its ledger shows its own calls only", async () => {
  const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", {}, theirs());
  expect(JSON.stringify(json)).not.toContain(done);
});
