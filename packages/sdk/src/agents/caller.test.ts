import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createSvcClient, type SvcClient } from "../client.ts";
import { Code, ConnectError } from "../index.ts";
import type { CallableTool, CallerOptions } from "./agent-tool.ts";
import { createCaller } from "./caller.ts";
import { svcTools } from "./index.ts";
import { mastraTools } from "./mastra.ts";

let server: TestServer;
let client: SvcClient;
/** Changes the answer of svc to CallTool on its way to the client, or loses it. */
let onAnswer: (message: { resultJson: string }) => void = () => {};
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  client = createSvcClient({
    ...{ baseUrl: server.url, apiKey: server.key },
    interceptors: [
      (next) => async (req) => {
        const answer = await next(req);
        if (req.method.name === "CallTool" && !answer.stream) onAnswer(answer.message as never);
        return answer;
      },
    ],
  });
  await client.connections.initiateConnection({
    ...{ toolkitSlug: "messaging_bot", entityId: "ada", scheme: "api_key", apiKey: "bot-key" },
  });
});
afterEach(() => {
  onAnswer = () => {};
});
afterAll(() => server?.stop());

const message = { chat_id: "4711", text: "We are live" };
const sending = toolOf("messaging_bot.send_message", "write");
const removing = toolOf("messaging_bot.delete_message", "destructive");

function toolOf(slug: string, accessClass: string): CallableTool {
  return { slug, readClass: async () => accessClass };
}

/** Returns a caller that does not wait before it repeats a call. */
function callerOf(options: Partial<CallerOptions> = {}) {
  const clock = { now: () => 0, random: () => 0, wait: async () => {} };
  return createCaller(client, { entityId: "ada", ...options }, clock);
}

async function executions(): Promise<number> {
  return (await client.tools.listToolCalls({ toolSlug: sending.slug, outcome: "ok" })).calls.length;
}

/** Loses the answers to the next calls with an error of each code. */
function lose(...codes: Code[]): void {
  onAnswer = () => {
    const code = codes.shift();
    if (code !== undefined) throw new ConnectError("lost", code);
  };
}

const unknown = { outcome: "outcome_unknown", message: expect.stringContaining("look before"), retryable: false };

test("a second call with the id of the first is executed, unless the program says that ids are unique", async () => {
  const before = await executions();
  const models = [callerOf(), callerOf({ runId: "run" }), callerOf({ runId: "unique" })];
  const ids = ["name:0", "", "call_1"];
  for (const [index, caller] of models.entries()) {
    for (const isSecond of [false, true]) {
      const answer = await caller.call(sending, message, { callId: ids[index] });
      expect(answer["replayed"]).toBe(index === 2 && isSecond ? true : undefined);
    }
  }
  expect(await executions()).toBe(before + 5);
});

test("a call whose answer is lost is repeated with its key only, and else its outcome is unknown", async () => {
  const before = await executions();
  lose(Code.Unavailable, Code.DeadlineExceeded);
  const keyed = callerOf({ runId: "lost" });
  expect(await keyed.call(sending, message, { callId: "1" })).toMatchObject({ outcome: "ok", replayed: true });
  expect(await executions()).toBe(before + 1);
  lose(Code.Unavailable, Code.Unavailable, Code.Unavailable);
  expect(await keyed.call(sending, message, { callId: "2" })).toEqual(unknown);
  for (const code of [Code.Unavailable, Code.DeadlineExceeded, Code.Internal]) {
    lose(code);
    expect(await callerOf().call(sending, message, { callId: "1" })).toEqual(unknown);
  }
  expect(await executions()).toBe(before + 5);
});

test("a read whose answer is lost, and a call that the program stopped, reject", async () => {
  lose(Code.Unavailable);
  await expect(callerOf().call(toolOf("calendar.list_events", "read"), {}, {})).rejects.toThrow("lost");
  const stopped = AbortSignal.abort();
  await expect(callerOf().call(sending, message, { signal: stopped })).rejects.toThrow("aborted");
});

test("a framework's call is sent once, and only if the framework asked for exactly this call", async () => {
  const caller = callerOf({ approvals: "framework" });
  const sent = await client.tools.call(sending.slug, message, { entityId: "ada" });
  const args = { chat_id: "4711", message_id: (sent as { message_id: number }).message_id };
  const outcomeOf = async (given: object, callId?: string) =>
    (await caller.call(removing, given, { callId }))["outcome"];
  const held = await caller.call(removing, { ...args, confirm: true }, { callId: "1" });
  expect(held).toMatchObject({ outcome: "held", message: expect.stringContaining("Make a new call") });
  expect(JSON.stringify(held)).not.toContain("confirm");
  expect(await caller.needsApproval(removing, args, undefined)).toBe(true);
  expect(await outcomeOf(args)).toBe("held");
  expect(await caller.needsApproval(removing, args, "2")).toBe(true);
  expect(await outcomeOf(args, "3")).toBe("held");
  expect(await outcomeOf({ ...args, message_id: 1 }, "2")).toBe("held");
  expect((await callerOf({ approvals: "framework" }).call(removing, args, { callId: "2" }))["outcome"]).toBe("held");
  expect(await outcomeOf({ message_id: args.message_id, chat_id: "4711" }, "2")).toBe("ok");
  expect(await outcomeOf(args, "2")).toBe("held");
});

test("a tool of Mastra without an agent, and call_tool without an approval, stay held", async () => {
  const options = { entityId: "ada", approvals: "framework" } as const;
  const args = { chat_id: "4711", message_id: 1 };
  const [direct] = await svcTools(client, { ...options, tools: [removing.slug] });
  expect(await direct?.needsApproval(args, "mastra")).toBe(true);
  const { messaging_bot__delete_message: tool } = mastraTools(direct === undefined ? [] : [direct]);
  expect(await tool?.execute?.(args, {} as never)).toMatchObject({ outcome: "held" });
  const [, , call] = await svcTools(client, options);
  expect(await call?.call({ slug: removing.slug, arguments: args }, { callId: "1" })).toMatchObject({
    outcome: "held",
  });
});

test("a class that could not be read is read again before the next call, and then kept", async () => {
  let isAway = true;
  let reads = 0;
  const tools: SvcClient["tools"] = {
    ...client.tools,
    describeTool: (request) => {
      reads++;
      return isAway ? Promise.reject(new Error("away")) : client.tools.describeTool(request);
    },
  };
  const [, , call] = await svcTools({ ...client, tools }, { entityId: "ada", approvals: "framework" });
  const args = { slug: removing.slug, arguments: { chat_id: "4711", message_id: 1 } };
  expect(await call?.needsApproval(args, "1")).toBe(false);
  isAway = false;
  expect(await call?.needsApproval(args, "2")).toBe(true);
  expect(await call?.needsApproval(args, "3")).toBe(true);
  expect(reads).toBe(2);
});

test("an id of 19 digits in a result keeps its digits", async () => {
  onAnswer = (answer) => {
    answer.resultJson = '{"id":1234567890123456789,"size":1.5,"text":"id: 1234567890123456789"}';
  };
  const result = { id: "1234567890123456789", size: 1.5, text: "id: 1234567890123456789" };
  expect(await callerOf().call(sending, message, {})).toEqual({ outcome: "ok", result });
  expect(await client.tools.call(sending.slug, message, { entityId: "ada" })).toEqual(result);
});
