import {
  isObject,
  JsonTooLargeError,
  parseExactJson,
  parseJsonInTurns,
  readForeignText,
  readFormInTurns,
  repeatsName,
  repeatsNameInTurns,
} from "@svc/core";
import type { BodyRule } from "../model.ts";

/**
 * Result of reading the body of a webhook post. `value`: the value in the body, undefined if the body has 0 bytes. `fault`: the reason why
 * the body cannot be read, as a sentence without the final full stop.
 */
type ReadBody = { readonly value: unknown } | { readonly fault: string };

/**
 * How bodies of webhook posts are read. `bodyBytesMax`: maximum size of a body, in bytes. `turn`: returns a promise that resolves when the
 * event loop has time. While svc reads a large body, it calls `turn` repeatedly, so that other work can run.
 */
export type BodyReading = { readonly bodyBytesMax: number; readonly turn: () => Promise<void> };

/** A verified webhook post before its body is read. Header names are in lower case. The body is not compressed. */
type UnreadPost = { readonly headers: Readonly<Record<string, string | undefined>>; readonly body: Buffer };

/**
 * Returns the webhook posts that a request body contains. If the app's toolkit declares that each element of a list is a post of its own,
 * returns the elements of this list. Otherwise the whole body is one post; the result is then a list with the single element undefined.
 * Returns undefined if the declared field is not a list.
 */
export function elementsOf({ each }: BodyRule, body: unknown): readonly unknown[] | undefined {
  if (each === undefined || body === undefined) return [undefined];
  const list = each.reduce(fieldOf, body);
  return Array.isArray(list) ? list : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Maximum size in bytes of a webhook body that svc does not parse, but puts into the event as a single text. */
const contentBytesMax = 262_144;

/**
 * Reads the body of a verified webhook post in the way that the app's toolkit declares. If that fails, returns the reason as `fault`, which
 * quotes nothing of the body.
 */
export async function readPostBody(rule: BodyRule, post: UnreadPost, reading: BodyReading): Promise<ReadBody> {
  const { body, headers } = post;
  if (body.byteLength === 0 || rule.content === "none") return { value: undefined };
  const type = headers["content-type"];
  if (rule.content !== "json") return readContent(rule.content, body, type);
  if (rule.form !== undefined && isForm(type)) return readForm(rule.form, body, type, reading);
  const read = readForeignText(body, type);
  if ("fault" in read) return unreadable("the body", read.fault, body);
  return readJson(read.text, { subject: "the body", isForm: rule.form !== undefined }, reading);
}

function readContent(content: "text" | "base64", body: Buffer, type: string | undefined): ReadBody {
  if (body.byteLength > contentBytesMax)
    return {
      fault: `the body has ${body.byteLength} bytes, and a body that becomes one text has at most ${contentBytesMax}`,
    };
  if (content === "base64") return { value: body.toString("base64") };
  const read = readForeignText(body, type);
  return "fault" in read ? unreadable("the body", read.fault, body) : { value: read.text };
}

function isForm(type = ""): boolean {
  return /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type);
}

const fieldsMax = 2_000;

