import { createTestMcpClient, type TestMcpClient, taskCapabilities } from "@svc/testing/mcp-client";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../tools/project.ts";
import { apart } from "./programs/apart.ts";
import { programs } from "./programs/programs.ts";
import { type WishName, wishes } from "./programs/wishes.ts";

// Twenty wishes of several calls each, made as one program over MCP and as single calls. Both must have the same result, and the cost of
// each is printed.

let svc: TestServer;
let agent: TestMcpClient;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  for (const toolkit of ["sales_crm", "messaging_bot", "issue_tracker", "email_marketing", "incident_mgmt"])
    await connect(svc, toolkit, { scheme: "api_key" });
  await svc.call("svc.v1.ConnectionsService/InitiateConnection", { toolkitSlug: "sales_crm", entityId: many });
  const query = "tools=read_tool,call_tool,check_program,run_program";
  agent = createTestMcpClient({ url: svc.url, key: svc.key, query, capabilities: taskCapabilities });
});
afterAll(() => svc?.stop());

/** An entity whose lists have three full pages. */
const many = "sandbox:pages=3";
const json = JSON.stringify;
const tokensOf = (text: string) => Math.ceil(text.length / 4);

/** Returns the digests of calls. Calls that agree in every argument have the same digest. */
async function digestsOf(calls: readonly { id: string }[]): Promise<string[]> {
  const read = await Promise.all(calls.map(({ id }) => svc.call("svc.v1.ToolsService/GetToolCall", { id })));
  return read.map((one) => one.json.call.argumentsDigest).toSorted();
}

/** Returns the writes that a job made. */
async function writesOf(jobId: string): Promise<string[]> {
  const { calls } = (await svc.call("svc.v1.ToolsService/ListToolCalls", { jobId, pageSize: 500 })).json;
  return digestsOf(calls.filter(({ accessClass }: { accessClass: string }) => accessClass !== "read"));
}

/** Runs a program to its end. The client's user answers its question. */
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

/**
 * Works out a wish by single calls. Reads are made at once and writes when `send` is called, so that the program finds the same data as the
 * reads. A wish whose writes depend on each other is the exception.
 */
async function planApart(name: WishName, entity = "ann") {
  const cost = { calls: 0, tokens: 0 };
  const sent: { id: string }[] = [];
  const held: (() => Promise<unknown>)[] = [];
  const make = async (tool: string, given: { slug: string }) => {
    const answer = await agent.call(tool, given);
    expect([given.slug, answer.isError]).toEqual([given.slug, false]);
    cost.calls += 1;
    cost.tokens += tokensOf(json(given)) + tokensOf(answer.content[0].text);
    return answer.structuredContent;
  };
  const write = async (given: { slug: string }) => {
    const { callId, result } = await make("call_tool", given);
    sent.push({ id: callId });
    return result;
  };
  const result = await apart[name](async (slug, args) => {
    const given = { slug, entity_id: entity, arguments: args };
    if (/\.(?:list|get|search)_/.test(slug)) return (await make("read_tool", { ...given, ...whole })).result;
    if (name === "new-deal") return write(given);
    held.push(() => write(given));
    return {};
  });
  const send = async () => {
    for (const one of held) await one();
    return digestsOf(sent);
  };
  return { result, cost, send };
}

const whole = { max_bytes: 0 };

const measured: { name: string; tokens: number; calls: number; apart: number }[] = [];

describe("a program does what is meant", () => {
  test.each(Object.entries(wishes) as [WishName, string][])("%s: %s", async (name) => {
    const program = programs[name];
    const single = await planApart(name);
    const checked = await agent.call("check_program", { program });
    expect(checked.content[0].text).toMatch(/^No errors/);
    const answer = await run(program);
    expect([answer.isError, answer.content[0].text]).toEqual([false, expect.any(String)]);
    const { jobId, result } = answer.structuredContent;
    expect(await writesOf(jobId)).toEqual(await single.send());
    expect(result).toEqual(single.result);
    const tokens = tokensOf(json({ program })) + tokensOf(answer.content[0].text);
    measured.push({ name, tokens, calls: single.cost.calls, apart: single.cost.tokens });
  });

  test("how programs are written is read once, in few tokens", async () => {
    const { content } = await agent.call("check_program");
    const guide = tokensOf(content[0].text);
    const sum = (of: (one: (typeof measured)[number]) => number) => measured.reduce((all, one) => all + of(one), 0);
    const total = {
      programs: sum(({ tokens }) => tokens),
      apart: sum((one) => one.apart),
      calls: sum(({ calls }) => calls),
    };
    if (process.env["SVC_MEASURE"] !== undefined)
      process.stdout.write(`${json({ guide, total, measured }, null, 1)}\n`);
    expect(measured).toHaveLength(20);
    expect(guide).toBeLessThan(1_100);
  });

  test("over many rows it costs what it costs over few, and single calls more than twenty times as much", async () => {
    for (const name of ["worth-of-open-deals", "value-of-won-deals"] as const) {
      const program = JSON.parse(
        json(programs[name]).replaceAll('"entity":"ann","args":{"status"', `"entity":"${many}","args":{"status"`),
      );
      const answer = await run(program);
      expect(answer.isError).toBe(false);
      const single = await planApart(name, many);
      const tokens = tokensOf(json({ program })) + tokensOf(answer.content[0].text);
      expect(answer.structuredContent.result).toEqual(single.result);
      expect(single.cost.tokens).toBeGreaterThan(20 * tokens);
      if (process.env["SVC_MEASURE"] !== undefined)
        process.stdout.write(
          `${name} over 300 rows: ${tokens} as a program, ${single.cost.tokens} in ${single.cost.calls} calls\n`,
        );
    }
  });
});
