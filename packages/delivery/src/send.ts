import { AddressRefusedError, displayText, storableText } from "@svc/core";
import type { GuardedAgent, Route } from "@svc/core/dial";
import type { Dispatcher } from "undici";

/** One request to an endpoint. */
export type SendRequest = {
  origin: string;
  path: string;
  headers: readonly string[];
  body: Buffer;
  timeoutMs: number;
  /** Maximum number of bytes of the endpoint's answer that svc stores with the delivery attempt. Default: 1,024. */
  keptBytes?: number;
};

/**
 * Result of one attempt to send a delivery. These fields also describe a failure of the endpoint; the attempt never throws an error for it.
 */
export type Attempt = {
  /** HTTP status of the answer; 0 if no answer began. If the answer ended too early, this field has its status and `error` says why. */
  statusCode: number;
  /** Empty if the answer is 2xx. Otherwise an error code, sometimes followed by a colon and a few words. */
  error: string;
  /** The IP address to which svc connected. Empty if there was no connection attempt. */
  address: string;
  /**
   * Headers of the endpoint's answer, at most 50 and at most 4,096 bytes together. A value is cut off after 1,024 characters. A header that
   * does not fit is left out.
   */
  responseHeaders: Record<string, string>;
  /** The first bytes of the endpoint's answer, as text. The request's `keptBytes` says how many are kept (default 1,024). */
  responseBody: string;
};

/** Error of an attempt that this node itself aborted. The attempt says nothing about the endpoint and is not recorded. */
const abortedError = "aborted";

/** Returns the result of an attempt that this node aborted before it sent anything. */
export function abortedAttempt(): Attempt {
  return unsent(abortedError);
}

/**
 * Returns the result of an attempt in which svc sent nothing to the endpoint, because it could not get the credentials. `why`: the reason,
 * without secrets.
 */
export function unauthorizedAttempt(why: string): Attempt {
  return unsent(`auth_failed: ${why}`);
}

/** Returns a failed attempt for which nothing was sent, because the subscription's template gives no body for the event. */
export function bodilessAttempt(why: string): Attempt {
  return unsent(`${bodyInvalid}: ${why}`);
}

const bodyInvalid = "body_invalid";

/** True if nothing was sent because the subscription's template gives no body. The attempt says nothing about the endpoint. */
export function isBodiless(attempt: Pick<Attempt, "error">): boolean {
  return attempt.error.startsWith(bodyInvalid);
}

/** Returns the first word of an attempt's error, which is one of a fixed set. */
export function errorWordOf({ error }: Pick<Attempt, "error">): string {
  return error.split(":", 1)[0] ?? "";
}

function unsent(error: string): Attempt {
  return { statusCode: 0, error, address: "", responseHeaders: {}, responseBody: "" };
}

/** True if this node aborted the attempt. */
export function isAborted(attempt: Attempt): boolean {
  return attempt.error === abortedError;
}

const keptBodyBytes = 1024;
/** Maximum number of bytes of an answer that are read. A longer answer is cut off, so that it cannot occupy a connection. */
const readBodyBytes = 65_536;
const keptHeadersMax = 50;
const keptHeaderValueMax = 1024;
/** Maximum size of the names and values of all kept headers together, in bytes. */
const keptHeadersBytes = 4_096;

/** Sends one POST request and follows no redirect. Resolves within `timeoutMs` and never rejects. `abort` ends the request early. */
export function send(
  agent: GuardedAgent,
  request: SendRequest,
  onAborter?: (abort: () => void) => void,
): Promise<Attempt> {
  return new Promise((resolve) => {
    const exchange = new Exchange(request.timeoutMs, resolve, request.keptBytes ?? keptBodyBytes);
    onAborter?.(() => exchange.abort(abortedError));
    agent.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: "POST",
        headers: [...request.headers],
        body: request.body,
        route: exchange.route,
      },
      exchange,
    );
  });
}

