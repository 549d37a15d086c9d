import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { serverFaults } from "../errors.ts";
import { errorText } from "../http/answer.ts";

/** A connection, with the answer that it is writing at the moment. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/** Handles the `clientError` event of a server. */
export type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: HttpSocket) => void;

const lateCode = "ERR_HTTP_REQUEST_TIMEOUT";
// The texts of the answers. They are created once, because svc may send thousands in one turn of the event loop.
const answers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: answerOf("431 Request Header Fields Too Large"),
  [lateCode]: answerOf("408 Request Timeout"),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: answerOf("413 Payload Too Large"),
};
const otherAnswer = answerOf("400 Bad Request");

function answerOf(status: string): string {
  const body = errorText(
    serverFaults.REQUEST_MALFORMED({ message: `the request is not answered: ${status.slice(4)}` }),
  );
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
}

/** Maximum time for which a refused connection stays open so that the client can read the answer, in milliseconds. */
const lingerMs = 1_000;
/**
 * Maximum time in milliseconds for which late connections are closed without a pause. A connection is late if its request did not arrive in
 * time.
 */
const timeSliceMs = 5;

/**
 * Creates the handler for connections whose request is invalid, late or too large. It answers and then closes the connection, after one
 * second at the latest. A late connection is closed right after the answer. Any other connection is closed when the client has closed its
 * side. If svc closed it while data still arrives, the client could lose the answer (RFC 9112, 9.6).
 */
export function createClientErrorHandler(): ClientErrorHandler {
  let late: HttpSocket[] = [];
  const endLate = () => {
    const until = performance.now() + timeSliceMs;
    let ended = 0;
    for (const socket of late) {
      tell(socket, lateCode);
      ended += 1;
      if (performance.now() > until) break;
    }
    late = late.slice(ended);
    if (late.length > 0) setImmediate(endLate);
  };
  return ({ code = "" }, socket) => {
    if (code !== lateCode) return tell(socket, code);
    late.push(socket);
    if (late.length === 1) setImmediate(endLate);
  };
}

function tell(socket: HttpSocket, code: string): void {
  if (code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  socket.once(code === lateCode ? "finish" : "end", () => socket.destroy());
  socket.end(answers[code] ?? otherAnswer);
  socket.resume();
}
