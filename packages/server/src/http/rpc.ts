import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type ConnectRouter, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { compressionNegotiate } from "@connectrpc/connect/protocol";
import { compressionGzip, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Fault, FaultCode, WorkMeter } from "@svc/core";
import { keyLookupContext } from "../auth/gate.ts";
import type { Answer } from "../calls/answer.ts";
import { lineOf } from "../calls/answers.ts";
import { acceptRequestId, type Call, callContext, ownerOf } from "../calls/call.ts";
import { httpStatusOf, toConnectError } from "../calls/connect-error.ts";
import { callerGone, contentTypeUnsupported, methodNotAllowed, requestMalformed } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { answerError, retryHeaders } from "./answer.ts";
import { CallBody } from "./call-body.ts";
import { completeError, type ErrorJson, type FailedCall } from "./complete-error.ts";
import { completeStream } from "./complete-stream.ts";
import { encodingOf } from "./content-encoding.ts";
import type { Intake } from "./intake.ts";
import { isNestedDeeper } from "./json-depth.ts";

/** How calls are served. */
export type RpcOptions = {
  router: ConnectRouter;
  intake: Intake;
  /** Whether the calls of a service, by its full name, are served here. Default: all are. */
  serves?: (service: string) => boolean;
  /** Of a call with a key; one that needs none has `keylessBodyBytesMax`. */
  bodyBytesMax: number;
  /** Ends a unary call whose caller sets no timeout, milliseconds. Default 60 s. */
  defaultTimeoutMs?: number;
  createRequestId: () => string;
  /** Meters the work of requests. */
  meter: WorkMeter;
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
  const { serves = () => true } = options;
  const served = options.router.handlers.filter(({ service }) => serves(service.typeName));
  const handlers = new Map(served.map((handler) => [handler.requestPath, handler]));
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
      const body = new CallBody(req, call, options);
      res.setHeader("x-request-id", call.requestId);
      res.once("close", () => {
        call.leave?.();
        if (!res.writableFinished) call.code = "canceled";
        body.letGo();
        options.onCall(call, performance.now() - call.startedMs);
      });
      const refusal = refusalOf(handler, req);
      if (refusal !== undefined) {
        call.code = refusal.error.code;
        answerError(res, refusal.error, refusal.status, refusal.headers);
        return;
      }
      answer(handler, req, res, { ...options, call, body }).catch((error: unknown) =>
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

type Answering = RpcOptions & { call: Call; body: CallBody };

async function answer(
  handler: UniversalHandler,
  req: IncomingMessage,
  res: ServerResponse,
  options: Answering,
): Promise<void> {
  const { call, body, logger } = options;
  const failed: FailedCall = { method: handler.method, requestId: call.requestId, body, logger };
  const response = await handler(universalRequest(req, res, options, handler.method.methodKind));
  const noteCode = (code: FaultCode) => {
    call.code = code;
  };
  if (handler.method.methodKind === "unary") await answerUnary(response, req, res, { ...failed, call }, noteCode);
  else {
    const frames = response.body === undefined ? undefined : completeStream(response.body, failed, noteCode);
    if (body.isRefused) for (const [name, value] of Object.entries(retryHeaders)) response.header?.set(name, value);
    await universalResponseToNodeResponse(frames === undefined ? response : { ...response, body: frames }, res);
  }
}

const headerTimeout = "connect-timeout-ms";
const timeoutDefaultMs = 60_000;

/** The request as Connect's handlers take it. The host in `url` means nothing to them, and a caller's may not even parse. */
function universalRequest(
  req: IncomingMessage,
  res: ServerResponse,
  options: Answering,
  methodKind: string,
): UniversalServerRequest {
  const { call, intake, defaultTimeoutMs = timeoutDefaultMs } = options;
  const header = new Headers();
  const decoded = encodingOf(req)?.header;
  for (const [name, value] of Object.entries(req.headers)) {
    // Connect would set as many bytes aside as a caller announces. What arrives is measured, and decoded, already.
    if (value !== undefined && name !== "content-length" && name !== decoded)
      header.set(name, typeof value === "string" ? value : value.join(", "));
  }
  // A stream is open as long as its caller likes; anything else ends, also when the store hangs.
  if (methodKind === "unary" && !header.has(headerTimeout)) header.set(headerTimeout, String(defaultTimeoutMs));
  const aborted = new AbortController();
  res.once("close", () => {
    if (!res.writableFinished) aborted.abort(toConnectError(callerGone()));
  });
  return {
    httpVersion: req.httpVersion,
    method: req.method ?? "",
    url: `http://localhost/${call.method}`,
    header,
    body: receive(req, options),
    signal: aborted.signal,
    contextValues: createContextValues()
      .set(callContext, call)
      .set(keyLookupContext, (lookup) => intake.keepBack(req, lookup)),
  };
}

/** Bodies beyond this wait for their turn before they are decoded. */
const largeBytes = 65_536;
/** Levels that the JSON of a request may be nested: what calls take is not half as deep. */
const depthMax = 100;

/** The body, read whole when it is first asked for: a call that the gate refuses is never read. Handed over in its caller's turn. */
async function* receive(
  req: IncomingMessage,
  { call, body, meter }: Pick<Answering, "call" | "body" | "meter">,
): AsyncGenerator<Uint8Array> {
  const bytes = await body.read();
  const isLarge = bytes.byteLength > largeBytes;
  const turn = isLarge ? undefined : meter.turns.take(lineOf(call.principal));
  if (turn !== undefined) await turn;
  const work = meter.begin(ownerOf(call));
  work.charge({ bytes: bytes.byteLength });
  if (isLarge) await work.turn();
  work.run(() => body.chargeValues());
  const isJson = req.headers["content-type"]?.startsWith("application/json") === true;
  if (isJson && work.run(() => isNestedDeeper(bytes, depthMax))) throw toConnectError(nestedTooDeep());
  yield bytes;
}

function nestedTooDeep(): Fault {
  const message = `the body is nested deeper than ${depthMax} levels`;
  return requestMalformed({
    message,
    help: "Send the fields of the request; what is JSON text in them may be deeper.",
  });
}

async function answerUnary(
  response: UniversalServerResponse,
  req: IncomingMessage,
  res: ServerResponse,
  { call, ...failed }: FailedCall & { call: Call },
  noteCode: (code: FaultCode) => void,
): Promise<void> {
  if (response.status === 200 && call.answer !== undefined) return sendAnswer(call.answer, response, req, res);
  let body = await collect(response.body);
  let { status } = response;
  if (status !== 200) {
    body = decompressed(body, response.header, failed.body.bytesMax);
    const completed = completeError(JSON.parse(Buffer.from(body).toString("utf8")) as ErrorJson, failed);
    noteCode(completed.code);
    status = httpStatusOf(completed.code);
    body = Buffer.from(JSON.stringify(completed.json));
  }
  send(res, status, body, headersOf(response));
}

// Small answers cost more to compress than to send.
const compressMinBytes = 32_768;

/** Sends what the call's interceptor wrote, compressed for those who take that. */
async function sendAnswer(
  answer: Answer,
  response: UniversalServerResponse,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const headers = headersOf(response);
  const isLong = answer.body.byteLength >= compressMinBytes;
  if (!isLong || !takesGzip(req)) return send(res, 200, answer.body, headers);
  const body = await answer.gzip();
  send(res, 200, body, { ...headers, "content-encoding": compressionGzip.name });
}

/** By the rules of Connect: what the request says it accepts, or else how it is encoded itself. */
function takesGzip({ headers }: IncomingMessage): boolean {
  const accepted = headers["accept-encoding"];
  const name = "accept-encoding";
  const text = Array.isArray(accepted) ? accepted.join(", ") : (accepted ?? null);
  return compressionNegotiate([compressionGzip], headers["content-encoding"] ?? null, text, name).response !== null;
}

type OutgoingHeaders = Record<string, string | number>;

function headersOf(response: UniversalServerResponse): OutgoingHeaders {
  const headers: OutgoingHeaders = {};
  response.header?.forEach((value, name) => {
    headers[name] = value;
  });
  return headers;
}

function send(res: ServerResponse, status: number, body: Uint8Array, headers: OutgoingHeaders): void {
  if (res.destroyed) return;
  headers["content-length"] = body.byteLength;
  res.writeHead(status, headers);
  res.end(body);
}

/** An error as it was before it was compressed, which long ones are; its header goes. */
function decompressed(body: Uint8Array, header: Headers | undefined, bytesMax: number): Uint8Array {
  const encoding = header?.get("content-encoding");
  header?.delete("content-encoding");
  // What a decoder quotes is no longer than what was sent.
  const options = { maxOutputLength: 4 * bytesMax };
  if (encoding === "gzip") return gunzipSync(body, options);
  return encoding === "br" ? brotliDecompressSync(body, options) : body;
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
