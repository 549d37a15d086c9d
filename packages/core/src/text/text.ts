/** What ends or breaks a line, or is not seen as a character: controls and the separators of lines and paragraphs. */
const lineBreaking = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** The text on one line: each run of controls and of separators of lines and paragraphs is one space. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

/** Whether a text has at most so many characters (code points), is on one line, has no control characters, and is well-formed Unicode. May be empty. */
export function isPrintableText(text: string, charactersMax: number): boolean {
  // A code point takes two UTF-16 units at most: what is longer need not be counted.
  if (text.length > 2 * charactersMax || lineBreaking.test(text) || !text.isWellFormed()) return false;
  return text.length <= charactersMax || [...text].length <= charactersMax;
}

const entityCharactersMax = 200;

/** Whether a text may name an entity: 1 to 200 printable characters. */
export function isEntityId(text: string): boolean {
  return text !== "" && isPrintableText(text, entityCharactersMax);
}

/** The text as PostgreSQL can hold it: its text and jsonb take every character but U+0000 and lone surrogates. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\u{fffd}").toWellFormed();
}
