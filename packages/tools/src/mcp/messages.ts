import { type ForeignText, isJsonNumber, isObject, type JsonNumber, parseExactJson } from "@svc/core";
import { argumentValuesMax } from "../service/call-request.ts";
import type { Params } from "./offer.ts";
import { invalidRequest, type McpError, unreadable } from "./request.ts";

/** The id that the client gave to a request. Numbers keep all their digits. */
export type MessageId = string | JsonNumber;

/** A JSON-RPC message. If its parameters are missing, they are an empty object. */
export type McpMessage =
  | { readonly kind: "request"; readonly id: MessageId; readonly method: string; readonly params: Params }
  | { readonly kind: "notification"; readonly method: string; readonly params: Params }
  | { readonly kind: "response" };

/** The messages of one POST. A batch has at least one message. */
export type McpMessages = { readonly messages: readonly McpMessage[]; readonly isBatch: boolean };

/** The reason why a POST contains no valid message. `id`: id of its request, if the id could be read. */
export type NoMessages = { readonly error: McpError; readonly id?: MessageId | undefined };

/** Maximum messages per batch, so that one POST cannot request too much work. */
const batchMax = 100;

/** Returns the messages in the body of a POST, or the reason why the body is invalid. The number of JSON values in the body is limited. */
export function readMessages(body: ForeignText): McpMessages | NoMessages {
  if ("fault" in body) return { error: unreadable(`the body ${body.fault}`) };
  let json: unknown;
  try {
    json = parseExactJson(body.text, { valuesMax: argumentValuesMax, hasUniqueNames: true });
  } catch (error) {
    return { error: unreadable((error as SyntaxError).message) };
  }
  if (!Array.isArray(json)) {
    const message = readMessage(json);
    if (typeof message === "string") return { error: invalidRequest(message), id: idOf(json) };
    return { messages: [message], isBatch: false };
  }
  if (json.length === 0) return { error: invalidRequest("the batch is empty") };
  if (json.length > batchMax) return { error: invalidRequest(`the batch has more than ${batchMax} messages`) };
  return readBatch(json);
}

function readBatch(json: readonly unknown[]): McpMessages | NoMessages {
  const messages: McpMessage[] = [];
  const ids = new Set<string>();
  for (const element of json) {
    const message = readMessage(element);
    if (typeof message === "string") return { error: invalidRequest(message) };
    messages.push(message);
    if (message.kind !== "request") continue;
    const id = JSON.stringify(message.id);
    // Two requests with the same id are refused, because both would be executed but only one could be answered.
    if (ids.has(id)) return { error: invalidRequest("two requests have the same id") };
    ids.add(id);
  }
  return { messages, isBatch: true };
}

const noParams: Params = {};

function idOf(json: unknown): MessageId | undefined {
  const id = isObject(json) ? json["id"] : undefined;
  return typeof id === "string" || isJsonNumber(id) ? id : undefined;
}

/** Returns a message, or a text that says what is wrong with it. */
function readMessage(json: unknown): McpMessage | string {
  if (!isObject(json) || json["jsonrpc"] !== "2.0") return 'a message is an object whose jsonrpc is "2.0"';
  const { id, method, params = noParams } = json;
  if (method === undefined && ("result" in json || "error" in json)) return { kind: "response" };
  if (typeof method !== "string") return "method is missing, or not a text";
  if (!isObject(params)) return "params is not an object";
  if (id === undefined) return { kind: "notification", method, params };
  if (typeof id !== "string" && !isJsonNumber(id)) return "id is not a text or a number";
  return { kind: "request", id, method, params };
}
