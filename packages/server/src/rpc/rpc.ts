import type { IncomingMessage, ServerResponse } from "node:http";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { beginSpan, isTraced, type Span, type SpanStart, type WorkMeter, withinSpan } from "@svc/core";
import { bearerOf } from "../auth/gate.ts";
import type { Intake } from "../body/intake.ts";
import type { ConsoleOrigin } from "../console/proof.ts";
import { callerGone, serverFaults } from "../errors.ts";
import { answerError, prepareError } from "../http/answer.ts";
import { untilRefused } from "../listen/refusal-pace.ts";
import type { Logger } from "../logger.ts";
import { acceptRequestId, type Call, traceOf } from "./call.ts";
import { bodyLimitOf, CallBody } from "./call-body.ts";
import { CallEnding } from "./call-ending.ts";
import { answerStream, refusalFrame } from "./connect-call.ts";
import { toConnectError } from "./connect-error.ts";
import { answerUnary, send } from "./plain-call.ts";
import type { CallRouter } from "./router.ts";
import type { AnsweredCall } from "./rpc-request.ts";
import type { UnaryCall } from "./unary-call.ts";

/** Options for serving calls. */
export type RpcOptions = {
  router: CallRouter;
  intake: Intake;
  /** True if this handler serves the calls of a service, given by its full name. Default: true for all services. */
  serves?: (service: string) => boolean;
  /** Maximum body of a call with a key, in bytes. For calls that need no key, it is `keylessBodyBytesMax`. */
  bodyBytesMax: number;
  /** Timeout of a unary call whose caller requests none, in milliseconds. Default 60 s. */
  defaultTimeoutMs?: number;
  createRequestId: () => string;
  /**
   * Returns the proof that a request without a key belongs to a console session: its cookie and its header. Default: such proofs are not
   * read.
   */
  proofOf?: ConsoleOrigin["proofOf"] | undefined;
  /** Measures the event loop time that calls use, and gives their work its turns on the event loop. */
  meter: WorkMeter;
  logger: Logger;
  /** Called for each call when its answer is written or abandoned. */
  onCall: (call: Call, durationMs: number) => void;
};

/** Serves calls over HTTP/1.1. `handles`: returns true for the path of a call. */
export type RpcHandler = {
  handles(path: string): boolean;
  serve(path: string, req: IncomingMessage, res: ServerResponse): void;
};

/**
 * Creates the handler of API calls. It is made of parts of connect-node. The complete adapter of connect-node is not used: it throws for an
 * invalid Host header, which would end the process, and it answers 405 and 415 without a body. Unary calls use a handler of svc in place of
 * Connect's.
 */
export function createRpcHandler(options: RpcOptions): RpcHandler {
  const { router, serves = () => true } = options;
  const served = router.handlers.filter(({ service }) => serves(service.typeName));
  const handlers = new Map(served.map((handler) => [handler.requestPath, handler]));
  const limits = new Map(
    served.map(({ requestPath, method }) => [requestPath, bodyLimitOf(method, options.bodyBytesMax)]),
  );
  return {
    handles: (path) => handlers.has(path),
    serve(path, req, res) {
      const handler = handlers.get(path);
      if (handler === undefined) throw new Error(`no call has the path ${path}`);
      const ending = new CallEnding();
      const call: Call = {
        requestId: acceptRequestId(req.headers["x-request-id"]) ?? options.createRequestId(),
        method: path.slice(1),
        startedMs: performance.now(),
        principal: undefined,
        code: "ok",
        session: options.proofOf?.(req),
        end: (fault) => ending.end(toConnectError(fault)),
      };
      let span: Span | undefined;
      const body = new CallBody(req, call, limits.get(path) ?? options.bodyBytesMax, options);
      res.once("close", () => {
        call.leave?.();
        if (!res.writableFinished) {
          call.code = "canceled";
          ending.end(toConnectError(callerGone()));
        }
        body.letGo();
        const durationMs = performance.now() - call.startedMs;
        if (span === undefined) return options.onCall(call, durationMs);
        span.end(call.code === "ok" ? undefined : call.code);
        withinSpan(span, () => options.onCall(call, durationMs));
      });
      const refusal = refusalOf(handler, req);
      if (refusal !== undefined) {
        call.code = refusal.error.code;
        res.setHeader("x-request-id", call.requestId);
        answerError(res, refusal.error, refusal.status, refusal.headers);
        return;
      }
      if (refuseKeyless(handler, call, res, router)) return;
      // The span begins after the refusals that need no key, so that strangers cannot make svc send spans. Without a tracer, the call makes
      // no object for it.
      span = isTraced() ? beginSpan(callSpan, { req, call }) : undefined;
      if (span !== undefined) call.traceparent = span.traceparent;
      const { intake, meter, logger, defaultTimeoutMs } = options;
      const answering = { call, body, ending, intake, meter, logger, defaultTimeoutMs };
      const unary = router.unary.get(path);
      const answered =
        span === undefined
          ? answerCall({ handler, unary }, req, res, answering)
          : withinSpan(span, () => answerCall({ handler, unary }, req, res, answering));
      answered.catch((error: unknown) => giveUp(error, res, logger, call));
    },
  };
}

