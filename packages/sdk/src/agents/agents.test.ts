import { AIMessage, type BaseMessage, HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { Agent, type Model, type ModelRequest, run, setTracingDisabled, Usage } from "@openai/agents";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { generateText, type ModelMessage, stepCountIs } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSvcClient, type SvcClient } from "../client.ts";
import { aiTools } from "./ai.ts";
import { svcTools } from "./index.ts";
import { langchainTools } from "./langchain.ts";
import { mastraTools } from "./mastra.ts";
import { openaiTools } from "./openai.ts";

let server: TestServer;
let client: SvcClient;
beforeAll(async () => {
  setTracingDisabled(true);
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  await client.connections.initiateConnection({
    ...{ toolkitSlug: "messaging_bot", entityId: "ada", scheme: "api_key", apiKey: "bot-key" },
  });
});
afterAll(() => server?.stop());

/** A call that a scripted model makes in one turn. After the last call, the model says "done". */
type ScriptedCall = readonly [name: string, args: Record<string, unknown>];

const message = { chat_id: "4711", text: "We are live" };
const rounds: readonly ScriptedCall[] = [
  ["search_tools", { query: "send a message to the team chat", toolkit: "messaging_bot" }],
  ["call_tool", { slug: "messaging_bot.send_message", arguments: message }],
  ["call_tool", { slug: "messaging_bot.delete_message", arguments: { chat_id: "4711", message_id: 1 } }],
  ["call_tool", { slug: "messaging_bot.nothing", arguments: {} }],
];
/** The answers that the model reads, one after each of its calls. */
const answers = [
  {
    confidence: expect.any(String),
    tools: expect.arrayContaining([
      { slug: "messaging_bot.send_message", class: "write", description: expect.any(String) },
    ]),
  },
  { outcome: "ok", result: expect.objectContaining({ text: "We are live" }) },
  expect.objectContaining({ outcome: "held", request: expect.objectContaining({ method: "POST" }) }),
  { error: expect.objectContaining({ reason: "TOOL_NOT_FOUND" }) },
];

/** Sends a message, and returns the call of a model that deletes it. `more`: other arguments, with which the model tries to confirm. */
async function removal(more: object = { confirm: true }): Promise<ScriptedCall> {
  const sent = await client.tools.call("messaging_bot.send_message", message, { entityId: "ada" });
  const { message_id } = sent as { message_id: number };
  return ["messaging_bot__delete_message", { chat_id: "4711", message_id, ...more }];
}

/** Returns the calls of a tool that svc executed. */
async function executed(toolSlug: string): Promise<readonly unknown[]> {
  const { calls } = await client.tools.listToolCalls({ toolSlug, outcome: "ok" });
  return calls;
}

const approving = (tools = ["messaging_bot.delete_message"]) =>
  svcTools(client, { entityId: "ada", tools, approvals: "framework" });

describe("svcTools", () => {
  test("returns the meta-tools, or the tools of toolkits and slugs, with schemas for models", async () => {
    const meta = await svcTools(client, { entityId: "ada" });
    expect(meta.map(({ name }) => name)).toEqual(["search_tools", "describe_tool", "call_tool"]);
    const tools = await svcTools(client, {
      ...{
        entityId: "ada",
        toolkits: ["messaging_bot"],
        tools: ["calendar.list_events", "messaging_bot.send_message"],
      },
    });
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(tools.at(-1)).toMatchObject({ name: "calendar__list_events", accessClass: "read" });
    const removing = tools.find(({ name }) => name === "messaging_bot__delete_message");
    expect(removing?.accessClass).toBe("destructive");
    expect(Object.keys(removing?.inputSchema.properties ?? {})).toEqual(["chat_id", "message_id", "confirm"]);
    const [approved] = await approving();
    expect(Object.keys(approved?.inputSchema.properties ?? {})).toEqual(["chat_id", "message_id"]);
    await expect(svcTools(client, { entityId: "ada", toolkits: ["nothing"] })).rejects.toThrow("is not a toolkit");
    await expect(svcTools(client, { entityId: "ada", tools: ["calendar.events_changed"] })).rejects.toThrow(
      "calendar.events_changed cannot be called",
    );
  });

  test("makes a call with the same id once, also for a second object with the same run", async () => {
    const options = { entityId: "ada", tools: ["messaging_bot.send_message"], runId: "run-1" };
    const [first] = await svcTools(client, options);
    const [again] = await svcTools(client, options);
    const [other] = await svcTools(client, { ...options, runId: "run-2" });
    const counts = [];
    for (const tool of [first, again, other]) {
      expect(await tool?.call(message, { callId: "call_0" })).toMatchObject({ outcome: "ok" });
      counts.push((await executed("messaging_bot.send_message")).length);
    }
    const [once = 0] = counts;
    expect(counts).toEqual([once, once, once + 1]);
  });

  test("lets no model choose the entity or confirm by itself, and rejects if the key is refused", async () => {
    const [other] = await svcTools(client, { entityId: "bob", tools: ["messaging_bot.send_message"] });
    expect(await other?.call(message)).toMatchObject({ outcome: "no_account" });
    const [, , call] = await svcTools(client, { entityId: "ada", approvals: "framework" });
    const sent = { slug: "messaging_bot.send_message", arguments: message };
    expect(await call?.needsApproval(sent)).toBe(false);
    const removing = { slug: "messaging_bot.delete_message", arguments: (await removal())[1] };
    expect(await call?.needsApproval(removing)).toBe(true);
    // A tool whose class could not be read before is not confirmed later.
    const failing = { ...client, tools: { ...client.tools, describeTool: () => Promise.reject(new Error("away")) } };
    const [, , unread] = await svcTools(failing, { entityId: "ada", approvals: "framework" });
    expect(await unread?.needsApproval(removing)).toBe(false);
    expect(await unread?.call(removing)).toMatchObject({ outcome: "held" });
    const refused = createSvcClient({ baseUrl: server.url, apiKey: "wrong" });
    await expect(svcTools(refused, { entityId: "ada" })).rejects.toThrow("the API key is unknown");
    const [search] = await svcTools({ ...client, tools: refused.tools }, { entityId: "ada" });
    await expect(search?.call({ query: "a" })).rejects.toThrow("the API key is unknown");
  });
});

