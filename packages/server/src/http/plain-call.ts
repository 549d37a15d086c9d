import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { mergeNonProtocolHeaders } from "@connectrpc/connect/protocol";
import { contentTypeUnaryJson, contentTypeUnaryProto, errorToJson } from "@connectrpc/connect/protocol-connect";
import { isJsonType } from "../calls/answers.ts";
import type { Call } from "../calls/call.ts";
import { httpStatusOf, type WireError } from "../calls/connect-error.ts";
import type { UnaryCall } from "../calls/unary-call.ts";
import { jsonOptions } from "./answer.ts";
import { completeError, type ErrorJson, type FailedCall } from "./complete-error.ts";
import { receiveBody } from "./receive-body.ts";
import { untilRefused } from "./refusal-pace.ts";
import { type Answering, failedOf, requestHeader, timeoutOf, unknownEncoding } from "./rpc-request.ts";
import { headersOf, type OutgoingHeaders, send, sendAnswer } from "./send-answer.ts";

/** Answers a unary call of the Connect protocol. */
export async function answerUnary(
  serve: UnaryCall,
  method: DescMethod,
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  options: Answering,
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

/** The headers of an answer, in Connect's order. */
function answerHeaders(added: Headers | undefined, isJson: boolean): OutgoingHeaders {
  if (added !== undefined) return headersOf(withLength(added));
  return { "content-length": 0, "content-type": isJson ? contentTypeUnaryJson : contentTypeUnaryProto };
}

/** With a length that `send` replaces: so it stands where Connect has it. */
function withLength(header: Headers): Headers {
  header.set("content-length", "0");
  return header;
}

/** Answers with an error, and what it says in headers. */
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
