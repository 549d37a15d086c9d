import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMessage } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { endStreamFlag, errorToJson } from "@connectrpc/connect/protocol-connect";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Fault, FaultCode } from "@svc/core";
import { keyLookupContext } from "../auth/key-cache.ts";
import { jsonOptions, retryHeaders } from "../http/answer.ts";
import { untilRefused } from "../listen/refusal-pace.ts";
import { callContext } from "./call.ts";
import { completeError, type ErrorJson, type FailedCall } from "./complete-error.ts";
import { toConnectError } from "./connect-error.ts";
import { receiveBody } from "./receive-body.ts";
import { type AnsweredCall, failedOf, requestHeader } from "./rpc-request.ts";

/** Called with the code of a failed call. If it returns a promise, svc answers only after the promise has resolved. */
type NoteCode = (code: FaultCode) => Promise<void> | undefined;

const headerBytes = 5; // A frame begins with one byte of flags and four bytes with the length of its message.
const compressedFlag = 1;

/** Yields the frames of a response stream. If the last frame has an error without a detail, adds a detail to the error. */
async function* completeStream(
  frames: AsyncIterable<Uint8Array>,
  call: FailedCall,
  noteCode: NoteCode,
): AsyncGenerator<Uint8Array> {
  // Connect yields one frame per chunk.
  for await (const frame of frames) {
    const completed = await completeFrame(frame, call, noteCode);
    // At the first frame, the request is decoded, so its body can be released. The stream may stay open for hours.
    call.body.letGo();
    yield completed;
  }
}

async function completeFrame(frame: Uint8Array, call: FailedCall, noteCode: NoteCode): Promise<Uint8Array> {
  const flags = frame[0] ?? 0;
  if ((flags & endStreamFlag) === 0 || (flags & compressedFlag) !== 0) return frame;
  const end = JSON.parse(Buffer.from(frame.subarray(headerBytes)).toString("utf8")) as { error?: ErrorJson };
  if (end.error === undefined) return frame;
  const { code, json } = completeError(end.error, call);
  await noteCode(code);
  return frameOf(flags, { ...end, error: json });
}

/** Returns the body of a streamed response that contains only an error: one frame in the format of the Connect protocol. */
export function refusalFrame(fault: Fault): Buffer {
  return frameOf(endStreamFlag, { error: errorToJson(toConnectError(fault), jsonOptions) });
}

function frameOf(flags: number, json: object): Buffer {
  const data = Buffer.from(JSON.stringify(json));
  const header = Buffer.alloc(headerBytes);
  header.writeUInt8(flags, 0);
  header.writeUInt32BE(data.byteLength, 1);
  return Buffer.concat([header, data]);
}

/** Answers a stream with Connect's handler. */
export async function answerStream(
  handler: UniversalHandler,
  req: IncomingMessage,
  res: ServerResponse,
  options: AnsweredCall,
): Promise<void> {
  const { call, body } = options;
  res.setHeader("x-request-id", call.requestId);
  const response = await handler(universalRequest(req, options, handler.method.input));
  const noteCode: NoteCode = (code) => {
    call.code = code;
    return call.principal === undefined ? untilRefused(res) : undefined;
  };
  const failed = failedOf(handler.method, options);
  const frames = response.body === undefined ? undefined : completeStream(response.body, failed, noteCode);
  if (body.isRefused) for (const [name, value] of Object.entries(retryHeaders)) response.header?.set(name, value);
  await universalResponseToNodeResponse(frames === undefined ? response : { ...response, body: frames }, res);
}

/**
 * Returns a request in the form of Connect's handlers. Its `url` has a fixed host: the handlers ignore the host, and the caller's host may
 * be invalid.
 */
function universalRequest(req: IncomingMessage, options: AnsweredCall, input: DescMessage): UniversalServerRequest {
  const { call, intake, ending } = options;
  return {
    httpVersion: req.httpVersion,
    method: req.method ?? "",
    url: `http://localhost/${call.method}`,
    header: requestHeader(req),
    body: receive(req, options, input),
    signal: ending.signal,
    contextValues: createContextValues()
      .set(callContext, call)
      .set(keyLookupContext, (lookup) => intake.keepBack(req, lookup)),
  };
}

/**
 * Yields the body of a request as one piece. The body is read only when Connect asks for it, so the body of a refused call is never read.
 */
async function* receive(req: IncomingMessage, options: AnsweredCall, input: DescMessage): AsyncGenerator<Uint8Array> {
  const { bytes } = await receiveBody(req, options, input);
  if (bytes !== undefined) yield bytes;
}
