import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { monotonicMicros } from "../monotonic.ts";

// Loaded into the server by --import. Writes a line of time marks for each submission, in the order of their answers. It assumes that one
// job runs at a time.

/** An event and its time in microseconds of the monotonic clock. */
export type Mark = readonly [what: string, micros: number];

/** Environment variable with the path of the file for the marks. */
export const marksVariable = "BENCH_MARKS";

const file = process.env[marksVariable];
let marks: Mark[] | undefined;
const mark = (what: string) => void marks?.push([what, monotonicMicros()]);

if (file !== undefined) {
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.url?.endsWith("/SubmitJob") !== true) return;
    marks = [];
    mark("request at the handler");
    request.once("end", () => mark("submission read"));
  });
  subscribe("http.server.response.finish", (message) => {
    const { response } = message as { readonly response: ServerResponse };
    if (response.req.url?.endsWith("/SubmitJob") !== true) return;
    mark("answer written");
    appendFileSync(file, `${JSON.stringify(marks)}\n`);
    marks = undefined;
  });
  subscribe("undici:client:sendHeaders", () => mark("request to the app sent"));
  subscribe("undici:request:trailers", () => mark("answer of the app read"));
  markStatements();
}

/** State of a connection: the texts of its prepared statements, the unanswered statements, and the bytes of an incomplete message. */
type Connection = { readonly names: Map<string, string>; readonly open: string[]; rest: Buffer };

/** Adds marks for the statements sent to PostgreSQL and their answers. PostgreSQL answers the statements of a connection in order. */
function markStatements(): void {
  const known = new WeakMap<Socket, Connection>();
  const { write } = Socket.prototype;
  Socket.prototype.write = function writeMarked(this: Socket, chunk: unknown, ...rest: never[]) {
    for (const { kind, texts } of Buffer.isBuffer(chunk) ? messagesOf(chunk, "PBQDESCH").messages : []) {
      let connection = known.get(this);
      if (connection === undefined) {
        connection = { names: new Map(), open: [], rest: Buffer.alloc(0) };
        known.set(this, connection);
        this.on("data", (data: Buffer) => markAnswers(known.get(this), data));
      }
      const [first = "", second = ""] = texts;
      if (kind === "P") connection.names.set(first, nameOf(second));
      if (kind !== "B" && kind !== "Q") continue;
      const name = kind === "Q" ? nameOf(first) : (connection.names.get(second) ?? "a statement");
      connection.open.push(name);
      mark(`${name} sent`);
    }
    return Reflect.apply(write, this, [chunk, ...rest]) as boolean;
  };
}

function markAnswers(connection: Connection | undefined, data: Buffer): void {
  if (connection === undefined) return;
  const { messages, rest } = messagesOf(Buffer.concat([connection.rest, data]), undefined);
  connection.rest = rest;
  // Message Z means that the server is ready for the next statement.
  for (const { kind } of messages) if (kind === "Z") mark(`${connection.open.shift() ?? "a statement"} answered`);
}

/** Returns the name in a statement's comment, or the name of the table that it reads. */
function nameOf(text: string): string {
  const [, name = `a statement of ${/ (?:from|into|update) "?(\w+)/.exec(text)?.[1] ?? "no table"}`] =
    /^\/\* (\w+) \*\//.exec(text) ?? [];
  return name;
}

type Message = { readonly kind: string; readonly texts: readonly string[] };

/**
 * Splits bytes into messages of PostgreSQL's protocol, each with its first text, and returns the remaining bytes. Returns no message if the
 * first kind is not in `kinds`.
 */
function messagesOf(bytes: Buffer, kinds: string | undefined): { messages: Message[]; rest: Buffer } {
  const messages: Message[] = [];
  let at = 0;
  while (at + 5 <= bytes.length) {
    const kind = String.fromCharCode(bytes[at] ?? 0);
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    // Bytes of another protocol, such as HTTP, do not have a valid length at this place.
    if (kinds?.includes(kind) === false || end > bytes.length || end < at + 5) break;
    const texts = kinds === undefined ? [] : bytes.toString("latin1", at + 5, end).split("\0", 2);
    messages.push({ kind, texts });
    at = end;
  }
  return { messages, rest: bytes.subarray(at) };
}
