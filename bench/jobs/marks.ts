import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { monotonicMicros } from "../monotonic.ts";

// Loaded into the server by --import. It writes a line of marks for each submission, in the order of their answers. One job runs at a time.

/** What happened, and the monotonic microseconds at which it did. */
export type Mark = readonly [what: string, micros: number];

/** The variable of the environment that names the file of the marks. */
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

/** Marks what is sent to PostgreSQL and what it answers. With one job at a time, no two statements share a connection. */
function markStatements(): void {
  const known = new WeakMap<Socket, { readonly names: Map<string, string>; open: string[] }>();
  const { write } = Socket.prototype;
  Socket.prototype.write = function writeMarked(this: Socket, chunk: unknown, ...rest: never[]) {
    if (Buffer.isBuffer(chunk)) {
      for (const { kind, texts } of messagesOf(chunk)) {
        let state = known.get(this);
        if (state === undefined) {
          state = { names: new Map(), open: [] };
          known.set(this, state);
          this.on("data", () => {
            for (const name of known.get(this)?.open.splice(0) ?? []) mark(`${name} answered`);
          });
        }
        const [first = "", second = ""] = texts;
        if (kind === "P") state.names.set(first, /^\/\* (\w+) \*\//.exec(second)?.[1] ?? second.slice(0, 30));
        else {
          const name = kind === "Q" ? first.slice(0, 30) : (state.names.get(second) ?? "a statement");
          state.open.push(name);
          mark(`${name} sent`);
        }
      }
    }
    return Reflect.apply(write, this, [chunk, ...rest]) as boolean;
  };
}

type Message = { readonly kind: string; readonly texts: readonly string[] };

/** The messages of PostgreSQL's protocol that parse (P), bind (B) or are a simple query (Q), with their first texts; none in other bytes. */
function messagesOf(bytes: Buffer): Message[] {
  const found: Message[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const kind = String.fromCharCode(bytes[at] ?? 0);
    const length = bytes.readUInt32BE(at + 1);
    // Any other protocol, such as HTTP, has no such length here.
    if (!"PBQDESCH".includes(kind) || length < 4 || at + 1 + length > bytes.length) return found;
    if ("PBQ".includes(kind)) {
      const texts = bytes.toString("latin1", at + 5, at + 1 + length).split("\0", 2);
      found.push({ kind, texts });
    }
    at += 1 + length;
  }
  return found;
}
