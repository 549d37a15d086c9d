import type { IncomingMessage, ServerResponse } from "node:http";
import { type Fault, type Principal, type ProjectPrincipal, readForeignText, type WorkMeter } from "@svc/core";
import { type McpHeaders, type McpServer, spokenFault } from "@svc/node";
import type { Admission } from "../admission/admission.ts";
import { actionAuditor } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import type { OpenCalls } from "../auth/open-calls.ts";
import type { McpDoor } from "../authorization/door.ts";
import { scopesOfTool } from "../authorization/scopes.ts";
import { BodyError, readBody } from "../body/body.ts";
import { chargeValues } from "../body/body-values.ts";
import { decodeBody, encodingOf } from "../body/content-encoding.ts";
import { bodyFault, type Intake, pauseBeforeRefusal, shareOf } from "../body/intake.ts";
import { callerGone, serverFaults } from "../errors.ts";
import { lineOf } from "../rpc/answers.ts";
import { acceptRequestId, type Call, ownerOf } from "../rpc/call.ts";
import type { CallErrorMapper } from "../rpc/call-error.ts";
import { type AnswerHeaders, answerCaller, answerError, answerJson, retryHeaders } from "./answer.ts";
import { createEventStream } from "./event-stream.ts";

/** Dependencies of the HTTP handler that answers MCP (Model Context Protocol) requests. */
export type McpOptions = {
  server: Pick<McpServer, "serve">;
  /** Authenticates agents by a key or a grant (a person's permission for an agent). */
  door: McpDoor;
  /** Ends running requests whose callers lose their permission. */
  openCalls: OpenCalls;
  intake: Intake;
  /** Records audited actions before they are executed. */
  audit: AuditLog;
  /** Admits the requests of a project within the project's quotas. */
  admission: Admission;
  bodyBytesMax: number;
  /**
   * Timeout of a request after its body has arrived, in milliseconds. Default 60 s, the same as for calls: twice the limit of a call to an
   * app.
   */
  timeoutMs?: number;
  createRequestId: () => string;
  /** Measures the event loop time that requests use, and gives their work its turns on the event loop. */
  meter: WorkMeter;
  mapError: CallErrorMapper;
  /** Aborts to end every running request when the server stops. */
  shutdownSignal: AbortSignal;
  /** Called for each POST when its answer is written or abandoned. The method of `call` is `mcp/` and the kind of request. */
  onCall: (call: Call, durationMs: number) => void;
};

/** Serves one request of an agent. `query`: query of the request's URL. */
export type McpHandler = (query: string, req: IncomingMessage, res: ServerResponse) => void;

/** A call whose method is set after the body was read, because only the body names the method. */
type McpCall = Omit<Call, "method"> & { method: string };

/**
 * Creates the MCP handler. It supports only POST, with a key or grant (a person's permission for an agent) that is checked before the body
 * is read. It has no sessions, so it does not support GET streams and DELETE.
 */
export function createMcpHandler(options: McpOptions): McpHandler {
  return (query, req, res) => {
    const call: McpCall = {
      requestId: acceptRequestId(req.headers["x-request-id"]) ?? options.createRequestId(),
      method: "mcp/other",
      startedMs: performance.now(),
      principal: undefined,
      code: "ok",
    };
    res.setHeader("x-request-id", call.requestId);
    res.once("close", () => {
      call.leave?.();
      if (!res.writableFinished) call.code = "canceled";
      options.onCall(call, performance.now() - call.startedMs);
    });
    const refusal = refusalOf(req);
    if (refusal !== undefined) return refuse(res, call, refusal);
    answer(req, res, { ...options, call, query }).catch(async (error: unknown) => {
      await pauseBeforeRefusal(error);
      const refusal = mapFailure(error, options, call);
      // RFC 9110 requires the header WWW-Authenticate in every 401 answer. It contains the address where clients can ask for a grant.
      const isStranger = refusal.error.code === "unauthenticated";
      refuse(res, call, isStranger ? { ...refusal, headers: options.door.challenge(req) } : refusal);
    });
  };
}

