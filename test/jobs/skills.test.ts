import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addProject, callTool, type TestProject } from "../tools/project.ts";
import {
  answer,
  connectOps,
  hasEnded,
  isAsked,
  jobs,
  type Program,
  reach,
  sendMessage,
  submit,
  trySubmit,
} from "./project.ts";

// A program that succeeded is turned into a tool, and called by CallTool and over MCP.

let server: TestServer;
let other: TestProject;

const inputSchema = {
  type: "object",
  additionalProperties: false,
  required: ["text"],
  properties: { text: { type: "string", maxLength: 50 }, chat: { type: "string", default: "@team" } },
};
const input = { text: "Hello", chat: "@team" };
const args = { chat_id: { $ref: "input.chat" }, text: { $ref: "input.text" } };
const telling: Program = { inputSchema, input, steps: [sendMessage({ args })] };
const deleting: Program = {
  inputSchema,
  input,
  steps: [
    sendMessage({ args }),
    sendMessage({
      id: "drop",
      call: "messaging_bot.delete_message",
      args: { chat_id: "@team", message_id: { $ref: "steps.send.message_id" }, confirm: true },
    }),
  ],
};

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  other = await addProject(server, "other");
  await connectOps(server);
  await connectOps(server, other.member);
  const told = await submit(server, telling);
  await reach(server, told, hasEnded);
  const dropped = await submit(server, deleting);
  await reach(server, dropped, isAsked);
  await answer(server, dropped);
  const ended = await reach(server, dropped, hasEnded);
  expect([ended.status, ended.lastError]).toEqual(["JOB_STATUS_SUCCEEDED", ""]);
  for (const [jobId, slug] of [
    [told, "tell"],
    [dropped, "tell_and_drop"],
  ]) {
    const promoted = await server.call(jobs("PromoteJob"), { jobId, slug, description: `Skill ${slug} of the tests` });
    expect(promoted.code, JSON.stringify(promoted.json)).toBe("ok");
  }
});
afterAll(() => server?.stop());

async function open(key: string = server.key): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport as unknown as Parameters<Client["connect"]>[0]);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

const countJobs = async () => {
  const { json } = await server.call(jobs("ListJobs"), { pageSize: 500 });
  return json.jobs.length as number;
};

test("a call submits a job with its arguments as input and defaults filled in, and answers its id", async () => {
  const called = await callTool(server, "skills.tell", { text: "From a skill" });
  expect(called.outcome).toBe("ok");
  const { job_id } = JSON.parse(called.resultJson);
  const job = await reach(server, job_id, hasEnded);
  expect(job).toMatchObject({ status: "JOB_STATUS_SUCCEEDED", skillSlug: "skills.tell", mode: "live" });
  const { json } = await server.call(jobs("ListJobs"), { skillSlug: "skills.tell" });
  expect(json.jobs.map(({ id }: { id: string }) => id)).toEqual([job_id]);
  const log = await server.call(jobs("ListJobEvents"), { jobId: job_id });
  expect(log.json.events[0].principalChain).toEqual([expect.stringMatching(/^key:/), "skill:skills.tell"]);
});

test("arguments that break the skill's schema are an outcome, and submit nothing", async () => {
  const before = await countJobs();
  for (const wrong of [
    {},
    { text: 5 },
    { text: "x".repeat(51) },
    { text: "x", more: 1 },
    { text: "x", confirm: true },
  ]) {
    const called = await callTool(server, "skills.tell", wrong);
    expect([JSON.stringify(wrong).slice(0, 40), called.outcome]).toEqual([
      JSON.stringify(wrong).slice(0, 40),
      "invalid_arguments",
    ]);
  }
  expect(await countJobs()).toBe(before);
});

