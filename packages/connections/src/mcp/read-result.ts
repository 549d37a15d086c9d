import type { AccessClass } from "@svc/catalog";
import { isObject, JsonTooLargeError, parseExactJson, readForeignText } from "@svc/core";
import type { AppAnswer, ResultImage } from "../app-transport.ts";
import { answerBytesMax } from "../exchange.ts";
import { isQuestion, type ServerResponse } from "./messages.ts";

/** Maximum characters of an error text of an MCP server that are passed on. */
const errorMax = 500;
/** Maximum parts of a result (images, links and others) that are listed. */
const partsMax = 100;

const asksUser = "the server asks its user for something; svc does not pass that on";

/**
 * Returns the response of an MCP server to a call as an app's answer: a JSON object with the member `result`, or `error` if the call
 * failed. Images are returned separately. Other data is left out, with a warning. `access`: access class of the called tool.
 */
export function answerOf({ value }: ServerResponse, access: AccessClass): AppAnswer {
  const { error, result } = value;
  if (isQuestion(value)) return failedAnswer(asksUser, access);
  if (isObject(error)) return failedAnswer(reasonOf(error), access);
  if (!isObject(result)) return failedAnswer("the server gave no result", access);
  if (result["resultType"] === "input_required") return failedAnswer(asksUser, access);
  const content = Array.isArray(result["content"]) ? result["content"].filter(isObject) : [];
  if (result["isError"] === true) return failedAnswer(textOf(content) || "the server gave no reason", access);
  const { structuredContent } = result;
  return { ...jsonAnswer({ result: structuredContent ?? plainResult(content) }), ...mediaOf(content) };
}

/** Returns the reason in a JSON-RPC error. If the server failed because svc asks no user, the reason has svc's own words. */
function reasonOf({ code, message, data }: Readonly<Record<string, unknown>>): string {
  const wanted = isObject(data) && isObject(data["requiredCapabilities"]) ? data["requiredCapabilities"] : {};
  const wantsUser = ["elicitation", "sampling", "roots"].some((name) => Object.hasOwn(wanted, name));
  if (code === urlElicitation || (code === missingCapability && wantsUser)) return asksUser;
  return typeof message === "string" ? message : "the server gave no reason";
}

/** JSON-RPC error codes of MCP: the user must open an address, and the client lacks a capability. */
const [urlElicitation, missingCapability] = [-32_042, -32_021];

/** Maximum bytes of an answer in which `refusalOf` looks for an error. */
const refusalBytesMax = 65_536;

/**
 * If an HTTP answer has a 4xx status and its body is a JSON-RPC error, returns the answer with the error's message as its body. Some MCP
 * servers report errors in this way. Returns every other answer unchanged.
 */
export function refusalOf(answer: AppAnswer): AppAnswer {
  if (answer.kind !== "answer" || answer.status < 400 || answer.status > 499) return answer;
  const { body, headers } = answer;
  const read = body.byteLength > refusalBytesMax ? undefined : readForeignText(body, "application/json; charset=utf-8");
  const value = read === undefined || "fault" in read ? undefined : dataOf(read.text);
  if (!isObject(value) || !isObject(value["error"])) return answer;
  const text = reasonOf(value["error"]).slice(0, errorMax).toWellFormed();
  return { ...answer, headers: { ...headers, "content-type": "text/plain; charset=utf-8" }, body: Buffer.from(text) };
}

/** Returns the answer for a call that failed. `text`: the reason, as the server says it. */
export function failedAnswer(text: string, access: AccessClass): AppAnswer {
  const advice = access === "read" ? "" : ". It may have changed something: look first";
  return jsonAnswer({ error: { message: `${text.slice(0, errorMax).toWellFormed()}${advice}` } });
}

/** Maximum bytes of all images of a result together that are passed on to an agent, and maximum parts that a warning names. */
const [imageBytesMax, leftOutMax] = [262_144, 5];

/** The types of images that models can read, with the beginning of such a file (as Latin-1 text). */
const imageStarts: Readonly<Record<string, RegExp>> = {
  "image/png": /^\x89PNG\r\n/,
  "image/jpeg": /^\xff\xd8\xff/,
  "image/gif": /^GIF8[79]a/,
  "image/webp": /^RIFF[\s\S]{4}WEBP/,
};

/** Returns the images in the parts of a result that an agent may get, and a warning about the parts whose data is left out. */
function mediaOf(content: readonly Part[]): { images?: readonly ResultImage[]; warnings?: readonly string[] } {
  const images: ResultImage[] = [];
  const leftOut: string[] = [];
  let left = imageBytesMax;
  const parts = content.filter(({ type }) => type !== "text");
  for (const [index, part] of parts.entries()) {
    const bytes = bytesOf(part);
    // A part after the last listed one is left out whole, even if it has no data.
    const isListed = index < partsMax;
    const image = !isListed || bytes === undefined || bytes > left ? undefined : imageOf(part, bytes);
    if (image !== undefined) images.push(image);
    else if (bytes !== undefined && bytes > 0) leftOut.push(`${shownType(part)} (${bytes} bytes)`);
    else if (!isListed) leftOut.push(shownType(part));
    left -= image?.bytes ?? 0;
  }
  const count = `${leftOut.length} ${leftOut.length === 1 ? "part" : "parts"}`;
  const warning = `left_out: the data of ${count} is not in the result: ${leftOut.slice(0, leftOutMax).join(", ")}`;
  return { ...(images.length > 0 && { images }), ...(leftOut.length > 0 && { warnings: [warning] }) };
}

/** Returns a part as an image; undefined if it is another part, or if its data is not of the type that it names. */
function imageOf({ type, mimeType, data }: Part, bytes: number): ResultImage | undefined {
  if (type !== "image" || typeof mimeType !== "string" || typeof data !== "string") return undefined;
  const start = Object.hasOwn(imageStarts, mimeType) ? imageStarts[mimeType] : undefined;
  const isImage = start?.test(Buffer.from(data.slice(0, 24), "base64").toString("latin1")) === true;
  return isImage && /^[A-Za-z0-9+/]+={0,2}$/.test(data) && data.length % 4 === 0
    ? { mimeType, data, bytes }
    : undefined;
}

/** Returns the media type of a part if it is one, otherwise the kind of the part. The text is safe to show. */
function shownType(part: Part): string {
  const { mimeType } = isObject(part["resource"]) ? part["resource"] : part;
  if (typeof mimeType === "string" && /^[\w.+-]{1,50}\/[\w.+-]{1,50}$/.test(mimeType)) return mimeType;
  return ["image", "audio", "resource"].find((type) => type === part["type"]) ?? "unknown";
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
  const { mimeType, uri } = isObject(part["resource"]) ? part["resource"] : part;
  const bytes = bytesOf(part);
  return {
    type: String(part["type"]).slice(0, 100),
    ...(typeof mimeType === "string" && { mimeType: mimeType.slice(0, 200) }),
    ...(bytes !== undefined && { bytes }),
    ...(typeof uri === "string" && { uri: uri.slice(0, 2_000) }),
  };
}

function paddingOf(base64: string): number {
  return base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
}

/** Returns the bytes of the data in a part; undefined if it has none, as a link. */
function bytesOf(part: Part): number | undefined {
  const { data, blob, text } = isObject(part["resource"]) ? part["resource"] : part;
  const encoded = [data, blob].find((value) => typeof value === "string");
  if (typeof encoded === "string") return Math.floor(((encoded.length - paddingOf(encoded)) * 3) / 4);
  return typeof text === "string" ? Buffer.byteLength(text) : undefined;
}