const finish = (unified: "stop" | "tool-calls") => ({ unified, raw: undefined });
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Returns a model of the AI SDK that makes one call a turn. */
function scriptedModel(calls: readonly ScriptedCall[]): MockLanguageModelV4 {
  let turn = 0;
  const next = () => {
    const call = calls[turn++];
    if (call === undefined) return undefined;
    return {
      ...{ type: "tool-call" as const, toolCallId: `call_${turn}`, toolName: call[0] },
      input: JSON.stringify(call[1]),
    };
  };
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const call = next();
      const content = call === undefined ? [{ type: "text" as const, text: "done" }] : [call];
      return { content, finishReason: finish(call === undefined ? "stop" : "tool-calls"), usage, warnings: [] };
    },
    doStream: async () => {
      const call = next();
      const parts =
        call === undefined
          ? [
              { type: "text-start" as const, id: "1" },
              { type: "text-delta" as const, id: "1", delta: "done" },
              { type: "text-end" as const, id: "1" },
            ]
          : [call];
      return {
        stream: convertArrayToReadableStream([
          { type: "stream-start" as const, warnings: [] },
          ...parts,
          { type: "finish" as const, finishReason: finish(call === undefined ? "stop" : "tool-calls"), usage },
        ]),
      };
    },
  });
}

describe("the AI SDK", () => {
  test("searches, calls, and tells the model what is held and what is wrong", async () => {
    const tools = aiTools(await svcTools(client, { entityId: "ada" }));
    const model = scriptedModel(rounds);
    const { steps, text } = await generateText({ model, tools, prompt: "Say it", stopWhen: stepCountIs(10) });
    expect(text).toBe("done");
    expect(steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output))).toEqual(answers);
    expect(model.doGenerateCalls[0]?.tools?.[2]).toMatchObject({
      name: "call_tool",
      inputSchema: { required: ["slug"], properties: { slug: { type: "string" } } },
    });
  });

  test("asks for its own approval of a destructive call, and sends the call only after a yes", async () => {
    const tools = aiTools(await approving());
    const before = (await executed("messaging_bot.delete_message")).length;
    const model = scriptedModel([await removal()]);
    const prompt: ModelMessage[] = [{ role: "user", content: "Delete it" }];
    const asked = await generateText({ model, tools, messages: prompt, stopWhen: stepCountIs(3) });
    const request = asked.content.find(({ type }) => type === "tool-approval-request");
    expect(await executed("messaging_bot.delete_message")).toHaveLength(before);
    if (request?.type !== "tool-approval-request") throw new Error("the AI SDK asked for no approval");
    const answer = { type: "tool-approval-response" as const, approvalId: request.approvalId, approved: true };
    const messages = [...prompt, ...asked.response.messages, { role: "tool" as const, content: [answer] }];
    expect((await generateText({ model, tools, messages, stopWhen: stepCountIs(3) })).text).toBe("done");
    expect(await executed("messaging_bot.delete_message")).toHaveLength(before + 1);
  });
});

/** Returns a model of the OpenAI Agents SDK that makes one call a turn. */
function openaiModel(calls: readonly ScriptedCall[]): Model & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async getResponse(request) {
      requests.push(request);
      const turn = requests.length;
      const call = calls[turn - 1];
      if (call === undefined) {
        const content = [{ type: "output_text" as const, text: "done" }];
        return { usage: new Usage(), output: [{ type: "message", role: "assistant", status: "completed", content }] };
      }
      const [name, args] = call;
      return {
        usage: new Usage(),
        output: [
          { type: "function_call", callId: `call_${turn}`, name, arguments: JSON.stringify(args), status: "completed" },
        ],
      };
    },
    // biome-ignore lint/correctness/useYield: the tests do not stream
    async *getStreamedResponse() {
      throw new Error("the tests do not stream");
    },
  };
}

