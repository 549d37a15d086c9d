const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const lastSpace = 0x20;

/** How much a JSON text holds: its values (lists and objects count, empty or not), and how deep they are nested. */
export type JsonSize = { readonly values: number; readonly depth: number };

/**
 * Measures a JSON text in one pass, without parsing it, up to where it holds more than `valuesMax`: what is made of the values
 * costs far more than the text. Of a text that is no JSON it tells nothing.
 */
export function measureJson(text: string, valuesMax: number): JsonSize {
  let values = 1;
  let level = 0;
  let depth = 0;
  let isOpened = false;
  for (let at = 0; at < text.length && values <= valuesMax; at++) {
    const code = text.charCodeAt(at);
    if (code <= lastSpace) continue;
    if (code === quote) at = endOfString(text, at);
    else if (code === comma) values++;
    else if (code === openList || code === openObject) {
      // Its first value; taken back where there is none.
      values++;
      level++;
      if (level > depth) depth = level;
    } else if (code === closeList || code === closeObject) {
      level--;
      if (isOpened) values--;
    }
    isOpened = code === openList || code === openObject;
  }
  return { values, depth };
}

/** What a value may hold: values (lists and objects count), and characters of texts and names together. */
export type JsonBounds = { readonly values: number; readonly characters: number };

/** Whether a value holds more than that. Looks no further than it has to, whatever it holds, and at a part again wherever it stands. */
export function holdsMoreThan(value: unknown, bounds: JsonBounds): boolean {
  let { values, characters } = bounds;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    values--;
    if (typeof next === "string") characters -= next.length;
    else if (typeof next === "object" && next !== null) {
      const children = Object.entries(next);
      if (children.length > values) return true;
      for (const [name, child] of children) {
        if (!Array.isArray(next)) characters -= name.length;
        waiting.push(child);
      }
    }
    if (values < 0 || characters < 0) return true;
  }
  return false;
}

/** Where the text ends that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
