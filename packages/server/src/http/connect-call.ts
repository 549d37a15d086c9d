import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { keyLookupContext } from "../auth/key-lookup.ts";
import { callContext } from "../calls/call.ts";
import { httpStatusOf } from "../calls/connect-error.ts";
import { retryHeaders } from "./answer.ts";
import { completeError, type ErrorJson, type FailedCall } from "./complete-error.ts";
import { completeStream, type NoteCode } from "./complete-stream.ts";
import { receiveBody } from "./receive-body.ts";
import { untilRefused } from "./refusal-pace.ts";
import { type Answering, failedOf, requestHeader } from "./rpc-request.ts";
import { headersOf, send, sendAnswer } from "./send-answer.ts";

/** Answers a call by Connect's handler: streams, and unary calls that are compressed. */
export async function answerByConnect(
  handler: UniversalHandler,
  req: IncomingMessage,
  res: ServerResponse,
  options: Answering,
): Promise<void> {
  const { call, body } = options;
  res.setHeader("x-request-id", call.requestId);
  const failed = failedOf(handler.method, options);
  const response = await handler(universalRequest(req, options, handler.method.input));
  const noteCode: NoteCode = (code) => {
    call.code = code;
    return call.principal === undefined ? untilRefused(res) : undefined;
  };
  if (handler.method.methodKind === "unary") {
    if (response.status === 200 && call.answer !== undefined)
      return sendAnswer(call.answer, headersOf(response.header), req, res);
    return answerUnary(response, res, failed, noteCode);
  }
  const frames = response.body === undefined ? undefined : completeStream(response.body, failed, noteCode);
  if (body.isRefused) for (const [name, value] of Object.entries(retryHeaders)) response.header?.set(name, value);
  await universalResponseToNodeResponse(frames === undefined ? response : { ...response, body: frames }, res);
}

/** The request as Connect's handlers take it. The host in `url` means nothing to them, and a caller's may not even parse. */
function universalRequest(req: IncomingMessage, options: Answering, input: DescMessage): UniversalServerRequest {
  const { call, intake, ending } = options;
  return {
    httpVersion: req.httpVersion,
    method: req.method ?? "",
    url: `http://localhost/${call.method}`,
    header: requestHeader(req, options),
    body: receive(req, options, input),
    signal: ending.signal,
    contextValues: createContextValues()
      .set(callContext, call)
      .set(keyLookupContext, (lookup) => intake.keepBack(req, lookup)),
  };
}

/** The body, read whole when it is first asked for: a call that the gate refuses is never read. */
async function* receive(req: IncomingMessage, options: Answering, input: DescMessage): AsyncGenerator<Uint8Array> {
  yield await receiveBody(req, options, input);
}

async function answerUnary(
  response: UniversalServerResponse,
  res: ServerResponse,
  failed: FailedCall,
  noteCode: NoteCode,
): Promise<void> {
  let body = await collect(response.body);
  let { status } = response;
  if (status !== 200) {
    body = decompressed(body, response.header, failed.body.bytesMax);
    const completed = completeError(JSON.parse(Buffer.from(body).toString("utf8")) as ErrorJson, failed);
    await noteCode(completed.code);
    status = httpStatusOf(completed.code);
    body = Buffer.from(JSON.stringify(completed.json));
  }
  send(res, status, body, headersOf(response.header));
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
