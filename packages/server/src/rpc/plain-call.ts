import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { compressionNegotiate, mergeNonProtocolHeaders } from "@connectrpc/connect/protocol";
import { contentTypeUnaryJson, contentTypeUnaryProto, errorToJson } from "@connectrpc/connect/protocol-connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { jsonOptions } from "../http/answer.ts";
import { untilRefused } from "../listen/refusal-pace.ts";
import { type Answer, isJsonType } from "./answers.ts";
import type { Call } from "./call.ts";
import { completeError, type ErrorJson, type FailedCall } from "./complete-error.ts";
import { httpStatusOf, type WireError } from "./connect-error.ts";
import { receiveBody } from "./receive-body.ts";
import { type AnsweredCall, failedOf, requestHeader, timeoutOf, unknownEncoding } from "./rpc-request.ts";
import type { UnaryCall } from "./unary-call.ts";

/** Headers of the response to an API call, in the order in which they are sent. */
type OutgoingHeaders = Record<string, string | number>;

/** Minimum size in bytes of an answer that svc compresses. Compressing a shorter answer costs more than sending it. */
const compressMinBytes = 32_768;

/** Sends the answer of a call, compressed if the client accepts that. */
async function sendAnswer(
  answer: Answer,
  headers: OutgoingHeaders,
  { req, res, isJson }: { readonly req: IncomingMessage; readonly res: ServerResponse; readonly isJson: boolean },
): Promise<void> {
  const isLong = answer.body.byteLength >= compressMinBytes;
  if (!isLong || !takesGzip(req, isJson)) return send(res, 200, answer.body, headers);
  const body = await answer.gzip();
  send(res, 200, body, { ...headers, "content-encoding": compressionGzip.name });
}

/**
 * True if the client accepts a gzip answer, by the rules of Connect. The header `accept-encoding` decides. If a JSON request has no such
 * header, the encoding of the request body decides.
 */
function takesGzip({ headers }: IncomingMessage, isJson: boolean): boolean {
  const accepted = headers["accept-encoding"];
  const name = "accept-encoding";
  const own = (isJson ? headers["content-encoding"] : undefined) ?? null;
  const text = Array.isArray(accepted) ? accepted.join(", ") : (accepted ?? null);
  return compressionNegotiate([compressionGzip], own, text, name).response !== null;
}

/** Returns headers as a plain object, the form that Node's `writeHead` takes. */
function headersOf(header: Headers | undefined): OutgoingHeaders {
  const headers: OutgoingHeaders = {};
  header?.forEach((value, name) => {
    headers[name] = value;
  });
  return headers;
}

/** Sends a whole body, unless the client has disconnected. */
export function send(res: ServerResponse, status: number, body: Uint8Array, headers: OutgoingHeaders): void {
  if (res.destroyed) return;
  headers["content-length"] = body.byteLength;
  res.writeHead(status, headers);
  res.end(body);
}

/** Answers a unary call (one request, one answer) of the Connect protocol. */
export async function answerUnary(
  serve: UnaryCall,
  method: DescMethod,
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  options: AnsweredCall,
): Promise<void> {
  const { call, intake, ending } = options;
  const isJson = isJsonType(req.headers["content-type"]);
  const outcome = await serve({
    call,
    isJson,
    ending,
    authorization: req.headers.authorization ?? null,
    encoding: unknownEncoding(req),
    timeout: timeoutOf(req, options),
    header: () => requestHeader(req, timeoutOf(req, options)),
    wait: (lookup) => intake.keepBack(req, lookup),
    read: () => receiveBody(req, options, method.input),
  });
  if (outcome.error !== undefined) {
    if (call.principal === undefined) await untilRefused(res);
    return answerFailure(outcome.error, outcome.header, res, failedOf(method, options), call);
  }
  const headers = { "x-request-id": call.requestId, ...answerHeaders(outcome.header, isJson) };
  return sendAnswer(outcome.answer, headers, { req, res, isJson });
}

/** Returns the headers of an answer, in Connect's order. */
function answerHeaders(added: Headers | undefined, isJson: boolean): OutgoingHeaders {
  if (added !== undefined) return headersOf(withLength(added));
  return { "content-length": 0, "content-type": isJson ? contentTypeUnaryJson : contentTypeUnaryProto };
}

/**
 * Sets a content length of 0 in the headers and returns them. `send` later replaces the 0 with the true length. The header is set already
 * here, so that the headers have the same order as in answers of Connect's handlers.
 */
function withLength(header: Headers): Headers {
  header.set("content-length", "0");
  return header;
}

/** Answers with an error and the headers of the error. */
function answerFailure(
  error: WireError,
  added: Headers | undefined,
  res: ServerResponse,
  failed: FailedCall,
  call: Call,
): void {
  const completed = completeError(errorToJson(error, jsonOptions) as ErrorJson, failed);
  call.code = completed.code;
  const header = added ?? new Headers();
  header.set("content-type", contentTypeUnaryJson);
  mergeNonProtocolHeaders(header, error.metadata);
  const headers = { "x-request-id": call.requestId, ...headersOf(withLength(header)) };
  send(res, httpStatusOf(completed.code), Buffer.from(JSON.stringify(completed.json)), headers);
}
