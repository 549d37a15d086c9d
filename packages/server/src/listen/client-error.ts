import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { serverFaults } from "../errors.ts";
import { errorText } from "../http/answer.ts";

/** A connection and its current answer. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/** Handles `clientError` of a server. */
export type ClientErrorHandler = (error: NodeJS.ErrnoException, socket: HttpSocket) => void;

const lateCode = "ERR_HTTP_REQUEST_TIMEOUT";
// Created once, because thousands may be sent in one turn of the event loop.
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

/** How long a refused connection may take to close, milliseconds. */
const lingerMs = 1_000;
/** Maximum time slice for closing late connections, milliseconds: the server finds all of them in one turn. */
const timeSliceMs = 5;

/**
 * Creates a handler that answers and closes connections with invalid, late or too large requests. Late ones close right after the answer;
 * others after the client has read it, because data that still arrives would discard the answer (RFC 9112, 9.6). Both close after a second
 * at the latest.
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
