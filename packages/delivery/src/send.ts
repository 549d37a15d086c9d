import { AddressRefusedError, displayText, storableText } from "@svc/core";
import type { GuardedAgent, Route } from "@svc/core/dial";
import type { Dispatcher } from "undici";

/** One request to an endpoint. */
export type SendRequest = { origin: string; path: string; headers: string[]; body: Buffer; timeoutMs: number };

/** Result of a request. A failing endpoint is data here, never an exception. */
export type Attempt = {
  /** 0 if no answer began. An answer that broke off keeps its status and has an error. */
  statusCode: number;
  /** Empty for a 2xx answer; otherwise a code, sometimes followed by a colon and a few words. */
  error: string;
  /** The address that was dialed. Empty if none was. */
  address: string;
  responseHeaders: Record<string, string>;
  /** The first 1,024 bytes of the answer, as text. */
  responseBody: string;
};

/** The error of an attempt that this node aborted. It is not evidence against the endpoint and is not recorded. */
const abortedError = "aborted";

/** True if this node aborted the attempt. */
export function isAborted(attempt: Attempt): boolean {
  return attempt.error === abortedError;
}

const keptBodyBytes = 1024;
/** Longest answer that is read, in bytes. A longer one is cut off so that it cannot hold a connection. */
const readBodyBytes = 65_536;
const keptHeadersMax = 50;
const keptHeaderValueMax = 1024;

/** Posts once and follows no redirect. Resolves within `timeoutMs` and never rejects. `abort` ends it early. */
export function send(
  agent: GuardedAgent,
  request: SendRequest,
  onAborter?: (abort: () => void) => void,
): Promise<Attempt> {
  return new Promise((resolve) => {
    const exchange = new Exchange(request.timeoutMs, resolve);
    onAborter?.(() => exchange.abort(abortedError));
    agent.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: "POST",
        headers: request.headers,
        body: request.body,
        route: exchange.route,
      },
      exchange,
    );
  });
}

/** undici's handler for one request, from its start to its end. */
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

  constructor(timeoutMs: number, resolve: (attempt: Attempt) => void) {
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.abort("timeout"), timeoutMs);
  }

  abort(reason: string): void {
    if (this.#isEnded) return;
    this.#abortReason = reason;
    // This comes before undici is informed, because undici reports its own error within the call.
    this.#end(reason);
    // A request that waits for a connection has no controller yet. It is dropped when it starts.
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
    // 1xx: the final answer is still to come (RFC 9110, 15.2).
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bodyBytes < keptBodyBytes) this.#body.push(chunk);
    this.#bodyBytes += chunk.byteLength;
    if (this.#bodyBytes <= readBodyBytes || this.#isEnded) return;
    // The status counts: an endpoint that sends a long answer has still answered.
    this.#end(statusError(this.#statusCode));
    controller.abort(new Error("answer longer than is read"));
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
      responseBody: keptBody(this.#body, this.#headers),
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

/** Returns the code of a failed request. The cause comes first, because happy-eyeballs wraps it in an AggregateError. */
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
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || count++ >= keptHeadersMax) continue;
    kept[name] = storableText(Array.isArray(value) ? value.join(", ") : value).slice(0, keptHeaderValueMax);
  }
  return kept;
}

/** Returns the answer's beginning for people to read, with a note if it is not all text. */
function keptBody(chunks: Buffer[], { "content-type": type }: Record<string, string | string[] | undefined>): string {
  const [only] = chunks;
  if (only === undefined) return "";
  const whole = chunks.length === 1 ? only : Buffer.concat(chunks);
  const contentType = Array.isArray(type) ? type[0] : type;
  const isCut = whole.byteLength > keptBodyBytes;
  const { text, isLossy } = displayText(whole.subarray(0, keptBodyBytes), { contentType, isCut });
  const shown = storableText(text);
  return isLossy || shown !== text ? `${shown} (not all of it is text: some bytes are shown as \ufffd)` : shown;
}
