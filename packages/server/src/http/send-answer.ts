import type { IncomingMessage, ServerResponse } from "node:http";
import { compressionNegotiate } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import type { Answer } from "../calls/answer.ts";

/** Headers of an answer, in the order in which they are written. */
export type OutgoingHeaders = Record<string, string | number>;

/** Answers that are shorter cost more to compress than to send. */
const compressMinBytes = 32_768;

/** Sends what a call is answered with, compressed for those who take that. */
export async function sendAnswer(
  answer: Answer,
  headers: OutgoingHeaders,
  { req, res, isJson }: { readonly req: IncomingMessage; readonly res: ServerResponse; readonly isJson: boolean },
): Promise<void> {
  const isLong = answer.body.byteLength >= compressMinBytes;
  if (!isLong || !takesGzip(req, isJson)) return send(res, 200, answer.body, headers);
  const body = await answer.gzip();
  send(res, 200, body, { ...headers, "content-encoding": compressionGzip.name });
}

/** By the rules of Connect: what the request says it accepts, or else, of one in JSON, how it is encoded itself. */
function takesGzip({ headers }: IncomingMessage, isJson: boolean): boolean {
  const accepted = headers["accept-encoding"];
  const name = "accept-encoding";
  const own = (isJson ? headers["content-encoding"] : undefined) ?? null;
  const text = Array.isArray(accepted) ? accepted.join(", ") : (accepted ?? null);
  return compressionNegotiate([compressionGzip], own, text, name).response !== null;
}

/** Headers as `writeHead` takes them. */
export function headersOf(header: Headers | undefined): OutgoingHeaders {
  const headers: OutgoingHeaders = {};
  header?.forEach((value, name) => {
    headers[name] = value;
  });
  return headers;
}

/** Sends a body whole, unless the caller has gone. */
export function send(res: ServerResponse, status: number, body: Uint8Array, headers: OutgoingHeaders): void {
  if (res.destroyed) return;
  headers["content-length"] = body.byteLength;
  res.writeHead(status, headers);
  res.end(body);
}
