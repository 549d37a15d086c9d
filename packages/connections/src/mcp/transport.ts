import { isObject, parseExactJson } from "@svc/core";
import type { AppAnswer, AppCall, AppRequest, AppTransport } from "../app-transport.ts";
import type { NetworkTransport } from "../network-transport.ts";
import { type KeptSession, KeptSessions } from "./kept-sessions.ts";
import { type ListedTools, listTools } from "./list-tools.ts";
import { answerOf, failedAnswer, refusalOf } from "./read-result.ts";
import { type McpNetwork, type McpOperation, type McpResult, type McpSession, openSession } from "./session.ts";

/** Maximum age in milliseconds of a list of tools with which svc compares the accepted definition before a call. */
const listFreshMs = 300_000;
/** Maximum time in milliseconds to open a session, and to read a list of tools. Calls that wait for them have their own time. */
const preparingMs = 30_000;

type Context = {
  readonly network: Pick<NetworkTransport, "send"> & McpNetwork;
  readonly sessions: KeptSessions;
  readonly onDrift: (call: AppCall) => void;
};

/**
 * Creates the transport for calls to apps. Calls of tools of MCP servers go through sessions, one for each project, toolkit and account.
 * All other requests go to `network` unchanged. Before a call, svc compares the server's description of the tool with the one that a person
 * accepted. If they differ, svc does not send the call, and calls `onDrift` with it. `onDrift` is also called if the server refuses the
 * name or the arguments of a call, because the server may have changed the tool since. `countSessions`: returns the number of kept
 * sessions.
 */
export function createMcpTransport(
  network: Context["network"],
  onDrift: Context["onDrift"] = () => {},
): AppTransport & { readonly countSessions: () => number } {
  const context: Context = { network, sessions: new KeptSessions(), onDrift };
  return {
    countSessions: () => context.sessions.size,
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
  // The call is repeated once in a new session. Any other answer 404 comes from the tool, so the call may have been executed.
  const last = first.isLost ? await callOnce(context, operation, { request, call }) : first;
  return toAnswer(last.result, call);
}

type CallResult = McpResult | { readonly kind: "withheld"; readonly message: string };

/**
 * Result of one attempt. `isLost`: true if the server does not know the session any more. It has then not executed the call (MCP 2025-11-25,
 * session management).
 */
type Attempt = { readonly result: CallResult; readonly isLost: boolean };

async function callOnce(
  context: Context,
  operation: McpOperation,
  { request, call }: { readonly request: AppRequest; readonly call: AppCall },
): Promise<Attempt> {
  const { kept, isReused } = keptSession(context, call, request);
  const session = await within(operation, kept.opening);
  if (session === undefined) return { result: late, isLost: false };
  if ("kind" in session) return { result: forgetting(context, call, kept, session), isLost: false };
  const failed = (failure: Exclude<McpResult, { kind: "message" }>): Attempt => ({
    result: forgetting(context, call, kept, failure),
    isLost: isReused && session.hasId && isNotFound(failure),
  });
  const listed = await within(operation, freshList(kept, session, request));
  if (listed === undefined) return { result: late, isLost: false };
  if (listed.kind !== "listed") return failed({ ...listed, isSent: false });
  const withheld = driftOf(call, listed);
  if (withheld !== undefined) {
    context.onDrift(call);
    return { result: { kind: "withheld", message: withheld }, isLost: false };
  }
  const { name, args } = callOf(request);
  const result = await session.callTool({ name, args, tool: listed.tools.get(name)?.described }, operation);
  if (result.kind !== "message") return failed(result);
  const { error } = result.message.value;
  if (isObject(error) && error["code"] === invalidParams) context.onDrift(call);
  return { result, isLost: false };
}

/** JSON-RPC error code of a server that does not know the tool, or that refuses its arguments. */
const invalidParams = -32_602;

function isNotFound(result: McpResult): boolean {
  return result.kind === "answer" && result.answer.kind === "answer" && result.answer.status === 404;
}

/** Result of a call whose time ended before its session was ready. The session stays for the next call. */
const late: McpResult = {
  kind: "answer",
  answer: { kind: "timeout", sent: false, message: "the server did not answer in time" },
  isSent: false,
};

/** Returns the result of work that several calls wait for. Resolves to undefined if the time of this call's operation ends first. */
async function within<Value>({ endMs }: McpOperation, work: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, endMs - performance.now()));
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the name and the arguments of a tool in the JSON-RPC message that svc made for a call. */
function callOf({ body = "" }: AppRequest): { name: string; args: Readonly<Record<string, unknown>> } {
  const { params } = parseExactJson(body) as {
    readonly params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> };
  };
  return { name: params.name, args: params.arguments ?? {} };
}

/** Returns why a call is withheld: the server describes the tool otherwise than when a person accepted it. Undefined if it does not. */
function driftOf({ toolkit, action: { slug, mcp } }: AppCall, { tools }: ListedTools): string | undefined {
  const now = mcp === undefined ? undefined : tools.get(mcp.tool);
  if (mcp === undefined || (now?.digest !== undefined && now.digest === mcp.digest)) return undefined;
  const what =
    now === undefined ? "the MCP server does not list it any more" : "its definition at the MCP server has changed";
  const shown = `${slug} was not called: ${what} since an approver accepted it`;
  return `${shown}. An approver runs svc toolkits refresh ${toolkit.slug}, and then svc toolkits accept ${toolkit.slug}`;
}

function freshList(kept: KeptSession, session: McpSession, request: AppRequest): ReturnType<typeof listTools> {
  const nowMs = performance.now();
  if (kept.list === undefined || nowMs - kept.list.readMs > listFreshMs) {
    kept.list = { reading: listTools(session, { request, endMs: nowMs + preparingMs }), readMs: nowMs };
  }
  return kept.list.reading;
}

function keyOf({ projectId, toolkit, accountId }: AppCall): string | undefined {
  if (accountId === undefined) return undefined;
  return JSON.stringify([projectId, toolkit.slug, toolkit.originDigest, accountId]);
}

/**
 * Returns the session of the account, or opens one. A call of an account that is not stored yet gets a session of its own. `isReused`: false
 * if the session was made for this call.
 */
function keptSession(
  { network, sessions }: Context,
  call: AppCall,
  request: AppRequest,
): { readonly kept: KeptSession; readonly isReused: boolean } {
  const key = keyOf(call);
  const known = key === undefined ? undefined : sessions.use(key);
  if (known !== undefined) return { kept: known, isReused: true };
  const usedMs = performance.now();
  const opening = openSession(network, call, { request, endMs: usedMs + preparingMs });
  const made: KeptSession = { projectId: call.projectId, opening, usedMs, list: undefined };
  if (key !== undefined) sessions.add(key, made);
  return { kept: made, isReused: false };
}

/** Removes the session of a call that failed, so that the next call opens a new one. Returns the failure. */
function forgetting<Failure extends CallResult>(
  { sessions }: Context,
  call: AppCall,
  kept: KeptSession,
  failure: Failure,
): Failure {
  const key = keyOf(call);
  if (key !== undefined) sessions.remove(key, kept);
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
        ? { kind: "broken", sent: true, message: `the MCP server's answer cannot be used: ${result.reason}` }
        : failedAnswer(`the server cannot be used as an MCP server: ${result.reason}`, "read");
    case "answer":
      return refusalOf(result.isSent ? result.answer : unsent(result.answer));
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