/** The answer to an MCP request that svc refuses: the fault, its HTTP status and headers. */
type Refusal = { error: Fault; status?: number; headers?: AnswerHeaders };

function refusalOf({ method = "", headers }: IncomingMessage): Refusal | undefined {
  if (method !== "POST") {
    return { error: serverFaults.METHOD_NOT_ALLOWED(method, "POST"), status: 405, headers: { allow: "POST" } };
  }
  const contentType = headers["content-type"] ?? "";
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encodingOf({ headers }) === undefined) {
    const error = serverFaults.CONTENT_ENCODING_UNSUPPORTED(encoding, "gzip or br");
    return { error, status: 415, headers: { "accept-encoding": "gzip, br" } };
  }
  if (/^application\/json *(?:;|$)/i.test(contentType)) return undefined;
  const error = serverFaults.CONTENT_TYPE_UNSUPPORTED(contentType, "application/json");
  return { error, status: 415, headers: { "accept-post": "application/json" } };
}

function refuse(res: ServerResponse, call: McpCall, { error, status, headers }: Refusal): void {
  call.code = error.code;
  // Events were already sent, and no more will follow. So the answer ends here, and the client must send its request again.
  if (res.headersSent) return void res.end();
  const answer = call.principal === undefined ? answerError : answerCaller;
  answer(res, spokenFault(error), status, headers ?? refusalHeadersOf(error));
}

/**
 * Returns the headers of an answer that contains an error. If the database is unavailable, the header Retry-After asks the client to wait
 * before it tries again.
 */
function refusalHeadersOf({ code }: Fault): AnswerHeaders {
  if (code === "unavailable") return retryHeaders;
  return {};
}

type AnsweredPost = McpOptions & { call: McpCall; query: string };

async function answer(req: IncomingMessage, res: ServerResponse, options: AnsweredPost): Promise<void> {
  const { call, query, server, admission, meter, mapError, bodyBytesMax, intake } = options;
  const caller = await options.door.authenticate(req, (lookup) => intake.keepBack(req, lookup));
  const principal = requireProject(caller, call);
  intake.noteKey(req);
  const admitted = admission.enter(principal.projectId, principal.quotas, "call");
  if ("refusal" in admitted) throw admitted.refusal;
  call.leave = admitted.leave;
  const charge = intake.charge(req, shareOf(principal));
  res.once("close", () => charge.release());
  const sent = await readBody(req, bodyBytesMax, charge);
  const encoding = encodingOf(req);
  const body = encoding === undefined ? sent : await decodeBody(encoding, sent, { bytesMax: bodyBytesMax, charge });
  const isLarge = body.byteLength > largeBytes;
  const turn = isLarge ? undefined : meter.turns.take(lineOf(principal));
  if (turn !== undefined) await turn;
  const work = meter.begin(ownerOf(call));
  work.charge({ bytes: body.byteLength });
  if (isLarge) await work.turn();
  work.run(() => chargeValues(body, charge));
  const life = lifeOf(res, options);
  const { signal } = life;
  const watched = watchCaller(req, res, { ...options, principal, end: (fault) => life.abort(fault) });
  const events = createEventStream(req, res);
  let stepUp: Refusal | undefined;
  const { status, body: text } = await server.serve({
    body: readForeignText(body, req.headers["content-type"]),
    headers: headersOf(req),
    ...{ query, principal, signal },
    enter: actionAuditor(options.audit, principal),
    scopesOf: (needs) => scopesOfTool(needs, principal.binding),
    notify: events?.send,
    mapError(error) {
      const refusal = mapError(error, call, signal);
      call.code = refusal.code;
      const headers = options.door.stepUp(req, error);
      if (headers !== undefined) stepUp = { error: refusal, headers };
      return refusal;
    },
    onLabel(label) {
      call.method = `mcp/${label}`;
    },
    onTrace(traceparent) {
      call.traceparent = traceparent;
    },
  });
  await watched.confirm();
  // A batch is not answered with `stepUp` (request for more scopes), because other requests of the batch may already have been executed.
  if (stepUp !== undefined && !text.startsWith("[") && !res.headersSent) return refuse(res, call, stepUp);
  // A 4xx status means that the POST contained no JSON-RPC message that could be answered.
  if (status >= 400) call.code = status === 404 ? "unimplemented" : "invalid_argument";
  if (events?.isOpen()) return events.end(text);
  if (text !== "") return answerJson(res, status, text);
  if (res.destroyed) return;
  res.writeHead(status, { "content-length": 0 });
  res.end();
}

