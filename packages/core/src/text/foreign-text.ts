import { Buffer, isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type iconv from "iconv-lite";
import { LeastRecentlyUsed } from "../lru.ts";

/** A text from outside svc. If the bytes are not text, `fault` is the reason, written as the end of a sentence. */
export type ForeignText = { readonly text: string } | { readonly fault: string };

/**
 * Returns the text of bytes from outside svc, without its byte order mark. The byte order mark decides the charset. Without one,
 * `contentType` decides, and otherwise UTF-8 is used. Returns a `fault` if the bytes are not valid in the charset, because svc never
 * replaces invalid bytes.
 */
export function readForeignText(bytes: Uint8Array, contentType?: string): ForeignText {
  const marked = charsetOfMark(bytes);
  if (marked !== undefined) return decode(bytes.subarray(marked.markBytes), marked.charset);
  const declared = contentType === undefined ? "utf-8" : charsetOf(contentType);
  if (typeof declared !== "string") return declared;
  return decode(bytes, declared);
}

/**
 * Returns the bytes of a posted form in an encoding in which each ASCII character is one byte, so that the separators `&` and `=` can be
 * found. A form in UTF-16 or UTF-32 is converted to UTF-8. `read`: converts the bytes of one field to text.
 */
export function asciiForm(
  bytes: Buffer,
  contentType?: string,
): { readonly bytes: Buffer; readonly read: (field: Uint8Array) => ForeignText } | { readonly fault: string } {
  const marked = charsetOfMark(bytes);
  const declared = contentType === undefined ? "utf-8" : charsetOf(contentType);
  if (marked === undefined && typeof declared !== "string") return declared;
  const isWide = marked === undefined ? wideLabels.test(String(declared)) : marked.charset !== "utf-8";
  if (marked === undefined && !isWide) return { bytes, read: (field) => decode(field, String(declared)) };
  const read = isWide ? readForeignText(bytes, contentType) : undefined;
  if (read !== undefined && "fault" in read) return read;
  const narrow = read === undefined ? bytes.subarray(marked?.markBytes ?? 0) : Buffer.from(read.text);
  return { bytes: narrow, read: (field) => decode(field, "utf-8") };
}

/** Names of charsets in which every character takes at least two bytes. */
const wideLabels = /^(?:utf-?(?:16|32)|unicode|(?:iso-10646-)?ucs-?[24]|csunicode)(?:le|be)?$/;

/** Byte order marks, by charset. Longer marks come first, because the mark of UTF-32 begins with the mark of UTF-16. */
const marks: readonly { readonly charset: string; readonly mark: readonly number[] }[] = [
  { charset: "utf-32le", mark: [0xff, 0xfe, 0, 0] },
  { charset: "utf-32be", mark: [0, 0, 0xfe, 0xff] },
  { charset: "utf-8", mark: [0xef, 0xbb, 0xbf] },
  { charset: "utf-16le", mark: [0xff, 0xfe] },
  { charset: "utf-16be", mark: [0xfe, 0xff] },
];

function charsetOfMark(bytes: Uint8Array): { readonly charset: string; readonly markBytes: number } | undefined {
  const [first = 0] = bytes;
  // JSON never begins with one of the bytes of a byte order mark. So most texts need no further check.
  if (first !== 0 && first < 0xef) return undefined;
  const found = marks.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  return found && { charset: found.charset, markBytes: found.mark.length };
}

const knownTypes = new LeastRecentlyUsed<string, string | { readonly fault: string }>(100);

/** Returns the charset of a content type in lower case; UTF-8 if the content type names no charset. */
function charsetOf(contentType: string): string | { readonly fault: string } {
  let known = knownTypes.get(contentType);
  if (known === undefined) {
    known = findCharset(contentType);
    // Long content types are not cached, because a sender may use a new one for each post.
    if (contentType.length <= 200) knownTypes.set(contentType, known);
  }
  return known;
}

const parameter = /;\s*([^\s=;]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;,]*)/g;

function findCharset(contentType: string): string | { readonly fault: string } {
  const charsets = [...contentType.matchAll(parameter)]
    .filter(([, name = ""]) => name.toLowerCase() === "charset")
    .map(([, , value = ""]) =>
      value
        .replaceAll(/^["']|["']$/g, "")
        .trim()
        .toLowerCase(),
    )
    .filter((charset) => charset !== "");
  const [charset = "utf-8", ...others] = [...new Set(charsets)];
  return others.length === 0 ? charset : { fault: `declares more than one charset: ${quoted(charsets.join(", "))}` };
}

const utf8Labels = /^(?:utf-?8|utf_8|unicode-1-1-utf-8|unicode11utf8|unicode20utf8|x-unicode20utf8)$/;
/** Names of ASCII. TextDecoder would read them as windows-1252, which accepts every byte. */
const asciiLabels = /^(?:(?:us-?)?ascii|ansi_x3\.4-19(?:68|86)|iso-ir-6|iso646-us|646|cp367|ibm367)$/;

function decode(bytes: Uint8Array, charset: string): ForeignText {
  if (utf8Labels.test(charset)) return isUtf8(bytes) ? { text: asUtf8(bytes) } : invalid(charset);
  if (asciiLabels.test(charset)) return bytes.every((byte) => byte < 0x80) ? { text: asUtf8(bytes) } : invalid(charset);
  const ordered = withByteOrder(bytes, charset);
  if (ordered === undefined) return { fault: `declares ${quoted(charset)} and has no byte order mark` };
  const decoder = decoderOf(ordered);
  if (decoder === undefined) return decodeOther(bytes, ordered);
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    return invalid(charset);
  }
}

function asUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/**
 * Returns a charset's name with the byte order (LE or BE) added if it has none. The position of the zero bytes in the first character shows
 * the order, because nearly every text begins with an ASCII character. Returns undefined if they do not show it.
 */
function withByteOrder(bytes: Uint8Array, charset: string): string | undefined {
  const isTwoBytes = /^(?:utf-?16|unicode|(?:iso-10646-)?ucs-?2|csunicode)$/.test(charset);
  if (!isTwoBytes && !/^(?:utf-?32|(?:iso-10646-)?ucs-?4)$/.test(charset)) return charset;
  if (bytes.byteLength === 0) return "utf-8";
  const size = isTwoBytes ? 2 : 4;
  const zeros = [...bytes.subarray(0, size)].map((byte) => byte === 0);
  if (zeros.length < size || zeros.filter((isZero) => isZero).length !== size - 1) return undefined;
  return `utf-${8 * size}${zeros[0] === false ? "le" : "be"}`;
}

/** Returns a decoder that throws if bytes are invalid in the charset; undefined if the runtime does not support the charset. */
function decoderOf(charset: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true });
  } catch {
    return undefined;
  }
}

