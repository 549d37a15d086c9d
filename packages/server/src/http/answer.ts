import type { IncomingMessage, ServerResponse } from "node:http";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { type Fault, retryAfterText } from "@svc/core";
import { untilRefused } from "../listen/refusal-pace.ts";
import { httpStatusOf, toConnectError } from "../rpc/connect-error.ts";

/** Options of JSON messages. Answers contain every scalar and list, even if empty. Requests with unknown fields are refused. */
export const jsonOptions = { alwaysEmitImplicit: true, ignoreUnknownFields: false } as const;

/** Additional headers of an answer. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** Default header Retry-After of answers that ask the client to try again later: after 5 seconds. */
export const retryHeaders = { "retry-after": "5" } as const;

/** Answers with a JSON text. An answer to HEAD has only the headers. */
export function answerJson(
  res: ServerResponse,
  status: number,
  body: string | Uint8Array,
  headers: AnswerHeaders = {},
): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers });
  res.end(body);
}

/**
 * Answers a request of an unknown caller with an error in the form of the API. `status`: HTTP status; default: the status of the error's
 * code. First waits until svc may send another refusal to this address. Errors that ask the caller to try again (5xx, 413, 429) are sent
 * without this wait.
 */
export function answerError(
  res: ServerResponse,
  fault: Fault,
  status: number = httpStatusOf(fault.code),
  headers?: AnswerHeaders,
): void {
  const wait = isComeAgain(status) ? undefined : untilRefused(res);
  if (wait === undefined) answerCaller(res, fault, status, headers);
  else void wait.then(() => answerCaller(res, fault, status, headers));
}

function isComeAgain(status: number): boolean {
  return status >= 500 || status === 413 || status === 429;
}

/**
 * Answers an identified caller with a fault. Unlike `answerError`, it does not delay the answer. If the fault has a retry delay, the header
 * Retry-After contains this delay.
 */
export function answerCaller(
  res: ServerResponse,
  fault: Fault,
  status: number = httpStatusOf(fault.code),
  headers?: AnswerHeaders,
): void {
  const retryAfter = retryAfterText(fault);
  answerJson(
    res,
    status,
    prepared.get(fault) ?? errorText(fault),
    retryAfter === undefined ? headers : { "retry-after": retryAfter, ...headers },
  );
}

/** Bodies of error answers that svc sends often, so that they are made only once. */
const prepared = new WeakMap<Fault, string>();

/** Prepares the answer body of an error once for all later answers, and returns the error. */
export function prepareError(fault: Fault): Fault {
  prepared.set(fault, errorText(fault));
  return fault;
}

/** Returns the body of an answer that contains a fault, as JSON text. */
export function errorText(fault: Fault): string {
  return JSON.stringify(errorToJson(toConnectError(fault), jsonOptions));
}

/**
 * Returns the path and the query of a request; the query has no question mark. Also accepts the absolute form of the target, which proxies
 * send.
 */
export function splitTarget(req: IncomingMessage): { path: string; query: string } {
  const url = req.url ?? "/";
  const target = url.startsWith("/") ? url : originForm(url);
  const mark = target.indexOf("?");
  return mark < 0 ? { path: target, query: "" } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

function originForm(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? url : `${parsed.pathname}${parsed.search}`;
}
