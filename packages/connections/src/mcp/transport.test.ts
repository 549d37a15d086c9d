import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { mcpToolDigest } from "@svc/catalog";
import { createAddressGuard, createId } from "@svc/core";
import { expect, onTestFinished, test } from "vitest";
import type { AppCall } from "../app-transport.ts";
import { createAppTransport } from "../network-transport.ts";
import { createMcpTransport } from "./transport.ts";

const [one, two] = [createId("prj", 1), createId("prj", 2)];
const tool = { name: "save", description: "Saves.", inputSchema: { type: "object" } };

type Message = { readonly id?: number; readonly method: string; readonly params?: { readonly cursor?: string } };
type Respond = (message: Message, res: ServerResponse, req: IncomingMessage) => unknown;

/**
 * Starts an MCP server of 2025-11-25. `respond` answers a message, or returns its result. The session has an id if `sessionIds` has one
 * left.
 */
async function startServer(respond: Respond, sessionIds: string[] = []) {
  const methods: string[] = [];
  const server = createServer(async (req, res) => {
    const message = (await json(req)) as Message;
    methods.push(message.method);
    const sessionId = message.method === "initialize" ? sessionIds.shift() : undefined;
    if (sessionId !== undefined) res.setHeader("mcp-session-id", sessionId);
    const result =
      message.method === "initialize"
        ? { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
        : message.method.startsWith("notifications/") || message.method === "server/discover"
          ? undefined
          : await respond(message, res, req);
    if (res.writableEnded || res.headersSent || res.destroyed) return;
    if (result === undefined) return void res.writeHead(message.id === undefined ? 202 : 400).end();
    reply(res, message, result);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const network = createAppTransport({ guard: createAddressGuard({ allowedRanges: ["127.0.0.1/32"] }) });
  onTestFinished(() => network.close());
  const times: [method: string, timeoutMs: number][] = [];
  const drifted: string[] = [];
  const observed: typeof network = {
    ...network,
    exchange(request, party, options) {
      times.push([(JSON.parse(request.body ?? "") as Message).method, options.timeoutMs]);
      return network.exchange(request, party, options);
    },
  };
  const transport = createMcpTransport(observed, ({ action }) => drifted.push(action.slug));
  const call = (
    changes: Partial<{ projectId: string; accountId: string; timeoutMs: number; offered: object }> = {},
  ) => {
    const { projectId = one, accountId = "acc_1", timeoutMs = 5_000, offered = tool } = changes;
    const action = { slug: "app.save", class: "write", mcp: { tool: "save", digest: mcpToolDigest(offered) } };
    const toolkit = { slug: "app", ownerProjectId: projectId, originDigest: "o" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "save" } });
    return transport.send(
      { method: "POST", url, headers: {}, body },
      { projectId, accountId, toolkit, action, entityId: "ann", scheme: "none" } as unknown as AppCall,
      { timeoutMs },
    );
  };
  const count = (method: string) => methods.filter((other) => other === method).length;
  return { call, count, times, drifted };
}

function reply(res: ServerResponse, { id }: Message, result: unknown): void {
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

const listing = (message: Message) => (message.method === "tools/list" ? { tools: [tool] } : undefined);
const done = { content: [{ type: "text", text: "done" }] };

test("a write that a server without session ids answers with 404 is sent once", async () => {
  const app = await startServer((message, res) => listing(message) ?? res.writeHead(404).end());
  expect(await app.call()).toMatchObject({ kind: "answer", status: 404 });
  expect(await app.call()).toMatchObject({ kind: "answer", status: 404 });
  expect(app.count("tools/call")).toBe(2);
});

test("a write that a server answers with 404 in a session made for it is sent once", async () => {
  const app = await startServer((message, res) => listing(message) ?? res.writeHead(404).end(), ["a", "b"]);
  expect(await app.call()).toMatchObject({ kind: "answer", status: 404 });
  expect(app.count("tools/call")).toBe(1);
});

test("a call in a kept session with an id that the server has forgotten is sent again in a new one", async () => {
  let known = "a";
  const respond: Respond = (message, res, req) =>
    req.headers["mcp-session-id"] === known ? (listing(message) ?? done) : void res.writeHead(404).end();
  const app = await startServer(respond, ["a", "b"]);
  expect(await app.call()).toMatchObject({ kind: "answer", status: 200 });
  known = "b";
  expect(await app.call()).toMatchObject({ kind: "answer", status: 200 });
  expect(app.count("initialize")).toBe(2);
});

test.each([202, 204, 200])("a write without a response (%i) may have been executed", async (status) => {
  const app = await startServer((message, res) => listing(message) ?? res.writeHead(status).end());
  // The result comes at once. If the call waited until its end, the test would end first.
  expect(await app.call({ timeoutMs: 600_000 })).toMatchObject({ kind: "broken", sent: true });
  expect(app.count("tools/call")).toBe(1);
});

test.each([
  [-32_602, ["app.save"]],
  [-32_603, []],
])("a server that answers a call with the error %i: is its list read soon?", async (code, drifted) => {
  const app = await startServer((message, res) => {
    const error = { code, message: "no" };
    return (
      listing(message) ??
      res
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error }))
    );
  });
  expect(await app.call()).toMatchObject({ kind: "answer" });
  expect(app.drifted).toEqual(drifted);
});

