import type { IncomingMessage, ServerResponse } from "node:http";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { type Fault, retryAfterText } from "@svc/core";
import { untilRefused } from "../listen/refusal-pace.ts";
import { httpStatusOf, toConnectError } from "../rpc/connect-error.ts";

/** JSON form of messages: every scalar and list is written, even if empty; unknown fields are refused. */
export const jsonOptions = { alwaysEmitImplicit: true, ignoreUnknownFields: false } as const;

/** Additional headers of an answer. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** Default time to try again, seconds. */
export const retryHeaders = { "retry-after": "5" } as const;

/** Answers with a JSON text. HEAD gets only the headers. */
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
 * Refuses a request of an unknown caller, with a fault in the form of the API. `status`: an HTTP status closer than the code's own. Waits
 * until the address may be refused again. Statuses that ask to try again (5xx, 413, 429) are not delayed here but where they are decided.
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

/** Answers a known caller with a fault, like `answerError`, and at once. Retry-After is the fault's. */
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

/** Bodies of faults that are answered repeatedly. */
const prepared = new WeakMap<Fault, string>();

/** Writes the body of a fault once for all its answers. */
export function prepareError(fault: Fault): Fault {
  prepared.set(fault, errorText(fault));
  return fault;
}

/** Returns a fault as the body of an answer. */
export function errorText(fault: Fault): string {
  return JSON.stringify(errorToJson(toConnectError(fault), jsonOptions));
}

/** Returns the path of a request and its query without the question mark, also for the absolute form that proxies send. */
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