/**
 * Names that iconv-lite accepts but that are not supported here. Most are not charsets. In UTF-7, one text can be encoded in several ways.
 */
const noCharsets = /^(?:hex|base64|binary|utf-?7(?:-?imap)?|internal)$/;

/**
 * Returns the text of bytes in a charset that only iconv-lite knows. To find invalid bytes, it encodes the text again. If the result
 * differs from the bytes, returns a `fault`.
 */
function decodeOther(bytes: Uint8Array, charset: string): ForeignText {
  if (noCharsets.test(charset) || !rareCharsets().encodingExists(charset))
    return { fault: `declares the charset ${quoted(charset)}, which is not supported` };
  const { decode, encode } = rareCharsets();
  const whole = Buffer.from(bytes);
  const text = decode(whole, charset, { stripBOM: false });
  return encode(text, charset, { addBOM: false }).equals(whole) ? { text } : invalid(charset);
}

const rareCharsetsFile = fileURLToPath(new URL("./rare-charsets.ts", import.meta.url));
let loaded: typeof iconv | undefined;

/**
 * Returns iconv-lite. It is loaded at the first use, because its tables take 2 MB of memory and nearly no process needs them.
 */
function rareCharsets(): typeof iconv {
  loaded ??= (createRequire(import.meta.url)(rareCharsetsFile) as { readonly default: typeof iconv }).default;
  return loaded;
}

function invalid(charset: string): { readonly fault: string } {
  return { fault: `is not text of the charset ${charset === "utf-8" ? "UTF-8" : quoted(charset)}` };
}

/** Returns a charset's name for a message. The sender chose the name, so it is shortened and contains only printable characters. */
function quoted(name: string): string {
  return JSON.stringify(name.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 60));
}

/** Error for a file that is not text. `code`: the system's error code for an illegal byte sequence (EILSEQ). */
class NotTextError extends Error {
  override readonly name = "NotTextError";
  readonly code = "EILSEQ";
}

/**
 * Returns the text of a file from outside svc. The encoding is that of its byte order mark, otherwise UTF-8. Throws an Error with the code
 * EILSEQ if the bytes are not text in this encoding.
 */
export function requireText(bytes: Uint8Array): string {
  const read = readForeignText(bytes);
  if ("text" in read) return read.text;
  throw new NotTextError(`it ${read.fault}`);
}

/** Maximum number of bytes of an incomplete UTF-8 character, if a text was cut inside a character. */
const partBytesMax = 3;

/**
 * Returns the text of bytes for people to read, not for programs. `isLossy` in the result: true if invalid bytes were replaced by U+FFFD.
 * Parameter `isCut`: true if the bytes may end inside a character; that character is then left out.
 */
export function displayText(
  bytes: Uint8Array,
  { contentType, isCut = false }: { readonly contentType?: string | undefined; readonly isCut?: boolean } = {},
): { readonly text: string; readonly isLossy: boolean } {
  for (let left = 0; left <= (isCut ? partBytesMax : 0); left++) {
    const read = readForeignText(bytes.subarray(0, bytes.byteLength - left), contentType);
    if ("text" in read) return { text: read.text, isLossy: false };
  }
  return { text: asUtf8(bytes), isLossy: true };
}

/**
 * True if all percent-encoded bytes of a form or query are valid UTF-8. False if not. Such a text must be refused, because URLSearchParams
 * replaces invalid bytes, and two different values could become equal.
 */
export function isReadableForm(text: string): boolean {
  if (!text.includes("%")) return true;
  const bytes = Buffer.alloc(text.length);
  let [length, end] = [0, 0];
  for (let at = text.indexOf("%"); at >= 0; at = text.indexOf("%", at + 1)) {
    const [high, low] = [hexDigitOf(text, at + 1), hexDigitOf(text, at + 2)];
    if (high < 0 || low < 0) continue;
    // A space separates the bytes of two groups of escapes. Otherwise the last byte of one and the first byte of the next could form a
    // character.
    if (at !== end) bytes[length++] = 0x20;
    bytes[length++] = high * 16 + low;
    end = at + 3;
  }
  return isUtf8(bytes.subarray(0, length));
}

/** Returns the value of a hexadecimal digit, or -1 for any other character and for the end of the text. */
function hexDigitOf(text: string, at: number): number {
  return "0123456789abcdef".indexOf(text.charAt(at).toLowerCase() || " ");
}
