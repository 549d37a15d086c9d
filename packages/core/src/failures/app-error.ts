import { parseExactJson } from "../json/exact-json.ts";
import { isObject } from "../json/json.ts";
import { scalarText } from "../json/raw-json.ts";

/** An app's refusal of a call, or an answer that svc could not read. */
export type AppError = {
  /** HTTP status of the app's answer. 0 if it was 2xx, or if it is not known. */
  readonly status: number;
  /** The app's own error code, such as `channel_not_found`. Empty if the app gave none. */
  readonly code: string;
  /** The app's own words, at most 500 characters. Empty if the app gave none. */
  readonly words: string;
  /** Reason why svc could not read the answer, such as `with more than 8 MiB`. Empty if svc could read it. */
  readonly unreadable: string;
};

const wordsMax = 500;
const codeMax = 64;
/** Maximum length of a message that is read, in characters. The rest of a longer message is left out. */
const readMax = 4_096;

const answered =
  /^(?:[a-z_]+: )?the app answered (?:an error|(\d{3}))(?: \(([^()\s]{1,64})\))?(?:(, but [^:]*)|( with [\s\S]*)|: ([\s\S]*))?$/;
const notAllText = / \(not all of it is text: some bytes are shown as \ufffd\)$/;

/**
 * Returns the error of an app from the message that svc wrote about a call, such as `the app answered 404: {"message":"no such deal"}`.
 * Undefined if the message is not about an app's answer.
 */
export function readAppError(message: string): AppError | undefined {
  const found = answered.exec(message.slice(0, readMax));
  if (found === null) return undefined;
  const [, digits = "0", code = "", , unreadable = "", body = ""] = found;
  const status = digits.startsWith("2") ? 0 : Number(digits);
  if (unreadable !== "") return { status, code: "", words: "", unreadable: cut(unreadable.trim()) };
  const said = errorIn(body.replace(notAllText, "").trim());
  return { status, code: code || said.code, words: said.words, unreadable: "" };
}

type Said = { readonly words: string; readonly code: string };

/** Returns the message and the code in the body of an app's error: JSON, a page of HTML, or plain text. */
function errorIn(body: string): Said {
  if (/^[{[]/.test(body)) return errorInJson(body);
  if (body.startsWith("<")) return { words: cut(/<title>([^<]*)</i.exec(body)?.[1]?.trim() ?? ""), code: "" };
  return { words: cut(body), code: isCode(body) ? body : "" };
}

const wordKeys = ["message", "error_description", "error_message", "description", "detail", "title", "reason", "msg"];
const codeKeys = ["code", "error_code", "errorCode", "type"];
const nestedKeys = ["error", "errors", "fault"];
const cutWords = new RegExp(`"(?:${[...wordKeys, "error"].join("|")})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`);

function errorInJson(body: string): Said {
  let value: unknown;
  try {
    value = parseExactJson(body);
  } catch {
    // The message quotes only the start of a long body, which is then not JSON any more.
    return { words: cut(cutWords.exec(body)?.[1] ?? ""), code: "" };
  }
  const { words, code } = errorOf(value, 0);
  return { words: cut(words), code: code.length <= codeMax && !/[\s()]/.test(code) ? code : "" };
}

const depthMax = 4;

function errorOf(value: unknown, depth: number): Said {
  if (typeof value === "string") return { words: value, code: isCode(value) ? value : "" };
  if (depth === depthMax) return { words: "", code: "" };
  if (Array.isArray(value)) return errorOf(value[0], depth + 1);
  if (!isObject(value)) return { words: "", code: "" };
  const inner = errorOf(
    nestedKeys.map((key) => value[key]).find((one) => one !== undefined && one !== null),
    depth + 1,
  );
  const words = wordKeys.map((key) => value[key]).find((one) => typeof one === "string" && one !== "");
  const own = typeof words === "string" ? words : "";
  // In `{"error": "invalid_grant", "error_description": "The code has expired"}`, the inner text is the code of the outer words.
  const isOuter = own !== "" && (inner.words === "" || isCode(inner.words));
  return { words: isOuter ? own : inner.words, code: inner.code || codeOf(value) };
}

function codeOf(value: Readonly<Record<string, unknown>>): string {
  return scalarText(codeKeys.map((key) => value[key]).find((one) => one !== undefined && one !== null)) ?? "";
}

/** True if a text is an identifier, such as `channel_not_found`, and not a sentence or one word of a language. */
function isCode(text: string): boolean {
  return text.length <= codeMax && /^[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)+$/.test(text);
}

function cut(text: string): string {
  return text.length > wordsMax ? `${text.slice(0, wordsMax - 4)} ...`.toWellFormed() : text;
}

/** Replaces a value that is left out of an app's words. */
const leftOut = "***";
const valueMin = 3;
// The length is bounded, because many opening quotes without their ends would take quadratic time.
const quoted =
  /"[^"]{0,500}"|\u201c[^\u201d]{0,500}\u201d|\u00ab[^\u00bb]{0,500}\u00bb|`[^`]{0,500}`|(?<![\p{L}\p{N}])'[^']{0,500}'(?![\p{L}\p{N}])/gu;

/**
 * Returns a text in which `***` replaces digits, ids, addresses, quoted parts and the given values. Use it to show an app's error about a
 * row of a job without the row's data, and to find out if two errors have the same words.
 */
export function withoutValues(text: string, values: readonly string[] = []): string {
  const known = values.filter((value) => value.length >= valueMin).toSorted((a, b) => b.length - a.length);
  const rest = known.reduce((left, value) => left.replaceAll(value, leftOut), text.slice(0, readMax));
  return rest
    .replace(quoted, leftOut)
    .replace(/\S+/g, (word) => (/[\p{N}@]|:\/\/|["\u201c{}[\]]/u.test(word) ? leftOut : word))
    .replace(/\*{3}[\s*]*\*{3}/g, leftOut);
}

/** Maximum number of values of a call's arguments that are searched in the app's words. */
const argumentsMax = 200;

/**
 * Returns an app's refusal of a job's call as a text that contains no data of the job's rows: `***` replaces numbers, ids, quoted parts and
 * the values of the arguments. `message`: svc's message about the call. Returns undefined if the message contains no words of an app.
 */
export function rowErrorText(message: string, args: unknown): string | undefined {
  const error = readAppError(message);
  if (error === undefined || error.unreadable !== "") return undefined;
  const values = textsIn(args, []);
  const [words, code] = [withoutValues(error.words, values), withoutValues(error.code, values)];
  if (words + code === "") return undefined;
  const start = error.status === 0 ? "the app answered an error" : `the app answered ${error.status}`;
  const coded = code === "" || code.includes(leftOut) || code === words ? start : `${start} (${code})`;
  return words === "" ? coded : `${coded}: ${words}`;
}

function textsIn(value: unknown, texts: string[]): string[] {
  if (texts.length >= argumentsMax) return texts;
  if (typeof value === "string") texts.push(value);
  else if (Array.isArray(value)) for (const item of value) textsIn(item, texts);
  else if (isObject(value)) for (const item of Object.values(value)) textsIn(item, texts);
  return texts;
}
