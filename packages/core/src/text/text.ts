/** Characters that break a line or are invisible: controls, and separators of lines and paragraphs. */
const lineBreaking = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Returns the text on one line: each run of controls and separators becomes one space. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

/**
 * True if a text has at most `charactersMax` characters (code points), is one line, has no control characters, and is well-formed Unicode.
 * May be empty.
 */
export function isPrintableText(text: string, charactersMax: number): boolean {
  // A code point has at most two UTF-16 units, so a longer text need not be counted.
  if (text.length > 2 * charactersMax || lineBreaking.test(text) || !text.isWellFormed()) return false;
  return text.length <= charactersMax || [...text].length <= charactersMax;
}

const entityCharactersMax = 200;

/** True if a text is a valid entity id: 1 to 200 printable characters. */
export function isEntityId(text: string): boolean {
  return text !== "" && isPrintableText(text, entityCharactersMax);
}

/** Returns the text in a form that PostgreSQL accepts: text and jsonb hold every character except U+0000 and lone surrogates. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\u{fffd}").toWellFormed();
}
