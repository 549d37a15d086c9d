import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import type { Fault } from "@svc/core";
import { answerRefusal } from "./errors.ts";
import { type KeptArguments, keepArguments } from "./kept-arguments.ts";
import type { McpTools } from "./mcp-tools.ts";
import { instructions, metaTools } from "./meta-tools.ts";
import type { McpAnswer, McpRequest } from "./request.ts";

/** One POST on its way to its answer. */
export type Exchange = Omit<McpRequest, "body" | "onLabel"> & {
  readonly tools: McpTools;
  readonly version: string;
  readonly json: unknown;
  readonly isBatch: boolean;
};

// Each server would make one of its own, a millisecond each; none of them ever validates with it.
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/**
 * Answers the messages of one POST with a server that lives as long as it. Rejects with the signal's reason, and with the
 * error of a store that is away, for which HTTP has a better answer; a batch has answers beside that one, and keeps them.
 */
export async function exchange(request: Exchange): Promise<McpAnswer> {
  const away = Promise.withResolvers<never>();
  // What is lost after the answer is nobody's.
  away.promise.catch(() => {});
  const { signal } = request;
  const onAbort = () => away.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const kept = keepArguments(request.json);
  const server = createServer(request, kept, away.reject);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    signal.throwIfAborted();
    await server.connect(transport);
    const handled = transport.handleRequest(requestOf(request), { parsedBody: kept.json });
    const response = await Promise.race([handled, away.promise]);
    return { status: response.status, body: await response.text() };
  } finally {
    signal.removeEventListener("abort", onAbort);
    await server.close();
  }
}

function createServer(request: Exchange, kept: KeptArguments, onAway: (error: Fault) => void): Server {
  const { version } = request;
  const server = new Server(
    { name: "svc", title: "svc tools", version },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...metaTools] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args = {} } }) =>
    callTool(request, { name, args: kept.of(args) }, onAway),
  );
  return server;
}

async function callTool(
  { tools, principal, mapError, isBatch }: Exchange,
  { name, args }: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  onAway: (error: Fault) => void,
): Promise<CallToolResult> {
  if (!tools.has(name)) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 80)}`);
  const answer = await tools.call(name, args, principal).catch((error: unknown) => {
    const refusal = mapError(error);
    if (refusal.code === "unavailable" && !isBatch) onAway(refusal);
    return answerRefusal(refusal);
  });
  return {
    content: answer.texts.map((text) => ({ type: "text", text })),
    structuredContent: answer.structured,
    isError: answer.isError,
  };
}

/** The request as the transport reads it: only these headers mean anything to it, and answers are always JSON. */
function requestOf({ protocolVersion }: Exchange): Request {
  const headers = new Headers({ accept: "application/json, text/event-stream", "content-type": "application/json" });
  if (protocolVersion !== undefined) headers.set("mcp-protocol-version", protocolVersion);
  return new Request("http://localhost/mcp", { method: "POST", headers });
}