test("a list of tools that is longer than 8 MiB in all its pages is refused", async () => {
  const filler = { ...tool, name: "other", description: "x".repeat(3_000_000) };
  const app = await startServer(({ method, params }) => {
    if (method !== "tools/list") return done;
    const page = Number(params?.cursor ?? 0);
    return { tools: [page === 0 ? tool : filler], nextCursor: String(page + 1) };
  });
  const answer = await app.call();
  expect(String(answer.kind === "answer" && answer.body)).toContain("its list is too long");
  expect(app.count("tools/list")).toBe(4);
  expect(app.count("tools/call")).toBe(0);
});

test("a tool with more than 5,000 values is never called", async () => {
  const large = { ...tool, inputSchema: { type: "object", enum: Array.from({ length: 5_000 }, () => 1) } };
  const app = await startServer(({ method }) => (method === "tools/list" ? { tools: [large] } : done));
  const answer = await app.call({ offered: large });
  expect(answer).toMatchObject({
    kind: "withheld",
    message: expect.stringMatching(/svc toolkits refresh \w+, and then svc toolkits accept/),
  });
  expect(app.count("tools/call")).toBe(0);
});

test("a project keeps at most 32 sessions, and does not use up those of another project", async () => {
  const app = await startServer((message) => listing(message) ?? done);
  await app.call({ projectId: two, accountId: "other" });
  for (let account = 0; account < 33; account++) await app.call({ accountId: `acc_${account}` });
  const before = app.count("initialize");
  await app.call({ projectId: two, accountId: "other" });
  await app.call({ accountId: "acc_32" });
  await app.call({ accountId: "acc_1" });
  expect(app.count("initialize")).toBe(before);
  await app.call({ accountId: "acc_0" });
  expect(app.count("initialize")).toBe(before + 1);
});

test("a call with little time leaves the opening of the session to the next one", async () => {
  let isSlow = true;
  const app = await startServer(async (message, res) => {
    if (message.method !== "tools/list") return reply(res, message, done);
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 300));
    isSlow = false;
    reply(res, message, { tools: [tool] });
  });
  const short = app.call({ timeoutMs: 200 });
  const long = app.call();
  expect(await short).toMatchObject({ kind: "unreachable" });
  expect(await long).toMatchObject({ kind: "answer", status: 200 });
  expect(app.count("initialize")).toBe(1);
  expect(app.count("tools/list")).toBe(1);
});

test.each(["elicitation/create", "sampling/createMessage", "roots/list"])(
  "a call in which the server asks for %s ends at once, and the server is told to wait for no answer",
  async (method) => {
    const question = JSON.stringify({ jsonrpc: "2.0", id: "q", method, params: { message: "Your password?" } });
    const app = await startServer((message, res) => {
      const listed = listing(message);
      if (listed !== undefined) return listed;
      res.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${question}\n\n`);
    });
    const answer = await app.call({ timeoutMs: 600_000 });
    const text = String(answer.kind === "answer" && answer.body);
    expect(text).toContain("the server asks its user for something; svc does not pass that on. It may have changed");
    expect(text).not.toContain("password");
    await expect.poll(() => app.count("notifications/cancelled")).toBe(1);
  },
);

test("the server learns that a call was given up after its time, in a message that gets 2 s", async () => {
  let isQuick = true;
  const app = await startServer((message, res) => {
    const listed = listing(message) ?? (isQuick ? done : undefined);
    if (listed !== undefined) return listed;
    res.writeHead(200, { "content-type": "text/event-stream" }).write(":\n\n");
  });
  // The second call has a session already, so its time is for its own message only.
  expect(await app.call({ timeoutMs: 60_000 })).toMatchObject({ kind: "answer" });
  isQuick = false;
  expect(await app.call({ timeoutMs: 1_000 })).toMatchObject({ kind: "timeout", sent: true });
  await expect.poll(() => app.count("notifications/cancelled")).toBe(1);
  expect(app.times.at(-1)).toEqual(["notifications/cancelled", 2_000]);
});