function answerCall(
  { handler, unary }: { readonly handler: UniversalHandler; readonly unary: UnaryCall | undefined },
  req: IncomingMessage,
  res: ServerResponse,
  answering: AnsweredCall,
): Promise<void> {
  return unary === undefined
    ? answerStream(handler, req, res, answering)
    : answerUnary(unary, handler.method, { req, res }, answering);
}

/** Describes the span of a call, which continues the trace that the caller names. */
function callSpan({ req, call }: { readonly req: IncomingMessage; readonly call: Call }): SpanStart {
  const [service, method] = call.method.split("/", 2);
  const facts = { "rpc.system": "connect_rpc", "rpc.service": service, "rpc.method": method };
  return {
    name: call.method,
    kind: "server",
    parent: traceOf(req),
    facts: { ...facts, "svc.request.id": call.requestId },
  };
}

const keyMissing = prepareError(serverFaults.API_KEY_MISSING());
const keyMissingFrame = refusalFrame(keyMissing);

/**
 * Refuses a call that needs a key and has none, and returns true. This happens before the request is processed, because processing costs
 * several times as much as the answer. Returns false and does nothing for other calls.
 */
function refuseKeyless({ method }: UniversalHandler, call: Call, res: ServerResponse, router: CallRouter): boolean {
  const { headers } = res.req;
  const isKeyless = call.session === undefined && bearerOf(headers.authorization ?? null) === undefined;
  if (!isKeyless || !router.needsKey(method)) return false;
  call.code = keyMissing.code;
  res.setHeader("x-request-id", call.requestId);
  if (method.methodKind === "unary") answerError(res, keyMissing);
  else void refuseStream(res);
  return true;
}

async function refuseStream(res: ServerResponse): Promise<void> {
  await untilRefused(res);
  send(res, 200, keyMissingFrame, { "content-type": res.req.headers["content-type"] ?? "" });
}

function refusalOf(handler: UniversalHandler, req: IncomingMessage) {
  const { method = "", headers } = req;
  if (!handler.allowedMethods.includes(method)) {
    return {
      error: serverFaults.METHOD_NOT_ALLOWED(method, "POST"),
      status: 405,
      headers: { allow: handler.allowedMethods.join(", ") },
    };
  }
  const contentType = headers["content-type"] ?? "";
  if (handler.supportedContentType(contentType)) return undefined;
  const accepted =
    handler.method.methodKind === "unary"
      ? ["application/json", "application/proto"]
      : ["application/connect+json", "application/connect+proto"];
  return {
    error: serverFaults.CONTENT_TYPE_UNSUPPORTED(contentType, accepted.join(" or ")),
    status: 415,
    headers: { "accept-post": accepted.join(", ") },
  };
}

/**
 * Logs an unexpected error of a stream and closes its connection. If the client has already disconnected, which is normal, nothing is
 * logged.
 */
function giveUp(error: unknown, res: ServerResponse, logger: Logger, call: Call): void {
  if (!res.destroyed)
    logger.error({ err: error, requestId: call.requestId, method: call.method }, "call could not be answered");
  res.destroy();
}
