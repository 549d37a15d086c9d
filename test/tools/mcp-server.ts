import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { createMcpHandler, Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

/** The two eras of the protocol that svc speaks. */
export type McpEra = "2025-11-25" | "2026-07-28";

/** A tool of the test server: its description, as the server lists it. */
export type ServerTool = { readonly name: string } & Readonly<Record<string, unknown>>;

/** A call that reached a tool of the server. */
export type ServedCall = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
};

/** An MCP server on loopback, built with the official library. */
export type TestMcpServer = {
  readonly url: string;
  /** Calls of tools, in their order. */
  readonly calls: ServedCall[];
  /** JSON-RPC methods of all messages that arrived, in their order. */
  readonly methods: string[];
  /** The tools that the server lists. A test may change them. */
  tools: readonly ServerTool[];
  /** Returns the result of a call. Default: the arguments as structured content. */
  run: (call: ServedCall) => unknown;
  /** Header and value that every request must have; undefined if none. Other requests get the status 401. */
  key: readonly [name: string, value: string] | undefined;
  /** True if the headers of a request are those of an authorized caller. Undefined if every caller is. */
  isAuthorized: ((headers: IncomingHttpHeaders) => boolean) | undefined;
  /** Headers of the answer 401. */
  challenge: Record<string, string>;
  /** JSON documents that the server publishes, by path. */
  metadata: Record<string, () => string>;
  /** Error with which the server answers every request. Undefined if it answers as usual. */
  failure: { readonly code: number; readonly message: string } | undefined;
  /** HTTP answer to every call of a tool. Undefined if calls are answered as usual. */
  refusal: { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | undefined;
  /** Called with each call before it runs. It may end the connection. */
  before: (call: ServedCall, res: ServerResponse) => void;
  /** Called with the JSON-RPC method of each message that arrives. The message waits until the result resolves. */
  arrived: (method: string) => Promise<void> | undefined;
  /** Called with the JSON-RPC method of each message after its answer was written. */
  answered: (method: string) => void;
  /** Forgets all sessions of the older era, as after a restart. */
  forgetSessions(): void;
  close(): Promise<void>;
};

/** Starts an MCP server. */
export async function startMcpServer(era: McpEra, tools: readonly ServerTool[]): Promise<TestMcpServer> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  let current: { headers: IncomingHttpHeaders; res: ServerResponse } | undefined;
  const createLibraryServer = () => {
    const library = new Server(
      { name: "tracker-mcp", title: "Tracker", version: "2.1.0" },
      { capabilities: { tools: {} } },
    );
    library.setRequestHandler("tools/list", () => ({ tools: [...test.tools] }) as never);
    library.setRequestHandler("tools/call", ({ params }) => {
      const call = { name: params.name, args: params.arguments ?? {}, headers: current?.headers ?? {} };
      test.calls.push(call);
      if (current !== undefined) test.before(call, current.res);
      return test.run(call) as never;
    });
    return library;
  };
  const modern = createMcpHandler(createLibraryServer, { legacy: "reject" });
  const serveLegacy = async (request: Request): Promise<Response> => {
    const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known !== undefined) return known.handleRequest(request);
    if (request.headers.has("mcp-session-id")) return Response.json({ error: "no such session" }, { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createLibraryServer().connect(transport);
    return transport.handleRequest(request);
  };
  const server = createServer(async (req, res) => {
    const body = await buffer(req);
    const [method = ""] = messagesOf(body).map((message) => message.method);
    if (body.length > 0) test.methods.push(method);
    res.on("finish", () => test.answered(method));
    await test.arrived(method);
    const metadata = test.metadata[req.url ?? ""];
    if (metadata !== undefined) return void res.writeHead(200, { "content-type": "application/json" }).end(metadata());
    const isRefused = test.key !== undefined && req.headers[test.key[0]] !== test.key[1];
    if (isRefused || test.isAuthorized?.(req.headers) === false) return void res.writeHead(401, test.challenge).end();
    if (test.failure !== undefined) {
      const [message] = messagesOf(body);
      res.writeHead(200, { "content-type": "application/json" });
      return void res.end(JSON.stringify({ jsonrpc: "2.0", id: message?.id, error: test.failure }));
    }
    if (test.refusal !== undefined && method === "tools/call")
      return void res.writeHead(test.refusal.status, { ...test.refusal.headers }).end("{}");
    current = { headers: req.headers, res };
    const request = requestOf(req, body);
    await write(res, await (era === "2026-07-28" ? modern.fetch(request) : serveLegacy(request)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const test: TestMcpServer = {
    url: `http://127.0.0.1:${address.port}/mcp`,
    ...{ calls: [], methods: [], tools, key: undefined },
    ...{ isAuthorized: undefined, challenge: {}, metadata: {}, failure: undefined, refusal: undefined },
    run: ({ args }) => ({ content: [{ type: "text", text: "done" }], structuredContent: args }),
    before: () => {},
    arrived: () => undefined,
    answered: () => {},
    forgetSessions: () => sessions.clear(),
    async close() {
      server.closeAllConnections();
      server.close();
      await modern.close();
    },
  };
  return test;
}

function messagesOf(body: Buffer): { method: string; id?: unknown }[] {
  if (body.length === 0) return [];
  const value: unknown = JSON.parse(body.toString());
  return [value].flat() as { method: string; id?: unknown }[];
}

function requestOf(req: IncomingMessage, body: Buffer): Request {
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const hasBody = req.method === "POST";
  return new Request(`http://${req.headers.host}${req.url}`, {
    method: req.method ?? "GET",
    headers,
    ...(hasBody && { body: new Uint8Array(body) }),
  });
}

async function write(res: ServerResponse, response: Response): Promise<void> {
  if (res.destroyed) return;
  res.writeHead(response.status, Object.fromEntries(response.headers.entries()));
  if (response.body !== null) for await (const chunk of response.body) res.write(chunk);
  res.end();
}
