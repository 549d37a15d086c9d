import {
  isReadableForm,
  type Placeholder,
  parseExactJson,
  parseTemplate,
  readForeignText,
  scalarText,
} from "@svc/core";
import type { ArrivedPost } from "../model.ts";

/** The parts of a webhook post from which a signature check reads the values of its placeholders, such as `{{headers.x-time}}`. */
export type ReadablePost = ArrivedPost & {
  /**
   * Values of the signature header's parts, by the name of the part, such as `t` in `t=1,v1=abc`. The value is undefined if the name occurs
   * more than once.
   */
  readonly signature?: ReadonlyMap<string, string | undefined>;
  /** SVC_PUBLIC_URL without a slash at its end. Undefined: the variable is not set. */
  readonly publicUrl?: string | undefined;
};

/**
 * Returns the value of one placeholder in a webhook post. Undefined if the post has no such value. A text that is not ASCII is returned as
 * the bytes that the sender signed.
 */
export type ReadPlaceholder = (reading: ReadablePost) => Buffer | string | undefined;

/**
 * Returns the name of the value that a placeholder reads: `x-time` for `{{headers.x-time}}`. Dots may be a part of the name of a header or
 * parameter.
 */
export function nameOfPlaceholder({ path }: Pick<Placeholder, "path">): string {
  return path.join(".");
}

/** Returns the parts of the text that a signature covers. Each part is a function that reads its value from a webhook post. */
export function compileSigned(text: string): readonly ReadPlaceholder[] {
  return parseTemplate(text).parts.map((part) => {
    if (typeof part !== "string") return compilePlaceholder(part);
    const literal = bytesOf(part);
    return () => literal;
  });
}

/**
 * Returns the bytes of all parts of the text that a signature covers, read from a webhook post. Returns undefined if the post lacks a value
 * that one of the parts reads.
 */
export function readSigned(parts: readonly ReadPlaceholder[], reading: ReadablePost): (Buffer | string)[] | undefined {
  const values: (Buffer | string)[] = [];
  for (const read of parts) {
    const value = read(reading);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

function compilePlaceholder(placeholder: Placeholder): ReadPlaceholder {
  const name = nameOfPlaceholder(placeholder);
  switch (placeholder.root) {
    case "body":
      return ({ body }) => body;
    case "method":
      // The only method is POST, because only posts are verified by a signature.
      return () => "POST";
    case "url":
      return ({ publicUrl, target }) =>
        publicUrl === undefined || target === undefined ? undefined : bytesOf(`${publicUrl}${target}`);
    case "form":
      return readForm;
    case "headers":
      return (reading) => latin1Of(headerOf(reading, name));
    case "query":
      return ({ query }) => textOf(onlyValue(query, name));
    case "signature":
      return ({ signature }) => latin1Of(signature?.get(name));
    default:
      return () => undefined;
  }
}

/** Returns the value of a header in a webhook post; undefined if the post does not have the header. */
export function headerOf({ headers }: Pick<ArrivedPost, "headers">, name: string): string | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

/**
 * Returns the value of a query parameter. Undefined if it occurs more than once, because another program could read another one of its
 * values.
 */
export function onlyValue(query: URLSearchParams, name: string): string | undefined {
  const [value, ...others] = query.getAll(name);
  return others.length === 0 ? value : undefined;
}

/**
 * Maximum size in bytes of a form whose fields a signature may cover. Such a form is read before its sender is verified, so the size is
 * limited.
 */
const signedFormBytesMax = 65_536;
const signedFormFieldsMax = 2_000;

/**
 * Returns names and values of a form, sorted by name, without separators. Undefined if the body is neither a form nor empty, or if it is
 * larger than a signed form can be.
 */
function readForm({ body, headers }: ReadablePost): Buffer | string | undefined {
  if (body.byteLength === 0) return "";
  if (body.byteLength > signedFormBytesMax) return undefined;
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers["content-type"] ?? "")) return undefined;
  const read = readForeignText(body);
  if ("fault" in read || !isReadableForm(read.text)) return undefined;
  if (read.text.split("&", signedFormFieldsMax + 1).length > signedFormFieldsMax) return undefined;
  const fields = [...new URLSearchParams(read.text)].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return bytesOf(fields.flat().join(""));
}

/**
 * Returns a function that reads the time in a webhook post, as the app wrote it. The function returns undefined if the post has no time.
 * Check the post's signature before you call the function, because the function may parse the body.
 */
export function compileTimeSource(text: string): (reading: ReadablePost) => unknown {
  const { parts } = parseTemplate(text);
  const reads = parts.map((part) => {
    if (typeof part === "string") return () => part;
    if (part.root === "body") return (reading: ReadablePost) => fieldOf(reading, part.path);
    const read = compilePlaceholder(part);
    // A time is always ASCII. A value that is not ASCII is returned as bytes, and is not a time.
    return (reading: ReadablePost) => {
      const value = read(reading);
      return typeof value === "string" ? value : undefined;
    };
  });
  const [only, ...others] = reads;
  if (only !== undefined && others.length === 0) return only;
  return (reading) => {
    const values = reads.map((read) => scalarText(read(reading)));
    return values.includes(undefined) ? undefined : values.join("");
  };
}

function fieldOf({ body }: ReadablePost, path: readonly (string | number)[]): unknown {
  const read = readForeignText(body);
  if ("fault" in read) return undefined;
  try {
    let value: unknown = parseExactJson(read.text);
    for (const step of path) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
      value = (value as Record<string | number, unknown>)[step];
    }
    return value;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns ASCII text unchanged, and any other text as its bytes in UTF-8. */
function bytesOf(text: string): Buffer | string {
  return isAscii(text) ? text : Buffer.from(text);
}

const textOf = (text: string | undefined) => (text === undefined ? undefined : bytesOf(text));

/**
 * Returns the original bytes of a header's text. Node reads each byte of a header as one character. ASCII text is returned unchanged,
 * because it needs no conversion.
 */
function latin1Of(text: string | undefined): Buffer | string | undefined {
  return text === undefined || isAscii(text) ? text : Buffer.from(text, "latin1");
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}
