import { createTestMcpClient, taskCapabilities, type TestMcpClient } from "@svc/testing/mcp-client";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../tools/project.ts";
import { apart } from "./programs/apart.ts";
import { programs } from "./programs/programs.ts";
import { type WishName, wishes } from "./programs/wishes.ts";

// Twenty wishes of several calls each, as one program over MCP and as single calls: both come to the same, and what each costs.

let svc: TestServer;
let agent: TestMcpClient;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  for (const toolkit of ["sales_crm", "messaging_bot", "issue_tracker", "email_marketing", "incident_mgmt"])
    await connect(svc, toolkit, { scheme: "api_key" });
  const query = "tools=read_tool,call_tool,check_program,run_program";
  agent = createTestMcpClient({ url: svc.url, key: svc.key, query, capabilities: taskCapabilities });
});
afterAll(() => svc?.stop());

const json = JSON.stringify;
const tokensOf = (text: string) => Math.ceil(text.length / 4);
const ofCall = (slug: string, args: object) => `${slug} ${json(args)}`;

/** The writes that a job made, as the ledger has them. */
async function writesOf(jobId: string): Promise<string[]> {
  const { calls } = (await svc.call("svc.v1.ToolsService/ListToolCalls", { jobId, pageSize: 500 })).json;
  const written = calls.filter(({ accessClass }: { accessClass: string }) => accessClass !== "read");
  const ids: string[] = written.map(({ id }: { id: string }) => id);
  const read = await Promise.all(ids.map((id) => svc.call("svc.v1.ToolsService/GetToolCall", { id })));
  return read.map((one) => ofCall(one.json.call.toolSlug, JSON.parse(one.json.argumentsJson))).toSorted();
}

/** Runs a program to its end; its question is answered by the client's user. */
async function run(program: object) {
  const first = await agent.call("run_program", { program });
  if (first.resultType !== "task") return first;
  for (;;) {
    const { result: task } = await agent.request("tasks/get", { taskId: first.taskId });
    if (task.status === "completed") return task.result;
    const said = { action: "accept", content: { continuation: "proceed" } };
    const inputResponses = Object.fromEntries(Object.keys(task.inputRequests ?? {}).map((key) => [key, said]));
    await agent.request("tasks/update", { taskId: first.taskId, inputResponses });
  }
}

/** Makes the calls of a wish apart, and counts them and their tokens. */
async function runApart(name: WishName) {
  const cost = { calls: 0, tokens: 0 };
  const writes: string[] = [];
  const result = await apart[name](async (slug, args) => {
    const isRead = /\.(?:list|get|search)_/.test(slug);
    const given = { slug, entity_id: "ann", arguments: args };
    const answer = await agent.call(isRead ? "read_tool" : "call_tool", { ...given, ...(isRead && { max_bytes: 0 }) });
    expect(answer.isError).toBe(false);
    cost.calls += 1;
    cost.tokens += tokensOf(json(given)) + tokensOf(answer.content[0].text);
    if (!isRead) writes.push(ofCall(slug, args));
    return answer.structuredContent.result;
  });
  return { result, writes: writes.toSorted(), cost };
}

const measured: { name: string; tokens: number; calls: number; apart: number }[] = [];

describe("a program does what is meant", () => {
  test.each(Object.entries(wishes) as [WishName, string][])("%s: %s", async (name) => {
    const program = programs[name];
    const checked = await agent.call("check_program", { program });
    expect(checked.content[0].text).toMatch(/^No faults/);
    const answer = await run(program);
    expect([answer.isError, answer.content[0].text]).toEqual([false, expect.any(String)]);
    const { jobId, result } = answer.structuredContent;
    const single = await runApart(name);
    expect(await writesOf(jobId)).toEqual(single.writes);
    expect(result).toEqual(single.result);
    const tokens = tokensOf(json({ program })) + tokensOf(answer.content[0].text);
    measured.push({ name, tokens, calls: single.cost.calls, apart: single.cost.tokens });
  });

  test("in fewer tokens than by single calls, the reading of how programs are written among them", async () => {
    const { content } = await agent.call("check_program");
    const guide = tokensOf(content[0].text);
    const sum = (of: (one: (typeof measured)[number]) => number) => measured.reduce((all, one) => all + of(one), 0);
    const total = { programs: sum(({ tokens }) => tokens), apart: sum((one) => one.apart), calls: sum(({ calls }) => calls) };
    for (const { name, tokens, calls, apart: single } of measured)
      svc.logs.push(`${name}: ${tokens} tokens as a program, ${single} in ${calls} calls`);
    if (process.env["SVC_MEASURE"] !== undefined)
      process.stdout.write(`${json({ guide, total, measured }, null, 1)}\n`);
    expect(measured).toHaveLength(20);
    expect(guide).toBeLessThan(2_000);
    expect(guide + total.programs).toBeLessThan(total.apart);
  });
});
