/** Characters that are invisible or break a line: control characters, and line and paragraph separators. */
const lineBreaking = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Returns a text on one line: each run of control characters and separators becomes one space. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

/**
 * True if a text has at most `charactersMax` characters (code points), no line breaks or control characters, and is well-formed Unicode.
 * True for an empty text.
 */
export function isPrintableText(text: string, charactersMax: number): boolean {
  // A code point has one or two UTF-16 units. If a text has more than `2 * charactersMax` units, it is too long, and its code points need
  // not be counted.
  if (text.length > 2 * charactersMax || lineBreaking.test(text) || !text.isWellFormed()) return false;
  return text.length <= charactersMax || [...text].length <= charactersMax;
}

const entityCharactersMax = 200;

/** True if a text is a valid id of an entity (customer or user): 1 to 200 printable characters. */
export function isEntityId(text: string): boolean {
  return text !== "" && isPrintableText(text, entityCharactersMax);
}

/**
 * Returns a text that PostgreSQL can store. Its types text and jsonb do not accept U+0000 and lone surrogates, so these are replaced by
 * U+FFFD.
 */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\u{fffd}").toWellFormed();
}