describe("the OpenAI Agents SDK", () => {
  test("searches, calls, and tells the model what is held and what is wrong", async () => {
    const model = openaiModel(rounds);
    const tools = openaiTools(await svcTools(client, { entityId: "ada" }));
    const result = await run(new Agent({ name: "a", model, tools }), "Say it");
    expect(result.finalOutput).toBe("done");
    const outputs = result.newItems.flatMap((item) =>
      item.type === "tool_call_output_item" ? [JSON.parse(String(item.output))] : [],
    );
    expect(outputs).toEqual(answers);
    expect(model.requests[0]?.tools[2]).toMatchObject({
      ...{ name: "call_tool", strict: false },
      parameters: { additionalProperties: false, required: ["slug"] },
    });
  });

  test("interrupts the run before a destructive call, and sends the call only after a yes", async () => {
    const tools = openaiTools(await approving());
    const before = (await executed("messaging_bot.delete_message")).length;
    const agent = new Agent({ name: "a", model: openaiModel([await removal()]), tools });
    const asked = await run(agent, "Delete it");
    const [interruption] = asked.interruptions;
    if (interruption === undefined) throw new Error("the OpenAI Agents SDK asked for no approval");
    expect(await executed("messaging_bot.delete_message")).toHaveLength(before);
    asked.state.approve(interruption);
    expect((await run(agent, asked.state)).finalOutput).toBe("done");
    expect(await executed("messaging_bot.delete_message")).toHaveLength(before + 1);
  });
});

describe("LangChain", () => {
  test("searches, calls, and tells the model what is held and what is wrong", async () => {
    const tools = langchainTools(await svcTools(client, { entityId: "ada" }));
    let model = fakeModel();
    for (const [index, [name, args]] of rounds.entries())
      model = model.respond(new AIMessage({ content: "", tool_calls: [{ name, args, id: `call_${index}` }] }));
    const scripted = model.respond(new AIMessage("done")).bindTools(tools);
    const messages: BaseMessage[] = [new HumanMessage("Say it")];
    const outputs: unknown[] = [];
    for (;;) {
      const answer = (await scripted.invoke(messages)) as AIMessage;
      messages.push(answer);
      const [call] = answer.tool_calls ?? [];
      if (call === undefined) break;
      const tool = tools.find(({ name }) => name === call.name);
      const said = (await tool?.invoke({ ...call, type: "tool_call" })) as ToolMessage;
      expect(said.tool_call_id).toBe(call.id);
      messages.push(said);
      outputs.push(JSON.parse(String(said.content)));
    }
    expect(outputs).toEqual(answers);
    expect(messages.at(-1)?.content).toBe("done");
    expect(convertToOpenAITool(tools[2] as never)).toMatchObject({
      function: { name: "call_tool", parameters: { required: ["slug"], properties: { slug: { type: "string" } } } },
    });
  });

  test("refuses approvals of the framework, because its tools have none", async () => {
    const tools = await approving();
    expect(() => langchainTools(tools)).toThrow('approvals "framework": tools of LangChain have no approval');
  });
});

describe("Mastra", () => {
  const agentWith = (tools: ReturnType<typeof mastraTools>, model: MockLanguageModelV4) => {
    const agent = new MastraAgent({ id: "a", name: "a", instructions: "Do it", model: model as never, tools });
    return new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false }).getAgent("agent");
  };

  test("searches, calls, and tells the model what is held and what is wrong", async () => {
    const model = scriptedModel(rounds);
    const agent = agentWith(mastraTools(await svcTools(client, { entityId: "ada" })), model);
    const result = await agent.generate("Say it", { maxSteps: 10 });
    expect(result.text).toContain("done");
    const outputs = result.steps.flatMap(({ toolResults }) => toolResults.map(({ payload }) => payload.result));
    expect(outputs).toEqual(answers);
    const offered = [...model.doGenerateCalls, ...model.doStreamCalls][0]?.tools ?? [];
    expect(offered.find(({ name }) => name === "call_tool")).toMatchObject({
      inputSchema: { required: ["slug"], properties: { slug: { type: "string" } } },
    });
  });

  // Mastra checks arguments by their schema, which has no `confirm` with approvals of the framework.
  test("suspends the run before a destructive call, and sends the call only after a yes", async () => {
    const before = (await executed("messaging_bot.delete_message")).length;
    const agent = agentWith(mastraTools(await approving()), scriptedModel([await removal({})]));
    const asked = await agent.generate("Delete it", { maxSteps: 3 });
    expect(asked.finishReason).toBe("suspended");
    expect(await executed("messaging_bot.delete_message")).toHaveLength(before);
    const stream = await agent.approveToolCall({ runId: String(asked.runId) });
    expect(await stream.text).toContain("done");
    expect(await executed("messaging_bot.delete_message")).toHaveLength(before + 1);
  });
});
