import type { AccessClass } from "@svc/catalog";
import { isObject, JsonTooLargeError, parseExactJson } from "@svc/core";
import type { AppAnswer } from "../app-transport.ts";
import { answerBytesMax } from "../exchange.ts";
import type { ServerResponse } from "./messages.ts";

/** Maximum characters of an error text of an MCP server that are passed on. */
const errorMax = 500;
/** Maximum parts of a result (images, links and others) that are listed. */
const partsMax = 100;

const asksUser = "the server asks its user for something; svc does not pass that on";

/**
 * Returns the response of an MCP server to a call as an app's answer: a JSON object with the member `result`, or `error` if the call failed.
 * `access`: access class of the called tool.
 */
export function answerOf({ value }: ServerResponse, access: AccessClass): AppAnswer {
  const { error, result } = value;
  if (isObject(error)) {
    const text = typeof error["message"] === "string" ? error["message"] : "the server gave no reason";
    return failedAnswer(error["code"] === -32_042 ? asksUser : text, access);
  }
  if (!isObject(result)) return failedAnswer("the server gave no result", access);
  if (result["resultType"] === "input_required") return failedAnswer(asksUser, access);
  const content = Array.isArray(result["content"]) ? result["content"].filter(isObject) : [];
  if (result["isError"] === true) return failedAnswer(textOf(content) || "the server gave no reason", access);
  const { structuredContent } = result;
  return jsonAnswer({ result: structuredContent ?? plainResult(content) });
}

/** Returns the answer for a call that failed. `text`: the reason, as the server says it. */
export function failedAnswer(text: string, access: AccessClass): AppAnswer {
  const advice = access === "read" ? "" : ". It may have changed something: look first";
  return jsonAnswer({ error: { message: `${text.slice(0, errorMax).toWellFormed()}${advice}` } });
}

function jsonAnswer(value: object): AppAnswer {
  const headers = { "content-type": "application/json" };
  const body = Buffer.from(JSON.stringify(value));
  // Texts are in a result twice if they are also passed on as data, so a result may be larger than the server's answer.
  if (body.byteLength > answerBytesMax) return { kind: "too_large", status: 200 };
  return { kind: "answer", status: 200, headers, body };
}

type Part = Readonly<Record<string, unknown>>;

function textOf(content: readonly Part[]): string {
  return content.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : [])).join("\n");
}

/**
 * Returns the result of a tool. `text`: all text parts, joined. `data`: the JSON object or list, if the only part is a text with such JSON.
 * `parts`: type, size and address of each other part.
 */
function plainResult(content: readonly Part[]): object {
  const texts = content.filter(({ type }) => type === "text");
  const others = content.filter(({ type }) => type !== "text").slice(0, partsMax);
  const data = content.length === 1 && texts.length === 1 ? dataOf(texts[0]?.["text"]) : undefined;
  return {
    ...((texts.length > 0 || others.length === 0) && { text: textOf(texts) }),
    ...(data !== undefined && { data }),
    ...(others.length > 0 && { parts: others.map(describePart) }),
  };
}

/** Maximum values and characters of a text that is also passed on as data. */
const [dataValuesMax, dataTextMax] = [100_000, 1024 * 1024];

function dataOf(text: unknown): unknown {
  if (typeof text !== "string" || text.length > dataTextMax || !/^\s*[{[]/.test(text)) return undefined;
  try {
    const value = parseExactJson(text, { valuesMax: dataValuesMax });
    return typeof value === "object" && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonTooLargeError) return undefined;
    throw error;
  }
}

/** Returns a part of a result without its data: its type, media type, size in bytes, and address. Addresses are not followed. */
function describePart(part: Part): object {
  const resource = isObject(part["resource"]) ? part["resource"] : part;
  const { mimeType, uri, data, blob, text } = resource;
  const encoded = [data, blob].find((value) => typeof value === "string");
  const bytes = typeof encoded === "string" ? Math.floor((encoded.replace(/=+$/, "").length * 3) / 4) : textBytes(text);
  return {
    type: String(part["type"]).slice(0, 100),
    ...(typeof mimeType === "string" && { mimeType: mimeType.slice(0, 200) }),
    ...(bytes !== undefined && { bytes }),
    ...(typeof uri === "string" && { uri: uri.slice(0, 2_000) }),
  };
}

function textBytes(text: unknown): number | undefined {
  return typeof text === "string" ? Buffer.byteLength(text) : undefined;
}
