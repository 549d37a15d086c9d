import type { IncomingMessage } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import type { WorkMeter } from "@svc/core";
import { encodingOf } from "../body/content-encoding.ts";
import type { Intake } from "../body/intake.ts";
import type { Logger } from "../logger.ts";
import type { Call } from "./call.ts";
import type { CallBody } from "./call-body.ts";
import type { FailedCall } from "./complete-error.ts";

/** A call that is being answered, and what that works with. */
export type AnsweredCall = {
  readonly call: Call;
  readonly body: CallBody;
  /** Aborted when the caller has gone. */
  readonly ending: AbortController;
  readonly intake: Intake;
  readonly meter: WorkMeter;
  readonly logger: Logger;
  readonly defaultTimeoutMs?: number | undefined;
};

const headerTimeout = "connect-timeout-ms";
const timeoutDefaultMs = 60_000;

/** How long a unary call may take, as its caller says, or else by default: it ends, also when the store hangs. */
export function timeoutOf({ headers }: IncomingMessage, { defaultTimeoutMs = timeoutDefaultMs }: AnsweredCall): string {
  const value = headers[headerTimeout];
  if (value === undefined) return String(defaultTimeoutMs);
  return typeof value === "string" ? value : value.join(", ");
}

/** The encoding that a unary request names and its body is not decoded from; null for none. */
export function unknownEncoding(req: IncomingMessage): string | null {
  return encodingOf(req) === undefined ? (req.headers["content-encoding"] ?? null) : null;
}

/** The headers of a request as Connect has them. A stream has no `timeout`: it is open as long as its caller likes. */
export function requestHeader(req: IncomingMessage, timeout?: string): Headers {
  const header = new Headers();
  const decoded = encodingOf(req)?.header;
  for (const [name, value] of Object.entries(req.headers)) {
    // Connect would set as many bytes aside as a caller announces. What arrives is measured, and decoded, already.
    if (value !== undefined && name !== "content-length" && name !== decoded)
      header.set(name, typeof value === "string" ? value : value.join(", "));
  }
  if (timeout !== undefined) header.set(headerTimeout, timeout);
  return header;
}

/** What is known of a call should it fail. */
export function failedOf(method: DescMethod, { call, body, logger }: AnsweredCall): FailedCall {
  return { method, requestId: call.requestId, body, logger };
}
