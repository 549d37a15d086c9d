import type { IncomingMessage } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import type { WorkMeter } from "@svc/core";
import { encodingOf } from "../body/content-encoding.ts";
import type { Intake } from "../body/intake.ts";
import type { Logger } from "../logger.ts";
import type { Call } from "./call.ts";
import type { CallBody } from "./call-body.ts";
import type { CallEnding } from "./call-ending.ts";
import type { FailedCall } from "./complete-error.ts";

/** A call that svc is answering, and the objects that svc needs for the answer. */
export type AnsweredCall = {
  readonly call: Call;
  readonly body: CallBody;
  /** Ends when the client disconnects. */
  readonly ending: CallEnding;
  readonly intake: Intake;
  readonly meter: WorkMeter;
  readonly logger: Logger;
  readonly defaultTimeoutMs?: number | undefined;
};

const headerTimeout = "connect-timeout-ms";
const timeoutDefaultMs = 60_000;

/** Returns the timeout of a unary call: the caller's, or the default. The timeout ends the call even if the database hangs. */
export function timeoutOf({ headers }: IncomingMessage, { defaultTimeoutMs = timeoutDefaultMs }: AnsweredCall): string {
  const value = headers[headerTimeout];
  if (value === undefined) return String(defaultTimeoutMs);
  return typeof value === "string" ? value : value.join(", ");
}

/** Returns the encoding of a unary request if svc does not support it; otherwise null. */
export function unknownEncoding(req: IncomingMessage): string | null {
  return encodingOf(req) === undefined ? (req.headers["content-encoding"] ?? null) : null;
}

/** Returns the headers of a request in Connect's form. A stream gets no `timeout`, because it stays open as long as the caller wants. */
export function requestHeader(req: IncomingMessage, timeout?: string): Headers {
  const header = new Headers();
  const decoded = encodingOf(req)?.header;
  for (const [name, value] of Object.entries(req.headers)) {
    // `content-length` is left out, because Connect would allocate that many bytes. The header of the content encoding is left out as well,
    // because svc has already decoded the body.
    if (value !== undefined && name !== "content-length" && name !== decoded)
      header.set(name, typeof value === "string" ? value : value.join(", "));
  }
  if (timeout !== undefined) header.set(headerTimeout, timeout);
  return header;
}

/** Returns the data about a failed API call from which the error answer is completed and logged. */
export function failedOf(method: DescMethod, { call, body, logger }: AnsweredCall): FailedCall {
  return { method, requestId: call.requestId, body, logger };
}
