import { LeastRecentlyUsed, parseExactJson } from "@svc/core";
import type { AppAnswer, AppCall, AppRequest, AppTransport } from "../app-transport.ts";
import type { NetworkTransport } from "../network-transport.ts";
import { type ListedTools, listTools } from "./list-tools.ts";
import { answerOf, failedAnswer } from "./read-result.ts";
import { type McpOperation, type McpResult, type McpSession, openSession } from "./session.ts";

/** Maximum number of sessions with MCP servers that a node keeps, for all projects together. */
const sessionsMax = 256;
/** Time in milliseconds after which a session without calls is not used any more. */
const idleMs = 300_000;
/** Maximum age in milliseconds of a list of tools with which svc compares the accepted definition before a call. */
const listFreshMs = 300_000;

type KeptSession = {
  readonly opening: ReturnType<typeof openSession>;
  usedMs: number;
  list: { readonly reading: ReturnType<typeof listTools>; readonly readMs: number } | undefined;
};

type Context = {
  readonly network: Pick<NetworkTransport, "send" | "exchange">;
  readonly sessions: LeastRecentlyUsed<string, KeptSession>;
};

/**
 * Creates the transport for calls to apps. Calls of tools of MCP servers go through sessions, one for each project, toolkit and account. All
 * other requests go to `network` unchanged. Before a call, svc compares the server's description of the tool with the one that a person
 * accepted. If they differ, the call is withheld.
 */
export function createMcpTransport(network: Context["network"]): AppTransport {
  const context: Context = { network, sessions: new LeastRecentlyUsed(sessionsMax) };
  return {
    send: (request, call, options) =>
      call.action.mcp === undefined ? network.send(request, call, options) : sendMcp(context, request, call, options),
  };
}

async function sendMcp(
  context: Context,
  request: AppRequest,
  call: AppCall,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<AppAnswer> {
  const operation = { request, endMs: performance.now() + timeoutMs };
  const first = await callOnce(context, operation, { request, call });
  // A server that does not know the session has not executed the call. The call is repeated once in a new session.
  const isLost = first.kind === "answer" && first.answer.kind === "answer" && first.answer.status === 404;
  const last = isLost ? await callOnce(context, operation, { request, call }) : first;
  return toAnswer(last, call);
}

type CallResult = McpResult | { readonly kind: "withheld"; readonly message: string };

async function callOnce(
  context: Context,
  operation: McpOperation,
  { request, call }: { readonly request: AppRequest; readonly call: AppCall },
): Promise<CallResult> {
  const kept = keptSession(context, call, operation);
  const session = await kept.opening;
  if ("kind" in session) return forgetting(context, call, session);
  const listed = await freshList(kept, session, operation);
  if (listed.kind !== "listed") return forgetting(context, call, { ...listed, isSent: false });
  const withheld = driftOf(call, listed);
  if (withheld !== undefined) return { kind: "withheld", message: withheld };
  const { name, args } = callOf(request);
  const result = await session.callTool({ name, args, tool: listed.tools.get(name)?.described }, operation);
  return result.kind === "message" ? result : forgetting(context, call, result);
}

/** Returns the name and the arguments of a tool in the JSON-RPC message that svc made for a call. */
function callOf({ body = "" }: AppRequest): { name: string; args: Readonly<Record<string, unknown>> } {
  const { params } = parseExactJson(body) as {
    readonly params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> };
  };
  return { name: params.name, args: params.arguments ?? {} };
}

/** Returns why a call is withheld: the server describes the tool otherwise than when a person accepted it. Undefined if it does not. */
function driftOf({ action: { slug, mcp } }: AppCall, { tools }: ListedTools): string | undefined {
  const now = mcp === undefined ? undefined : tools.get(mcp.tool);
  if (mcp === undefined || now?.digest === mcp.digest) return undefined;
  const what =
    now === undefined ? "the MCP server does not list it any more" : "its definition at the MCP server has changed";
  return `${slug} was not called: ${what} since an approver accepted it. An approver imports the toolkit again to accept the change`;
}

function freshList(kept: KeptSession, session: McpSession, operation: McpOperation): ReturnType<typeof listTools> {
  const nowMs = performance.now();
  if (kept.list === undefined || nowMs - kept.list.readMs > listFreshMs) {
    kept.list = { reading: listTools(session, operation), readMs: nowMs };
  }
  return kept.list.reading;
}

function keyOf({ projectId, toolkit, accountId }: AppCall): string | undefined {
  if (accountId === undefined) return undefined;
  return JSON.stringify([projectId, toolkit.slug, toolkit.originDigest, accountId]);
}

/** Returns the session of the account, or opens one. A call of an account that is not stored yet gets a session of its own. */
function keptSession({ network, sessions }: Context, call: AppCall, operation: McpOperation): KeptSession {
  const key = keyOf(call);
  const nowMs = performance.now();
  const known = key === undefined ? undefined : sessions.get(key);
  if (known !== undefined && nowMs - known.usedMs < idleMs) {
    known.usedMs = nowMs;
    return known;
  }
  const made: KeptSession = { opening: openSession(network, call, operation), usedMs: nowMs, list: undefined };
  if (key !== undefined) sessions.set(key, made);
  return made;
}

/** Removes the session of a call that failed, so that the next call opens a new one. Returns the failure. */
function forgetting<Failure extends CallResult>({ sessions }: Context, call: AppCall, failure: Failure): Failure {
  const key = keyOf(call);
  if (key !== undefined) sessions.delete(key);
  return failure;
}

function toAnswer(result: CallResult, { action }: AppCall): AppAnswer {
  switch (result.kind) {
    case "withheld":
      return result;
    case "message":
      return answerOf(result.message, action.class);
    case "other":
      return result.isSent
        ? failedAnswer(`the MCP server's answer cannot be used: ${result.reason}`, action.class)
        : failedAnswer(`the server cannot be used as an MCP server: ${result.reason}`, "read");
    case "answer":
      return result.isSent ? result.answer : unsent(result.answer);
  }
}

/** Returns the failure of a call before its own message was sent. Nothing was executed, so the same call may be sent again. */
function unsent(answer: AppAnswer): AppAnswer {
  switch (answer.kind) {
    case "broken":
    case "timeout":
      return { kind: "unreachable", message: `no session with the MCP server could be opened: ${answer.message}` };
    case "too_large":
      return failedAnswer("the MCP server's answer is longer than svc reads", "read");
    default:
      return answer;
  }
}
