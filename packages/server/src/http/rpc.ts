import type { IncomingMessage, ServerResponse } from "node:http";
import { Code, ConnectError, type ConnectRouter, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { codeToHttpStatus, codeToString } from "@connectrpc/connect/protocol-connect";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { acceptRequestId, type Call, callContext } from "../calls/call.ts";
import { bodyTooLarge, contentTypeUnsupported, methodNotAllowed } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { answerError } from "./answer.ts";
import { BodyError, readBody } from "./body.ts";
import { completeError, type ErrorJson, type FailedCall } from "./complete-error.ts";
import { completeStream } from "./complete-stream.ts";

/** How calls are served. */
export type RpcOptions = {
  router: ConnectRouter;
  bodyBytesMax: number;
  /** Ends a unary call whose caller sets no timeout, milliseconds. Default 60 s. */
  defaultTimeoutMs?: number;
  createRequestId: () => string;
  logger: Logger;
  /** Hears of each call once its answer is written or given up. */
  onCall: (call: Call, durationMs: number) => void;
};

/** Serves calls of the router over HTTP/1.1; `handles` says whether a path is one. */
export type RpcHandler = {
  handles(path: string): boolean;
  serve(path: string, req: IncomingMessage, res: ServerResponse): void;
};

/**
 * Makes the handler of calls out of connect-node's parts: its own adapter throws on a bad Host header, which would end the
 * process, and answers 405 and 415 without a body.
 */
export function createRpcHandler(options: RpcOptions): RpcHandler {
  const handlers = new Map(options.router.handlers.map((handler) => [handler.requestPath, handler]));
  return {
    handles: (path) => handlers.has(path),
    serve(path, req, res) {
      const handler = handlers.get(path);
      if (handler === undefined) throw new Error(`no call has the path ${path}`);
      const call: Call = {
        requestId: acceptRequestId(req.headers["x-request-id"]) ?? options.createRequestId(),
        method: path.slice(1),
        startedMs: performance.now(),
        principal: undefined,
        code: "ok",
      };
      res.setHeader("x-request-id", call.requestId);
      res.once("close", () => {
        if (!res.writableFinished) call.code = "canceled";
        options.onCall(call, performance.now() - call.startedMs);
      });
      const refusal = refusalOf(handler, req);
      if (refusal !== undefined) {
        call.code = codeToString(refusal.error.code);
        answerError(res, refusal.error, refusal.status, refusal.headers);
        return;
      }
      answer(handler, req, res, { ...options, call }).catch((error: unknown) =>
        giveUp(error, res, options.logger, call),
      );
    },
  };
}

function refusalOf(handler: UniversalHandler, req: IncomingMessage) {
  const { method = "", headers } = req;
  if (!handler.allowedMethods.includes(method)) {
    return {
      error: methodNotAllowed(method, "POST"),
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
    error: contentTypeUnsupported(contentType, accepted.join(" or ")),
    status: 415,
    headers: { "accept-post": accepted.join(", ") },
  };
}

type Answering = RpcOptions & { call: Call };

async function answer(
  handler: UniversalHandler,
  req: IncomingMessage,
  res: ServerResponse,
  options: Answering,
): Promise<void> {
  const { call, bodyBytesMax, logger } = options;
  const failed: FailedCall = {
    method: handler.method,
    requestId: call.requestId,
    bodyBytesMax,
    body: undefined,
    logger,
  };
  const request = universalRequest(req, res, options, handler.method.methodKind, (body) => {
    failed.body = body;
  });
  const response = await handler(request);
  const noteCode = (code: Code) => {
    call.code = codeToString(code);
  };
  if (handler.method.methodKind === "unary") await answerUnary(response, res, failed, noteCode);
  else {
    const body = response.body === undefined ? undefined : completeStream(response.body, failed, noteCode);
    await universalResponseToNodeResponse(body === undefined ? response : { ...response, body }, res);
  }
}

const headerTimeout = "connect-timeout-ms";
const timeoutDefaultMs = 60_000;

/** The request as Connect's handlers take it. The host in `url` means nothing to them, and a caller's may not even parse. */
function universalRequest(
  req: IncomingMessage,
  res: ServerResponse,
  { call, bodyBytesMax, defaultTimeoutMs = timeoutDefaultMs }: Answering,
  methodKind: string,
  onBody: (body: Buffer) => void,
): UniversalServerRequest {
  const header = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (value !== undefined) header.set(name, typeof value === "string" ? value : value.join(", "));
  }
  // A stream is open as long as its caller likes; anything else ends, also when the store hangs.
  if (methodKind === "unary" && !header.has(headerTimeout)) header.set(headerTimeout, String(defaultTimeoutMs));
  const aborted = new AbortController();
  res.once("close", () => {
    if (!res.writableFinished) aborted.abort(new ConnectError("the caller went away", Code.Canceled));
  });
  return {
    httpVersion: req.httpVersion,
    method: req.method ?? "",
    url: `http://localhost/${call.method}`,
    header,
    body: receive(req, bodyBytesMax, onBody),
    signal: aborted.signal,
    contextValues: createContextValues().set(callContext, call),
  };
}

/** The body, read whole when it is first asked for: a call that the gate refuses is never read. */
async function* receive(
  req: IncomingMessage,
  bytesMax: number,
  onBody: (body: Buffer) => void,
): AsyncGenerator<Uint8Array> {
  try {
    const body = await readBody(req, bytesMax);
    onBody(body);
    yield body;
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw error.reason === "too_large"
      ? bodyTooLarge(bytesMax)
      : new ConnectError("the caller went away", Code.Canceled);
  }
}

async function answerUnary(
  response: UniversalServerResponse,
  res: ServerResponse,
  failed: FailedCall,
  noteCode: (code: Code) => void,
): Promise<void> {
  let body = await collect(response.body);
  let { status } = response;
  // A compressed error is a long one, and long ones were made by `fault`.
  if (status !== 200 && !response.header?.has("content-encoding")) {
    const completed = completeError(JSON.parse(Buffer.from(body).toString("utf8")) as ErrorJson, failed);
    noteCode(completed.code);
    status = codeToHttpStatus(completed.code);
    body = Buffer.from(JSON.stringify(completed.json));
  }
  if (res.destroyed) return;
  const headers: Record<string, string | number> = {};
  response.header?.forEach((value, name) => {
    headers[name] = value;
  });
  headers["content-length"] = body.byteLength;
  res.writeHead(status, headers);
  res.end(body);
}

async function collect(chunks: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  if (chunks !== undefined) for await (const chunk of chunks) parts.push(chunk);
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}

/** A stream whose caller went away lands here as a matter of course; anything else is a fault. */
function giveUp(error: unknown, res: ServerResponse, logger: Logger, call: Call): void {
  if (!res.destroyed)
    logger.error({ err: error, requestId: call.requestId, method: call.method }, "call could not be answered");
  res.destroy();
}
