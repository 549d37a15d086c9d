import type { IncomingMessage, ServerResponse } from "node:http";
import { inboxBodyBytesMax, inboxPrefix, type Sandbox } from "@svc/node";
import { serverFaults } from "../errors.ts";
import { answerError, answerJson, splitTarget } from "../http/answer.ts";

/**
 * Creates the handler of sandbox inboxes, the addresses below `/sandbox/inbox/`. It answers every request to an inbox with 200 and keeps the
 * beginning of its body. It reads bodies of any size without holding them. An address that svc did not make is answered with 404.
 */
export function createInboxPage({ inboxes }: Sandbox): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const { path } = splitTarget(req);
    const id = path.slice(inboxPrefix.length);
    if (!inboxes.isKnown(id)) return answerError(res, serverFaults.CALL_UNKNOWN(path), 404);
    receiveStart(req, ({ start, bodyBytes }) => {
      inboxes.keep(id, { method: req.method ?? "", headers: req.headers, start, bodyBytes });
      answerReceived(res);
    });
  };
}

function answerReceived(res: ServerResponse): void {
  if (!res.destroyed) answerJson(res, 200, '{"received":true}\n');
}

/** Reads a body to its end. Calls `onEnd` with the first bytes of the body and its size. Does nothing if the sender disconnects before. */
function receiveStart(req: IncomingMessage, onEnd: (body: { start: Buffer; bodyBytes: number }) => void): void {
  const pieces: Buffer[] = [];
  let bodyBytes = 0;
  req.on("data", (chunk: Buffer) => {
    const room = inboxBodyBytesMax - bodyBytes;
    if (room > 0) pieces.push(Buffer.from(chunk.subarray(0, room)));
    bodyBytes += chunk.byteLength;
  });
  req.on("error", () => {});
  req.on("end", () => onEnd({ start: Buffer.concat(pieces), bodyBytes }));
}