/** Returns the MCP headers of a request: protocol version, method and tool name. A header that occurs twice counts as absent. */
function headersOf({ headers }: IncomingMessage): McpHeaders {
  const textOf = (name: string) => {
    const value = headers[name];
    return typeof value === "string" ? value : undefined;
  };
  return { version: textOf("mcp-protocol-version"), method: textOf("mcp-method"), name: textOf("mcp-name") };
}

function requireProject(principal: Principal, call: McpCall): ProjectPrincipal {
  call.principal = principal;
  if (principal.kind === "project") return principal;
  throw serverFaults.ROLE_REQUIRED("MCP", "member", "admin");
}

/**
 * Size of a request body in bytes above which the parsing must wait for a turn (a share of the event loop's time). Other bodies can be
 * parsed without delaying other requests.
 */
const largeBytes = 65_536;
const timeoutDefaultMs = 60_000;

/**
 * Returns a controller that aborts if the caller disconnects, the timeout passes, or the node stops. Its listeners are removed when the
 * answer ends.
 */
function lifeOf(res: ServerResponse, { timeoutMs = timeoutDefaultMs, shutdownSignal }: AnsweredPost): AbortController {
  const life = new AbortController();
  const timer = setTimeout(() => life.abort(serverFaults.DEADLINE_EXCEEDED()), timeoutMs);
  const stop = () => life.abort(serverFaults.ENDED_UNDER_WAY());
  if (shutdownSignal.aborted) life.abort(serverFaults.SHUTTING_DOWN());
  shutdownSignal.addEventListener("abort", stop, { once: true });
  const end = () => {
    clearTimeout(timer);
    shutdownSignal.removeEventListener("abort", stop);
    if (!res.writableFinished) life.abort(callerGone());
  };
  if (res.destroyed) end();
  else res.once("close", end);
  return life;
}

type Caller = AnsweredPost & { readonly principal: ProjectPrincipal; readonly end: (fault: Fault) => void };

/**
 * Watches a request, so that svc can end the request while it waits. The request ends if its key or grant (a person's permission for an
 * agent) ends. It also ends if the key with which the person gave the grant ends, or if the grant gets a smaller scope.
 */
function watchCaller(req: IncomingMessage, res: ServerResponse, { door, openCalls, principal, end }: Caller) {
  const reach = reachOf(principal);
  const authenticate = async () => {
    const present = await door.authenticate(req, (lookup) => lookup);
    if (reachOf(present) !== reach) throw serverFaults.GRANT_CHANGED();
  };
  const watched = openCalls.watch(authenticate, end);
  res.once("close", watched.end);
  if (res.destroyed) watched.end();
  return watched;
}

/**
 * Returns the permissions of a caller as a text. Two texts are equal only if the permissions are equal, so a changed permission is noticed.
 */
function reachOf(principal: Principal): string {
  if (principal.kind !== "project") return principal.kind;
  const { projectId, keyId, role, binding } = principal;
  return JSON.stringify([projectId, keyId, role, binding]);
}

function mapFailure(error: unknown, { bodyBytesMax, mapError }: McpOptions, call: McpCall): Refusal {
  if (!(error instanceof BodyError)) return { error: mapError(error, call) };
  const refusal = { error: bodyFault(error, bodyBytesMax) };
  return error.reason === "too_large" ? { ...refusal, status: 413 } : refusal;
}
