import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { PostKind } from "../post-kinds.ts";

/**
 * Starts the HTTP side of a peer, a minimal node:http server. It reads the post, checks its signature, gives the normalized payload to
 * `accept`, and answers 202 when `accept` has resolved. Resolves with the port.
 */
export function serveWebhooks(kind: PostKind, accept: (payload: string) => Promise<void> | void): Promise<number> {
  const server = createServer((req, res) => {
    readBody(req)
      .then((body) => handle(kind, req, res, body, accept))
      .catch((error: unknown) => answer(res, 500, `{"error":${JSON.stringify(String(error))}}`));
  });
  // The timeout is longer than any run. A connection that the server closes while idle would count as a refusal.
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

async function handle(
  kind: PostKind,
  req: IncomingMessage,
  res: ServerResponse,
  body: Buffer,
  accept: (payload: string) => Promise<void> | void,
): Promise<void> {
  if (!kind.isGenuine(req.url ?? "", req.headers, body)) return answer(res, 401, '{"error":"not verified"}');
  await accept(kind.payload(req.headers, body));
  answer(res, 202, '{"accepted":1}');
}

function readBody(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => resolve(Buffer.concat(chunks)));
    req.on("error", reject);
  });
}

function answer(res: ServerResponse, status: number, body: string): void {
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body);
}
