import { AddressRefusedError } from "@svc/core";
import { answerHeaderBytesMax } from "@svc/core/dial";
import type { Dispatcher } from "undici";
import type { AnswerAllowance } from "./answer-budget.ts";
import type { AppAnswer } from "./app-transport.ts";

/**
 * Maximum size of the body of an app's answer, in bytes. The limit applies to the received body, and also to the body after decompression.
 */
export const answerBytesMax = 8 * 1024 * 1024;
/**
 * Size in bytes up to which svc receives an app's answer without reserving memory from the node's budget for answers. So small answers are
 * received even if large answers have used up the whole budget.
 */
const freeBytes = 16 * 1024;
/**
 * Limits of one request to an app and its answer. `patienceMs`: maximum time for which reading the answer pauses because memory is short.
 */
export type ExchangeOptions = {
  readonly timeoutMs: number;
  /** Maximum size of the answer's body in bytes. Default: `answerBytesMax`. */
  readonly bytesMax?: number | undefined;
  readonly allowance: AnswerAllowance;
  readonly patienceMs: number;
  /** Ends the request when it is aborted, like the end of `timeoutMs`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with each part of the answer's body, in order. If it returns true, the answer is complete, even if the app does not end it: the
   * connection is then closed. Default: the answer is complete when the app ends it.
   */
  readonly isComplete?: ((chunk: Buffer) => boolean) | undefined;
};

/** Handles one request of the library undici, from its start to its end. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: AppAnswer) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #bytesMax: number;
  readonly #allowance: AnswerAllowance;
  readonly #patienceMs: number;
  #reserved = 0;
  /**
   * Timer that ends the request if reading the app's answer is paused for too long because memory is short. Undefined while reading is not
   * paused.
   */
  #patience: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isEnded = false;
  /** True after undici has announced the start of the request, which it then writes at once. False means that nothing was sent. */
  #isStarted = false;
  readonly #signal: AbortSignal | undefined;
  readonly #isComplete: ((chunk: Buffer) => boolean) | undefined;
  readonly #expire: () => void;

  constructor(options: ExchangeOptions, resolve: (answer: AppAnswer) => void) {
    const { timeoutMs, bytesMax = answerBytesMax, allowance, patienceMs, signal, isComplete } = options;
    this.#resolve = resolve;
    this.#bytesMax = bytesMax;
    this.#allowance = allowance;
    this.#patienceMs = patienceMs;
    this.#signal = signal;
    this.#isComplete = isComplete;
    this.#expire = () => {
      const message = `no complete answer within ${Math.round(timeoutMs)} ms`;
      this.#abort({ kind: "timeout", sent: this.#isStarted, message });
    };
    this.#timer = setTimeout(this.#expire, timeoutMs);
    if (signal?.aborted) this.#expire();
    else signal?.addEventListener("abort", this.#expire, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The request waited for a connection until its time was over. It is aborted here, before any byte is sent.
    if (this.#isEnded) controller.abort(new Error("the request has ended"));
    else this.#isStarted = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A 1xx status is informational. The final answer has not come yet.
    if (status < 200) return;
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) this.#headers[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
    }
    const declared = Number(this.#headers["content-length"] ?? 0);
    if (declared > this.#bytesMax) this.#abort({ kind: "too_large", status });
    else this.#reserve(declared);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isEnded) return;
    this.#bytes += chunk.byteLength;
    if (this.#bytes > this.#bytesMax) {
      this.#abort({ kind: "too_large", status: this.#status });
      return;
    }
    this.#chunks.push(chunk);
    if (this.#isComplete?.(chunk) === true) {
      this.#abort({ kind: "answer", status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) });
    } else this.#reserve(this.#bytes);
  }

  /** Reserves memory for this many bytes of the answer. If there is none, reading pauses until memory is free or `patienceMs` ends. */
  #reserve(total: number): void {
    const bytes = total - this.#reserved;
    // Reading of the answer pauses while not enough memory is free. Bytes that the socket had already read may still arrive during the
    // pause. They are few, so svc reserves no memory for them.
    if (total <= freeBytes || !(bytes > 0) || this.#patience !== undefined) return;
    if (this.#allowance.take(bytes, () => this.#goOn(bytes))) {
      this.#reserved += bytes;
      return;
    }
    this.#controller?.pause();
    const busy = { kind: "too_large", status: this.#status, isBusy: true } as const;
    this.#patience = setTimeout(() => this.#abort(busy), this.#patienceMs);
  }

  #goOn(bytes: number): void {
    this.#reserved += bytes;
    clearTimeout(this.#patience);
    this.#patience = undefined;
    // Reading resumes in a separate microtask. This code may run in the callback of another connection, and all connections share one
    // parser.
    queueMicrotask(() => this.#controller?.resume());
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#chunks);
    this.#end({ kind: "answer", status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    this.#end(answerOfError(error, this.#isStarted));
  }

  #abort(answer: AppAnswer): void {
    // Ends the exchange with this answer before undici is informed of the abort. Otherwise undici would report its own error first.
    this.#end(answer);
    this.#controller?.abort(new Error("the request has ended"));
  }

  #end(answer: AppAnswer): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#patience);
    this.#signal?.removeEventListener("abort", this.#expire);
    this.#chunks = [];
    this.#resolve(answer);
    // The memory stays reserved until the caller has read the answer. The caller reads the answer at once, before the function in
    // `setImmediate` runs and ends the reservation.
    if (answer.kind === "answer") setImmediate(() => this.#allowance.end());
    else this.#allowance.end();
  }
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_DESTROYED: "this node stopped",
  UND_ERR_CONNECT_TIMEOUT: "no connection was established in time",
  ETIMEDOUT: "no connection was established in time",
  ENOTFOUND: "the host has no address",
  EAI_AGAIN: "the host's address could not be looked up",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  UND_ERR_HEADERS_OVERFLOW: `the answer's headers are larger than ${answerHeaderBytesMax / 1024} KiB`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the answer is not HTTP",
  UND_ERR_INVALID_ARG: "the request cannot be written as HTTP",
};

/**
 * Returns the answer for a failed request. For an AggregateError, which undici uses for several connection attempts, uses the first of its
 * errors. The answer contains no text of the app.
 */
function answerOfError(error: unknown, sent: boolean): AppAnswer {
  const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  if (cause instanceof AddressRefusedError) return { kind: "refused", message: cause.message };
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
  const isMalformed = cause instanceof Error && cause.name === "HTTPParserError";
  const message = isMalformed ? "the answer is not HTTP" : (words[code] ?? otherWords(code));
  if (!sent) return { kind: "unreachable", message };
  const isTimeout = code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT";
  return { kind: isTimeout ? "timeout" : "broken", sent, message };
}

function otherWords(code: string): string {
  if (/TLS|SSL|CERT|SELF_SIGNED|UNABLE_TO/.test(code)) return `TLS failed (${code})`;
  return code === "" ? "the connection failed" : `the connection failed (${code})`;
}
