import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMessage } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { keyLookupContext } from "../auth/key-lookup.ts";
import { callContext } from "../calls/call.ts";
import { retryHeaders } from "./answer.ts";
import { completeStream, type NoteCode } from "./complete-stream.ts";
import { receiveBody } from "./receive-body.ts";
import { untilRefused } from "./refusal-pace.ts";
import { type Answering, failedOf, requestHeader } from "./rpc-request.ts";

/** Answers a stream by Connect's handler. */
export async function answerStream(
  handler: UniversalHandler,
  req: IncomingMessage,
  res: ServerResponse,
  options: Answering,
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

/** The request as Connect's handlers take it. The host in `url` means nothing to them, and a caller's may not even parse. */
function universalRequest(req: IncomingMessage, options: Answering, input: DescMessage): UniversalServerRequest {
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

/** The body, read whole when it is first asked for: a call that the gate refuses is never read. */
async function* receive(req: IncomingMessage, options: Answering, input: DescMessage): AsyncGenerator<Uint8Array> {
  yield await receiveBody(req, options, input);
}