test("a destructive skill is held without confirm over CallTool and over MCP, and parks for approval with it", async () => {
  const before = await countJobs();
  const held = await callTool(server, "skills.tell_and_drop", { text: "x" });
  expect(held.outcome).toBe("held");
  const no = await callTool(server, "skills.tell_and_drop", { text: "x", confirm: false });
  expect(no.outcome).toBe("held");
  await using mcp = await open();
  const call = async (confirm: object) => {
    const request = { slug: "skills.tell_and_drop", arguments: { text: "x", ...confirm } };
    const answered = await mcp.callTool({ name: "call_tool", arguments: request });
    return answered.structuredContent as { outcome: string; result: { job_id: string } };
  };
  expect((await call({})).outcome).toBe("held");
  expect(await countJobs()).toBe(before);
  const confirmed = await call({ confirm: true });
  expect(confirmed.outcome).toBe("ok");
  const job = await reach(server, confirmed.result.job_id, isAsked);
  expect([job.status, job.park.reason]).toEqual(["JOB_STATUS_PENDING_PLAN_APPROVAL", "approval"]);
  await answer(server, job.id);
  expect((await reach(server, job.id, hasEnded)).status).toBe("JOB_STATUS_SUCCEEDED");
});

test("a destructive skill called with a member's key begins nothing, confirmed or not", async () => {
  const { json } = await server.admin("ListProjects", {});
  const projectId = json.projects.find(({ name }: { name: string }) => name === "default").id;
  const bearer = (await server.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "m" })).json.key;
  const before = await countJobs();
  const called = await callTool(server, "skills.tell_and_drop", { text: "x", confirm: true }, { bearer });
  expect(called.outcome).toBe("not_callable");
  expect(called.message).toContain("approval");
  expect(await countJobs()).toBe(before);
  expect((await callTool(server, "skills.tell", { text: "x" }, { bearer })).outcome).toBe("ok");
});

test("with an idempotency key a skill submits once, also when it is called at once", async () => {
  const before = await countJobs();
  const call = () =>
    server.call("svc.v1.ToolsService/CallTool", {
      toolSlug: "skills.tell",
      argumentsJson: '{"text":"once"}',
      idempotencyKey: "skill-once",
    });
  const answers = await Promise.all(Array.from({ length: 8 }, call));
  for (const { code, reason } of answers) expect(["ok", "CALL_IN_PROGRESS"]).toContain(code === "ok" ? code : reason);
  const again = await call();
  expect(again.json.replayed).toBe(true);
  expect(await countJobs()).toBe(before + 1);
});

test("a dry run of a skill submits nothing", async () => {
  const before = await countJobs();
  const dry = await server.call("svc.v1.ToolsService/CallTool", {
    toolSlug: "skills.tell",
    argumentsJson: '{"text":"dry"}',
    dryRun: true,
  });
  expect(JSON.stringify(dry.json)).not.toContain("job_id");
  expect(await countJobs()).toBe(before);
});

test("a skill is neither called by a program, nor undone by, nor a way to reach a contact, nor replaced by a toolkit", async () => {
  const refused = await trySubmit(server, {
    steps: [sendMessage({ call: "skills.tell", args: { text: "x" } })],
  });
  expect([refused.reason, refused.field]).toEqual(["PROGRAM_TOOL_NOT_CALLABLE", "programJson/steps/0/call"]);
  const undo = await trySubmit(server, {
    steps: [sendMessage({ undo: { call: "skills.tell", args: { text: "x" } } })],
    saga: { on: ["failed"] },
  });
  expect(undo.reason).toBe("PROGRAM_TOOL_NOT_CALLABLE");
  const contact = {
    principalId: "x",
    name: "x",
    reach: { toolSlug: "skills.tell", entityId: "ops", argsJson: '{"text":"x"}' },
  };
  const put = await server.call("svc.v1.ContactsService/PutContact", { contact });
  expect(put.reason).toBe("REACH_TOOL_UNSUITABLE");
  const toolkit = {
    slug: "skills",
    name: "Skills",
    description: "A toolkit that would hide the project's skills, for tests.",
    version: "0.1.0",
    category: "scheduling",
    baseUrl: "https://example.com",
    auth: [{ type: "api_key", placement: "header", name: "X", value: "{{credential.key}}" }],
  };
  const tool = {
    kind: "action",
    class: "read",
    description: "Reads something from the app of our own, for tests of skills.",
    intents: ["read something", "look it up", "what is there"],
    input: { type: "object", additionalProperties: false, properties: {} },
    output: { type: "object", properties: {} },
    request: { method: "GET", path: "/things" },
  };
  const definitionJson = JSON.stringify({ toolkit, tools: { tell: tool } });
  const published = await server.call("svc.v1.CatalogService/PublishToolkit", { definitionJson });
  expect(published.code).not.toBe("ok");
  expect((await server.call("svc.v1.CatalogService/DeleteToolkit", { slug: "skills" })).code).toBe("not_found");
  expect((await callTool(server, "skills.tell", { text: "still there" })).outcome).toBe("ok");
});

