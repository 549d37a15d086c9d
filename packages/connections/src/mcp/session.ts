import { AsyncLocalStorage } from "node:async_hooks";
import type { Client } from "@modelcontextprotocol/client";
import { isObject, parseExactJson } from "@svc/core";
import type { AppAnswer, AppRequest } from "../app-transport.ts";
import type { ExchangeParty, NetworkTransport } from "../network-transport.ts";
import { createResponseWatch, isQuestion, readResponse, type ServerResponse } from "./messages.ts";

/** Time and credential of one operation with an MCP server. `request`: address and headers, with the credential of the account. */
export type McpOperation = {
  readonly request: Pick<AppRequest, "url" | "headers">;
  /** End of the operation, in milliseconds of `performance.now()`. */
  readonly endMs: number;
};

/**
 * Result of an operation with an MCP server.
 * - `message`: the server's response.
 * - `answer`: the server gave no response. The field contains the last HTTP answer, or the reason why there is none.
 * - `other`: the server does not follow the protocol, for the given `reason`.
 *
 * `isSent`: true if svc may have sent the operation's own message; false if svc only tried to open the session.
 */
export type McpResult =
  | { readonly kind: "message"; readonly message: ServerResponse }
  | { readonly kind: "answer"; readonly answer: AppAnswer; readonly isSent: boolean }
  | { readonly kind: "other"; readonly reason: string; readonly isSent: boolean };

/** An open session with an MCP server. */
export type McpSession = {
  /** Protocol revision that svc and the server use, such as `2026-07-28`. */
  readonly protocol: string;
  /** How the server names itself. Empty texts if it does not. */
  readonly server: { readonly name: string; readonly title: string; readonly version: string };
  /** True if the server has tools. */
  readonly hasTools: boolean;
  /** True if the server gave the session an id. Only such a session can become unknown to the server, which then answers 404. */
  readonly hasId: boolean;
  /** Calls a tool. Never rejects. */
  callTool(params: SessionCall, operation: McpOperation): Promise<McpResult>;
  /** Requests a page of the list of tools. `cursor`: undefined for the first page. Never rejects. */
  listTools(cursor: string | undefined, operation: McpOperation): Promise<McpResult>;
};

/**
 * Name and arguments of a call. `tool`: the server's description of the tool as a JSON text, from which headers of the call are made;
 * undefined if the tool has no such headers.
 */
export type SessionCall = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly tool: string | undefined;
};

/**
 * A finished request of svc to an MCP server, for metrics. `era`: protocol revision of the session; `none` if no session was opened.
 * `method`: `initialize` for the opening of a session, else the JSON-RPC method. `outcome`: `ok`, `error` (a JSON-RPC error), `malformed`,
 * `status` (an HTTP error status), or the kind of the failed HTTP request.
 */
export type UpstreamRequest = {
  readonly era: "2025-11-25" | "2026-07-28" | "none";
  readonly method: "initialize" | "tools/list" | "tools/call";
  readonly outcome: "ok" | "error" | "malformed" | "status" | Exclude<AppAnswer["kind"], "answer">;
};

/** Network of the sessions with MCP servers. `onRequest`: called with each finished request. */
export type McpNetwork = Pick<NetworkTransport, "exchange"> & {
  readonly onRequest?: ((request: UpstreamRequest) => void) | undefined;
};

/** State of an operation in progress, which the function that sends HTTP requests fills in. */
type Running = McpOperation & {
  /** The JSON-RPC method of the operation itself. Undefined while the session is opened. */
  readonly method: string | undefined;
  /** Ends the HTTP request of the operation. */
  readonly cancel: AbortController;
  answer: AppAnswer | undefined;
  message: ServerResponse | undefined;
  isSent: boolean;
  exchange: Promise<unknown> | undefined;
};

/** Maximum bytes of an answer that the library for MCP reads itself: those that open a session, and errors. */
const openingBytesMax = 262_144;

const running = new AsyncLocalStorage<Running>();

/**
 * Opens a session with an MCP server. It negotiates the protocol revision. Resolves to the failure if the server cannot be reached or does
 * not follow the protocol. All HTTP requests of the session pass the address guard and the limits of the party (the project).
 */