async function readForm(
  field: string,
  body: Buffer,
  type: string | undefined,
  reading: BodyReading,
): Promise<ReadBody> {
  const form = await readFormInTurns(body, type, { fieldsMax, turn: reading.turn });
  if ("fault" in form) return unreadable("the form", form.fault, body);
  const { fields } = form;
  const values = fields.get(field) ?? [];
  const [text, ...others] = values;
  if (field !== "*" && text !== undefined && others.length === 0)
    return readJson(text, { subject: `the field ${field} of the form`, isForm: true }, reading);
  // The body begins like JSON or XML. In a form, the sender would have escaped these characters.
  if (/^\s*[{[<"]/.test(body.toString("latin1", 0, 100)))
    return { fault: "the body is not a form, although its Content-Type says so" };
  if (field === "*")
    return { value: Object.fromEntries([...fields].map(([name, all]) => [name, all.length === 1 ? all[0] : all])) };
  return { fault: `the form has ${values.length === 0 ? "no" : "more than one"} field ${field}` };
}

/** Size up to which a text is parsed at once, in characters. A longer text is parsed in slices, because it may contain many values. */
const smallLength = 16_384;
/**
 * Limits for numbers in a webhook body that need more digits than a double has; svc keeps all their digits. `rawMax`: maximum number of
 * such numbers. `digitsMax`: maximum digits of one of them. The limits exist because such a number costs far more memory and time than
 * other values.
 */
const [rawMax, digitsMax] = [10_000, 10_000];
const membersMax = 20_000;

async function readJson(
  text: string,
  { subject, isForm }: { readonly subject: string; readonly isForm: boolean },
  reading: BodyReading,
): Promise<ReadBody> {
  try {
    const value = await parse(text, reading);
    // If an object repeats a name, readers do not agree on its value, so svc does not choose one.
    const isRepeated =
      text.length <= smallLength ? repeatsName(text, value) : await repeatsNameInTurns(text, value, reading.turn);
    return isRepeated ? { fault: `${subject} repeats a name in an object` } : { value };
  } catch (error) {
    if (error instanceof JsonTooLargeError) return { fault: `${subject}'s ${error.message}` };
    // The parser's own message is not used, because it quotes the body. Short texts are parsed recursively, so deep nesting causes a
    // RangeError.
    if (error instanceof RangeError) return { fault: `${subject} is nested too deeply to be read` };
    if (error instanceof SyntaxError) return { fault: `${subject} is not JSON${formOf(text, isForm)}` };
    throw error;
  }
}

function parse(text: string, { bodyBytesMax, turn }: BodyReading): unknown {
  if (text.length <= smallLength) return parseExactJson(text, { depthMax: Number.POSITIVE_INFINITY });
  // Limits for parsing a body. `values` allows one value per ten bytes of a body of the maximum size. Real posts have one value per twenty
  // to forty bytes.
  const bounds = { values: Math.ceil(bodyBytesMax / 10), members: membersMax, raw: rawMax, digits: digitsMax };
  return parseJsonInTurns(text, { bounds, turn });
}

/**
 * Returns what a webhook body that is not JSON seems to be (for example XML or a form), as the end of an error text. The operator reads the
 * text and sees what to correct.
 */
function formOf(text: string, readsForms: boolean): string {
  if (/^\s*$/.test(text)) return ": it is empty or has white space only";
  if (text.includes("\0")) return ", and has bytes as UTF-16 has them: its content-type must declare the charset";
  if (/^\s*</.test(text)) return " but XML or HTML";
  if (/^--[^\r\n]{1,70}\r?\n[\w-]+:/.test(text)) return " but multipart";
  if (!/^[^\s&={}"]+=/.test(text)) return "";
  return readsForms ? " but a form: its Content-Type must say so" : " but a form";
}

const marks: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["zip", [0x50, 0x4b, 0x03, 0x04]],
  ["zlib (deflate)", [0x78, 0x9c]],
  ["zlib (deflate)", [0x78, 0xda]],
  ["zlib (deflate)", [0x78, 0x01]],
];

/**
 * Returns the error for a body. If its bytes are not UTF-8 and the webhook post declares no other charset, the error says what the bytes
 * look like.
 */
function unreadable(subject: string, fault: string, body: Buffer): ReadBody {
  return { fault: `${subject} ${fault}${fault === "is not text of the charset UTF-8" ? lookOf(body) : ""}` };
}

/** Returns the end of the error message for a body that is not text, such as `: it looks like binary data`. */
function lookOf(body: Buffer): string {
  const compressed = marks.find(([, bytes]) => bytes.every((byte, at) => body[at] === byte));
  if (compressed !== undefined) return `: it looks compressed (${compressed[0]}), and no Content-Encoding says so`;
  // In a text, the only control characters are tabs and line breaks. Any other one shows that the body is not a text.
  const isBinary = body.subarray(0, 4_096).some((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0d].includes(byte));
  return isBinary
    ? ": it looks like binary data"
    : ": it looks like text of another charset, which Content-Type must name";
}