test("each refusal of PromoteJob", async () => {
  const promotable = await submit(server, telling);
  const simulated = await submit(server, telling, { mode: "simulate" });
  const schemaless = await submit(server, { steps: [sendMessage()] });
  const running = await submit(server, { inputSchema, input, steps: [{ id: "pause", wait: "1m" }] });
  const { confirm: _none, ...properties } = { ...inputSchema.properties, confirm: undefined };
  const confirming = await submit(server, {
    ...deleting,
    inputSchema: { ...inputSchema, properties: { ...properties, confirm: { type: "string" } } },
  });
  await reach(server, confirming, isAsked);
  await answer(server, confirming);
  for (const id of [promotable, simulated, schemaless, confirming]) await reach(server, id, hasEnded);
  const good = { jobId: promotable, slug: "fresh", description: "Fresh" };
  for (const [changes, code, reason] of [
    [{ jobId: simulated }, "failed_precondition", "JOB_NOT_PROMOTABLE"],
    [{ jobId: schemaless }, "failed_precondition", "JOB_NOT_PROMOTABLE"],
    [{ jobId: running }, "failed_precondition", "JOB_NOT_PROMOTABLE"],
    [{ jobId: confirming }, "failed_precondition", "JOB_NOT_PROMOTABLE"],
    [{ slug: "" }, "invalid_argument", "SKILL_SLUG_INVALID"],
    [{ slug: "Fresh" }, "invalid_argument", "SKILL_SLUG_INVALID"],
    [{ slug: "fresh\n" }, "invalid_argument", "SKILL_SLUG_INVALID"],
    [{ slug: "skills.fresh" }, "invalid_argument", "SKILL_SLUG_INVALID"],
    [{ slug: "f".repeat(64) }, "invalid_argument", "SKILL_SLUG_INVALID"],
    [{ description: "" }, "invalid_argument", "SKILL_DESCRIPTION_INVALID"],
    [{ description: "d".repeat(1_001) }, "invalid_argument", "SKILL_DESCRIPTION_INVALID"],
    [{ slug: "tell" }, "already_exists", "SKILL_SLUG_TAKEN"],
  ] as const) {
    const refused = await server.call(jobs("PromoteJob"), { ...good, ...changes });
    expect([refused.code, refused.reason], JSON.stringify(changes).slice(0, 80)).toEqual([code, reason]);
  }
  const odd = await server.call(jobs("PromoteJob"), { ...good, slug: "odd", description: "a\u0000b" });
  expect(["ok", "invalid_argument"], JSON.stringify(odd.json)).toContain(odd.code);
  const raced = await Promise.all(Array.from({ length: 6 }, () => server.call(jobs("PromoteJob"), good)));
  expect(raced.map(({ code }) => code).sort()).toEqual([...Array(5).fill("already_exists"), "ok"]);
});

test("a skill whose accounts are gone is no_account, and begins nothing", async () => {
  const { json } = await server.call("svc.v1.ConnectionsService/ListConnections", { toolkitSlug: "messaging_bot" });
  for (const { id } of json.accounts) await server.call("svc.v1.ConnectionsService/DeleteConnection", { id });
  const before = await countJobs();
  expect((await callTool(server, "skills.tell", { text: "x" })).outcome).toBe("no_account");
  expect(await countJobs()).toBe(before);
});
