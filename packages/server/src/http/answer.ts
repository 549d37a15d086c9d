import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";

/** How messages are written as JSON: every scalar and list stands there, also when it is empty; unknown fields are refused. */
export const jsonOptions = { alwaysEmitImplicit: true, ignoreUnknownFields: false } as const;

/** Further headers of an answer. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** Answers with a JSON text. HEAD gets the headers alone. */
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

/** Answers with an error in the form of the API; `status` where HTTP has a closer one than the code's own. */
export function answerError(
  res: ServerResponse,
  error: ConnectError,
  status: number = codeToHttpStatus(error.code),
  headers?: AnswerHeaders,
): void {
  answerJson(res, status, errorToJsonBytes(error, jsonOptions), headers);
}

/** The path of a request and its query without the question mark; of the absolute form that proxies send as well. */
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