export async function openSession(
  network: McpNetwork,
  party: ExchangeParty,
  operation: McpOperation,
): Promise<McpSession | Exclude<McpResult, { kind: "message" }>> {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client(
    { name: "svc", version: "0.1" },
    {
      versionNegotiation: { mode: "auto" },
      inputRequired: { autoFulfill: false },
      // svc judges results by the schema of the accepted definition, not by what the server says now.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
  // The address is only a placeholder: each request goes to the address of its operation.
  const transport = new StreamableHTTPClientTransport(new URL(operation.request.url), {
    fetch: (_url, init) => post(network, party, init),
  });
  const timeout = operation.endMs - performance.now();
  const opened = await run(operation, undefined, () => client.connect(transport, { timeout }));
  const era = opened.failed === undefined ? eraOf(client.getNegotiatedProtocolVersion()) : "none";
  const report = (method: UpstreamRequest["method"], result: McpResult | undefined) =>
    network.onRequest?.({ era, method, outcome: result === undefined ? "ok" : outcomeOf(result) });
  report("initialize", opened.failed);
  if (opened.failed !== undefined) return opened.failed;
  const reported = async (method: "tools/list" | "tools/call", work: Promise<McpResult>) => {
    const result = await work;
    report(method, result);
    return result;
  };
  const { name = "", title = "", version = "" } = client.getServerVersion() ?? {};
  return {
    protocol: client.getNegotiatedProtocolVersion() ?? "",
    server: { name, title, version },
    hasTools: client.getServerCapabilities()?.tools !== undefined,
    hasId: transport.sessionId !== undefined,
    callTool: (call, given) =>
      reported(
        "tools/call",
        request(given, "tools/call", (options) => callTool(client, call, options)),
      ),
    listTools: (cursor, given) =>
      reported(
        "tools/list",
        request(given, "tools/list", (options) =>
          client.listTools(cursor === undefined ? undefined : { cursor }, { ...options, cacheMode: "refresh" }),
        ),
      ),
  };
}

/** Returns the era of a protocol revision. Revisions before 2026 have sessions that begin with `initialize`. */
function eraOf(protocol = ""): UpstreamRequest["era"] {
  return protocol >= "2026" ? "2026-07-28" : "2025-11-25";
}

function outcomeOf(result: McpResult): UpstreamRequest["outcome"] {
  if (result.kind === "message") return "error" in result.message.value ? "error" : "ok";
  if (result.kind === "other") return "malformed";
  return result.answer.kind === "answer" ? "status" : result.answer.kind;
}

type LibraryOptions = { readonly timeout: number };

function callTool(client: Client, { name, args, tool }: SessionCall, options: LibraryOptions): Promise<unknown> {
  const described = tool === undefined ? undefined : parseExactJson(tool);
  // With a definition, the library never sends a call twice, not even if the server says that headers are missing.
  const definition = { name, inputSchema: { type: "object" }, ...(isObject(described) && described) };
  const toolDefinition = { ...definition, outputSchema: undefined } as never;
  return client.callTool({ name, arguments: { ...args } }, { ...options, toolDefinition });
}

async function request(
  operation: McpOperation,
  method: string,
  send: (options: LibraryOptions) => Promise<unknown>,
): Promise<McpResult> {
  const timeout = Math.max(1, operation.endMs - performance.now() - cancelEarlierMs);
  const { state, failed } = await run(operation, method, () => send({ timeout }));
  if (state.message !== undefined) return { kind: "message", message: state.message };
  return failed ?? { kind: "other", reason: "it did not respond to the request", isSent: state.isSent };
}

/**
 * Runs `work`, an operation of the MCP library, and returns its state. `failed`: why the operation failed; undefined if it did not fail.
 */
async function run(
  operation: McpOperation,
  method: string | undefined,
  work: () => Promise<unknown>,
): Promise<{ readonly state: Running; readonly failed: Exclude<McpResult, { kind: "message" }> | undefined }> {
  const state: Running = {
    ...operation,
    ...{ method, cancel: new AbortController() },
    ...{ answer: undefined, message: undefined, isSent: false, exchange: undefined },
  };
  try {
    // The function `post` finds this state in `running`. So it knows to which operation the library's requests belong.
    await running.run(state, work);
    return { state, failed: undefined };
  } catch (error) {
    // The library does not wait for a response any more. The HTTP request must end too.
    state.cancel.abort();
    await state.exchange;
    const { answer, isSent } = state;
    const isFailure = answer !== undefined && (answer.kind !== "answer" || answer.status > 299);
    if (isFailure) return { state, failed: { kind: "answer", answer, isSent } };
    return { state, failed: { kind: "other", reason: reasonOf(error), isSent } };
  }
}

/** Error with svc's own words. Every other error may repeat what the server said, such as a credential that was sent to it. */
class UnusableAnswerError extends Error {
  override name = "UnusableAnswerError";
}

/** Returns why an operation failed, without any words of the server. */
function reasonOf(error: unknown): string {
  let cause = error;
  // The library wraps an error several times at most.
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++, cause = cause.cause) {
    if (cause instanceof UnusableAnswerError) return cause.message;
    if ("code" in cause && Number.isSafeInteger(cause.code)) return `it answered with the JSON-RPC error ${cause.code}`;
  }
  return "it does not follow the protocol";
}

/**
 * Time in milliseconds by which the library gives an operation up before its HTTP request ends. Otherwise the request could end first, and
 * the library would not cancel the operation at the server.
 */
const cancelEarlierMs = 20;

/** Maximum time in milliseconds to send the message that cancels an operation whose own time has ended. */
const cancelMs = 2_000;

/** Sends an HTTP request of the library for MCP, as part of the operation that runs. Only POST requests are sent. */
async function post(
  network: Pick<NetworkTransport, "exchange">,
  party: ExchangeParty,
  init: RequestInit | undefined,
): Promise<Response> {
  const state = running.getStore();
  // svc does not listen to messages that the server sends outside of a request, and leaves the end of a session to the server.
  if (state === undefined || init?.method !== "POST") return new Response(null, { status: 405 });
  const body = String(init.body);
  const message = parseExactJson(body);
  const { method, id } = isObject(message) ? message : {};
  const isOwn = method !== undefined && method === state.method;
  const isCancel = method === "notifications/cancelled";
  const headers = Object.fromEntries(new Headers(init.headers).entries());
  const sent = { method: "POST", url: state.request.url, headers: { ...state.request.headers, ...headers }, body };
  const exchange = network.exchange(sent, party, {
    timeoutMs: isCancel ? cancelMs : Math.max(1, state.endMs - performance.now()),
    signal: isOwn ? state.cancel.signal : undefined,
    isComplete: id === undefined ? undefined : createResponseWatch(id),
  });
  if (isOwn) {
    state.isSent = true;
    state.exchange = exchange;
  }
  const answer = await exchange;
  // The answer to a message that cancels the operation says nothing about the operation.
  if (!isCancel) state.answer = answer;
  if (answer.kind !== "answer")
    throw new UnusableAnswerError("message" in answer ? answer.message : "the answer is too large");
  if (!isOwn || answer.status < 200 || answer.status > 299) return responseOf(answer);
  state.message = answer.status === 200 ? await readResponse(answer, id) : undefined;
  if (state.message === undefined) {
    // The stream broke off, or its content is no response. What the server did is unknown.
    state.answer = {
      kind: "broken",
      sent: true,
      message: "the answer of the MCP server has no response to the request",
    };
    throw new UnusableAnswerError("it did not respond to the request");
  }
  if (isQuestion(state.message.value)) {
    // svc ends the call without an answer to the question. The server must not wait for it.
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } };
    void network.exchange({ ...sent, body: JSON.stringify(cancelled) }, party, { timeoutMs: cancelMs });
  }
  return stub(state.message, id);
}

/** Returns an answer that says to the MCP library only if the call succeeded. svc reads the content of the server's response itself. */
function stub({ value }: ServerResponse, id: unknown): Response {
  const result = { resultType: "complete", tools: [], content: [], ttlMs: 0, cacheScope: "private" };
  const outcome = "error" in value ? { error: { code: -32_603, message: "error" } } : { result };
  return Response.json({ jsonrpc: "2.0", id, ...outcome });
}

function responseOf({ status, headers, body }: AppAnswer & { readonly kind: "answer" }): Response {
  if (body.byteLength > openingBytesMax) throw new UnusableAnswerError("its answer is too large");
  const hasBody = body.byteLength > 0 && ![204, 205, 304].includes(status);
  return new Response(hasBody ? new Uint8Array(body) : null, { status, headers: pickHeaders(headers) });
}

function pickHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const names = ["content-type", "mcp-session-id", "www-authenticate"];
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}
