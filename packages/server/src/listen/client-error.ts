import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { serverFaults } from "../errors.ts";
import { errorText } from "../http/answer.ts";

/** A connection, and the answer that it has under way. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/** Listens to `clientError` of a server. */
export type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: HttpSocket) => void;

const lateCode = "ERR_HTTP_REQUEST_TIMEOUT";
// Made once: thousands may be told the same in one turn of the loop.
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

/** How long a connection that was told to go may take to do so, milliseconds. */
const lingerMs = 1_000;
/** How long ending late connections may hold the event loop, milliseconds: the server finds all of them in one turn. */
const timeSliceMs = 5;

/**
 * Makes a handler that tells who sends what is not HTTP, or sends it too late or too large, and cuts them off: who was late as soon as
 * that is sent, others when they have read it (RFC 9112, 9.6: what still arrives would make the system take the answer back), and
 * either after a second.
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
