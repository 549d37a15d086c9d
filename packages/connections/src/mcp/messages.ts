import { setImmediate } from "node:timers/promises";
import { createSlices, isObject, parseJsonInTurns, readForeignText } from "@svc/core";
import type { AppAnswer } from "../app-transport.ts";

/**
 * The answer of an MCP server to a request: a JSON-RPC message with every digit of its numbers. It is the response, or the server's question
 * to the user. `text`: the JSON text of the message.
 */
export type ServerResponse = { readonly value: Readonly<Record<string, unknown>>; readonly text: string };

/** Limits of a message of an MCP server. The nesting is limited, because later code reads the message recursively. */
const bounds = { values: 400_000, members: 100_000, raw: 100_000, digits: 10_000, depth: 200 };

/** True if the answer is a stream of server-sent events. */
function isEventStream(headers: Readonly<Record<string, string>>): boolean {
  return /^\s*text\/event-stream\b/i.test(headers["content-type"] ?? "");
}

/**
 * Returns the JSON-RPC response with this id in the answer of an MCP server: the body itself, or an event of its stream. Returns a question
 * to the user if the server asks one first. Returns undefined if the answer has neither. Other work of the node can run while svc reads a
 * long answer.
 */
export async function readResponse(
  answer: AppAnswer & { readonly kind: "answer" },
  id: unknown,
): Promise<ServerResponse | undefined> {
  const read = readForeignText(answer.body, "application/json; charset=utf-8");
  if ("fault" in read) return undefined;
  const texts = isEventStream(answer.headers) ? eventsOf(read.text) : [read.text];
  for await (const text of texts) {
    if (!mayRespond(text)) continue;
    const value = await parseJsonInTurns(text, { bounds, turn: setImmediate }).catch(() => undefined);
    if (isObject(value) && isAnswer(value, id)) return { value, text };
  }
  return undefined;
}

/** True if a text can be an answer. Used so that only few events of a long stream are read as JSON. */
function mayRespond(text: string): boolean {
  return text.includes('"result"') || text.includes('"error"') || /"(?:elicitation|sampling|roots)\\?\//.test(text);
}

/** True if a message is the response with this id, or a question of the server. */
function isAnswer(value: Readonly<Record<string, unknown>>, id: unknown): boolean {
  return (value["id"] === id && ("result" in value || "error" in value)) || isQuestion(value);
}

const questions = ["elicitation/create", "sampling/createMessage", "roots/list"];

/**
 * True if a message of an MCP server is a request to the user, the model or the files of its client. svc has declared that it answers no
 * such request. A server of the revision 2025-11-25 that sends one gets no answer.
 */
export function isQuestion({ method, id }: Readonly<Record<string, unknown>>): boolean {
  return id !== undefined && typeof method === "string" && questions.includes(method);
}

/** Maximum number of lines of a stream that svc reads. What follows them is ignored. */
const linesMax = 100_000;

/**
 * Returns the data of each event in a stream of server-sent events (HTML Living Standard, 9.2). Other work of the node can run between two
 * lines.
 */
async function* eventsOf(stream: string): AsyncGenerator<string> {
  const { rest } = createSlices(setImmediate);
  let data: string[] = [];
  for (const line of linesOf(stream)) {
    if (line.startsWith("data:")) data.push(dataOf(line));
    await rest();
    if (line !== "" || data.length === 0) continue;
    yield data.join("\n");
    data = [];
  }
  if (data.length > 0) yield data.join("\n");
}

/** Returns the lines of a text, at most `linesMax`. A line ends with CR, LF or both. */
function* linesOf(text: string): Generator<string> {
  let [cr, lf] = [0, 0];
  for (let [from, count] = [0, 0]; from < text.length && count < linesMax; count++) {
    // Each search continues where the one before it ended, so that all of them together read the text once.
    if (cr < from || count === 0) cr = indexOrEnd(text, "\r", from);
    if (lf < from || count === 0) lf = indexOrEnd(text, "\n", from);
    const end = Math.min(cr, lf);
    yield text.slice(from, end);
    from = lf === cr + 1 ? lf + 1 : end + 1;
  }
}

function indexOrEnd(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found === -1 ? text.length : found;
}

/** Returns the value of a line that begins with `data:`. */
function dataOf(line: string): string {
  return line.slice(line.startsWith("data: ") ? 6 : 5);
}

const eventEnd = /\r\n\r\n|\n\n|\r\r/;

/** Maximum characters of an event that `createResponseWatch` reads. A longer event is read only after the server has ended the stream. */
const watchedMax = 65_536;

/**
 * Returns a function that is called with the parts of an answer's body, in order. It returns true when an event of a stream is the response
 * with this id, or a question. So a server that leaves the stream open does not delay the call. It returns false for an answer that is not
 * a stream.
 */
export function createResponseWatch(id: unknown): (chunk: Buffer) => boolean {
  let parts: Buffer[] = [];
  let [bytes, isLong] = [0, false];
  let isStream: boolean | undefined;
  return (chunk) => {
    isStream ??= /^\s*(?:data|event|id|retry)?:/.test(chunk.subarray(0, 20).toString("latin1"));
    if (!isStream) return false;
    // An end of an event may be divided between two parts.
    const end = Buffer.concat([parts.at(-1)?.subarray(-3) ?? Buffer.alloc(0), chunk]);
    parts.push(chunk);
    bytes += chunk.byteLength;
    if (!eventEnd.test(end.toString("latin1"))) {
      // An event that is too long is not read here, so only what may be the beginning of its end is kept.
      if (bytes > watchedMax) [parts, bytes, isLong] = [[end.subarray(-3)], 0, true];
      return false;
    }
    // Only the structure and the id of an event are read here. They are ASCII, and each other byte stays one character.
    const events = Buffer.concat(parts).toString("latin1").split(eventEnd);
    const whole = events.slice(isLong ? 1 : 0, -1);
    parts = [Buffer.from(events.at(-1) ?? "", "latin1")];
    [bytes, isLong] = [parts[0]?.byteLength ?? 0, false];
    return whole.some((event) => event.length <= watchedMax && isAnswerEvent(event, id));
  };
}

function isAnswerEvent(event: string, id: unknown): boolean {
  if (!mayRespond(event)) return false;
  const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
  try {
    const value: unknown = JSON.parse(lines.map(dataOf).join("\n"));
    return isObject(value) && isAnswer(value, id);
  } catch {
    // The event is not JSON. The caller reads the whole answer and reports that.
    return false;
  }
}
