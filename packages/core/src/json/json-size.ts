import { isRawJson } from "./raw-json.ts";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const lastSpace = 0x20;

/** Size of a JSON text. `values`: number of values, including lists and objects. `depth`: levels of nesting. */
export type JsonSize = { readonly values: number; readonly depth: number };

/**
 * Returns the size of a JSON text without parsing it, because parsed values need far more memory than the text. It stops when it has
 * counted more than `valuesMax` values. If the text is not valid JSON, the result is meaningless.
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
      // Counts the first value of the list or object that begins here. Each further value is counted at its comma. If the list or object is
      // empty, 1 is subtracted at its end.
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

/**
 * Limits of a JSON value. `values`: maximum number of values, including lists and objects. `characters`: maximum total characters of texts
 * and names.
 */
export type JsonBounds = { readonly values: number; readonly characters: number };

/**
 * True if a JSON value has more values or more characters than `bounds` allow. False if it is within both limits. Counting stops as soon as
 * the result is clear. An object that occurs several times counts each time.
 */
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

/**
 * True if an object in a JSON text repeats a name. `value`: the parsed text, which has each name once. Compares the number of names in the
 * text with their number in the value.
 */
export function repeatsName(text: string, value: unknown): boolean {
  const steps = countNames(text, value);
  for (;;) {
    const { done, value: isRepeated } = steps.next();
    if (done === true) return isRepeated;
  }
}

/** Number of characters and number of values that are counted before each pause. Counting that many takes about 0.1 ms. */
const countedPerStep = { characters: 32_768, values: 1_024 };

/**
 * Returns true if the JSON text has more object names than its parsed value, so that a name is repeated. Yields after each part of the
 * work.
 */
export function* countNames(text: string, value: unknown): Generator<undefined, boolean, undefined> {
  let names = 0;
  let pauseAt = countedPerStep.characters;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === colon) names++;
    if (at < pauseAt) continue;
    pauseAt = at + countedPerStep.characters;
    yield;
  }
  const waiting: unknown[] = typeof value === "object" ? [value] : [];
  let counted = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) {
      for (const child of next) if (typeof child === "object") waiting.push(child);
      counted += next.length;
    } else if (next !== null && !isRawJson(next)) {
      const members = next as Readonly<Record<string, unknown>>;
      // A parsed object inherits no enumerable name. A list of its values would take four times as long as this loop.
      for (const name in members) {
        names--;
        counted++;
        if (typeof members[name] === "object") waiting.push(members[name]);
      }
    }
    counted++;
    if (counted < countedPerStep.values) continue;
    counted = 0;
    yield;
  }
  return names !== 0;
}

/** Returns the position of the end of the JSON string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