/** Handler for one request to an endpoint, with the callbacks that the HTTP client undici calls. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly route: Route = {};
  readonly #resolve: (attempt: Attempt) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason = "";
  #statusCode = 0;
  #headers: Record<string, string | string[] | undefined> = {};
  #body: Buffer[] = [];
  #bodyBytes = 0;
  #isEnded = false;
  readonly #keptBytes: number;

  constructor(timeoutMs: number, resolve: (attempt: Attempt) => void, keptBytes: number) {
    this.#resolve = resolve;
    this.#keptBytes = keptBytes;
    this.#timer = setTimeout(() => this.abort("timeout"), timeoutMs);
  }

  abort(reason: string): void {
    if (this.#isEnded) return;
    this.#abortReason = reason;
    // The result is set before undici is notified, because undici reports its own error during that call.
    this.#end(reason);
    // A request that still waits for a connection has no controller. It is dropped when it would start.
    this.#controller?.abort(new Error(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason !== "") controller.abort(new Error(this.#abortReason));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A status below 200 is informational. The final answer follows (RFC 9110, section 15.2).
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bodyBytes < this.#keptBytes) this.#body.push(chunk);
    this.#bodyBytes += chunk.byteLength;
    if (this.#bodyBytes <= readBodyBytes || this.#isEnded) return;
    // The answer is longer than the part that svc reads. Its status alone decides the result.
    this.#end(statusError(this.#statusCode));
    controller.abort(new Error("the answer is longer than svc reads"));
  }

  onResponseEnd(): void {
    this.#end(statusError(this.#statusCode));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(networkError(error));
  }

  #end(error: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#resolve({
      statusCode: this.#statusCode,
      error,
      address: this.route.connection?.remoteAddress ?? "",
      responseHeaders: keptHeaders(this.#headers),
      responseBody: keptBody(this.#body, this.#headers, this.#keptBytes),
    });
  }
}

function statusError(statusCode: number): string {
  return statusCode >= 200 && statusCode < 300 ? "" : `http_${statusCode}`;
}

const networkCodes: Record<string, string> = {
  ECONNREFUSED: "connection_refused",
  ECONNRESET: "connection_reset",
  EPIPE: "connection_reset",
  UND_ERR_SOCKET: "connection_closed",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  ETIMEDOUT: "timeout",
  ENOTFOUND: "dns_not_found",
  EAI_AGAIN: "dns_unavailable",
  EHOSTUNREACH: "host_unreachable",
  ENETUNREACH: "network_unreachable",
  UND_ERR_HEADERS_OVERFLOW: "headers_too_large",
};

const malformedCodes = new Set(["UND_ERR_RESPONSE", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"]);

/**
 * Returns the error code of a failed request. The code of the cause is preferred, because parallel connection attempts (happy eyeballs)
 * wrap the error in an AggregateError.
 */
function networkError(error: unknown): string {
  const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  if (cause instanceof AddressRefusedError) return `address_refused: ${cause.message}`;
  if (!(cause instanceof Error)) return "network_error";
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  const known = networkCodes[code];
  if (known !== undefined) return known;
  if (/TLS|SSL|CERT|SELF_SIGNED|UNABLE_TO/.test(code)) return `tls_error: ${code}`;
  if (code.startsWith("HPE_") || malformedCodes.has(code) || cause.name === "HTTPParserError") return "http_malformed";
  return `network_error: ${code === "" ? cause.name : code}`;
}

function keptHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const kept: Record<string, string> = {};
  let count = 0;
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || count >= keptHeadersMax) continue;
    const text = storableText(Array.isArray(value) ? value.join(", ") : value).slice(0, keptHeaderValueMax);
    const size = Buffer.byteLength(name) + Buffer.byteLength(text);
    if (bytes + size > keptHeadersBytes) continue;
    bytes += size;
    count += 1;
    kept[name] = text;
  }
  return kept;
}

/** Returns the beginning of the endpoint's answer as readable text. Adds a note if a part of the answer is not text. */
function keptBody(
  chunks: Buffer[],
  { "content-type": type }: Record<string, string | string[] | undefined>,
  keptBytes: number,
): string {
  const [only] = chunks;
  if (only === undefined) return "";
  const whole = chunks.length === 1 ? only : Buffer.concat(chunks);
  const contentType = Array.isArray(type) ? type[0] : type;
  const isCut = whole.byteLength > keptBytes;
  const { text, isLossy } = displayText(whole.subarray(0, keptBytes), { contentType, isCut });
  const shown = storableText(text);
  return isLossy || shown !== text ? `${shown} (not all of it is text: some bytes are shown as \ufffd)` : shown;
}
