import { createSlices } from "../work/turns.ts";
import { isRaw, JsonTooLargeError } from "./exact-json.ts";
import { countNames } from "./json-size.ts";
import { rawJson } from "./raw-json.ts";

/**
 * Limits of a JSON text. `values`: number of values, including lists and objects. `members`: members of one object. `raw`: number of raw
 * numbers (those that a double cannot hold). `digits`: digits of each raw number. `depth`: levels of nesting (default: no limit).
 */
export type JsonLimits = {
  readonly values: number;
  readonly members: number;
  readonly raw: number;
  readonly digits: number;
  readonly depth?: number;
};

/**
 * How a JSON text is parsed. `numbers`: `exact` (the default) keeps the digits of every number; `double` reads numbers like JSON.parse.
 * `repeats`: if set to `refused`, a text in which an object repeats a name is an error; otherwise the last value of the name counts.
 */
export type JsonReading = { readonly numbers?: "exact" | "double"; readonly repeats?: "refused" };

/** Number of values between two checks of the parsing time. */
const valuesPerTimeCheck = 256;
/** Maximum number of characters of a string that are read between two checks of the parsing time. */
const pieceLength = 65_536;

/**
 * Parses JSON without losing digits of numbers, in slices: after every 4 ms (or `ms`) it awaits `turn`, so that other work can run. This is
 * needed because some texts take JSON.parse a hundred times as long as usual. Rejects with SyntaxError, also if the nesting is too deep, or
 * with JsonTooLargeError if another limit is exceeded.
 */
export async function parseJsonInTurns(
  text: string,
  {
    bounds,
    turn,
    ms,
    ...reading
  }: JsonReading & {
    readonly bounds: JsonLimits;
    readonly turn: () => Promise<void>;
    readonly ms?: number | undefined;
  },
): Promise<unknown> {
  const slices = new Reader(text, bounds, reading).slices();
  const { rest } = createSlices(turn, { ms });
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
    const pause = rest();
    if (pause !== undefined) await pause;
  }
}

/**
 * Resolves to true if an object in a JSON text has the same name twice. `value`: the parsed text. After every 4 ms of work, awaits `turn`,
 * so that other work can run. Use it for long texts.
 */
export async function repeatsNameInTurns(text: string, value: unknown, turn: () => Promise<void>): Promise<boolean> {
  const steps = countNames(text, value);
  const { rest } = createSlices(turn);
  for (;;) {
    const { done, value: isRepeated } = steps.next();
    if (done === true) return isRepeated;
    await rest();
  }
}

/** A list or object whose end has not been read yet. `name`: the name of the object's member whose value is read next. */
type OpenContainer =
  | { readonly list: unknown[] }
  | { readonly object: Record<string, unknown>; name: string; members: number };

const quote = 34;
const [comma, colon] = [44, 58];
const [openList, closeList] = [91, 93];
const [openObject, closeObject] = [123, 125];
const backslash = 92;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literals: readonly (readonly [string, unknown])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

class Reader {
  readonly #text: string;
  readonly #bounds: JsonLimits;
  readonly #reading: JsonReading;
  readonly #open: OpenContainer[] = [];
  #at = 0;
  #values = 0;
  #raw = 0;

  constructor(text: string, bounds: JsonLimits, reading: JsonReading) {
    this.#text = text;
    this.#bounds = bounds;
    this.#reading = reading;
  }

  /** Parses the text. Yields between values and pieces of long strings, so that other work can run, and returns the parsed value. */
  *slices(): Generator<undefined, unknown> {
    for (;;) {
      if (++this.#values > this.#bounds.values) throw tooLarge(`${this.#bounds.values} values`);
      if (this.#values % valuesPerTimeCheck === 0) yield;
      const begun =
        this.#next() === quote ? { value: this.#shortString() ?? (yield* this.#longString()) } : this.#begin();
      if (begun === undefined) continue;
      let ended: { readonly value: unknown } | undefined = begun;
      while (ended !== undefined) {
        const open = this.#open.at(-1);
        if (open === undefined) return this.#end(ended.value);
        put(open, ended.value);
        ended = this.#goOn(open);
      }
    }
  }

  /**
   * Reads the start of a value that is not a string. Returns the value if it ends here. Returns undefined if a list or object begins, whose
   * first value must be read next.
   */
  #begin(): { readonly value: unknown } | undefined {
    const code = this.#next();
    if (code === openList) return this.#openOne({ list: [] }, closeList);
    if (code === openObject) return this.#openOne({ object: {}, name: "", members: 0 }, closeObject);
    return { value: this.#scalar() };
  }

  #openOne(open: OpenContainer, close: number): { readonly value: unknown } | undefined {
    const { depth = Number.POSITIVE_INFINITY } = this.#bounds;
    if (this.#open.length >= depth) throw new SyntaxError(`JSON is nested deeper than ${depth} levels`);
    this.#at++;
    if (this.#next() === close) {
      this.#at++;
      return { value: containerOf(open) };
    }
    this.#open.push(open);
    if ("object" in open) this.#name(open);
    return undefined;
  }

  /**
   * Reads the character after a value. At the end of the list or object `open`, returns that list or object. After a comma, returns
   * undefined, because the next value must be read.
   */
  #goOn(open: OpenContainer): { readonly value: unknown } | undefined {
    const code = this.#next();
    this.#at++;
    if (code === comma) {
      if ("object" in open) this.#name(open);
      return undefined;
    }
    if (code !== ("list" in open ? closeList : closeObject)) throw this.#fault();
    this.#open.pop();
    return { value: containerOf(open) };
  }

  #name(open: Extract<OpenContainer, { readonly object: unknown }>): void {
    if (++open.members > this.#bounds.members) throw tooLarge(`${this.#bounds.members} members in an object`);
    if (this.#next() !== quote) throw this.#fault();
    open.name = this.#nameText();
    if (this.#reading.repeats === "refused" && Object.hasOwn(open.object, open.name))
      throw new SyntaxError(`duplicate object key "${open.name}"`);
    if (this.#next() !== colon) throw this.#fault();
    this.#at++;
  }

  /** Returns the name of a member. It is read at once, however long it is. */
  #nameText(): string {
    const short = this.#shortString();
    if (short !== undefined) return short;
    const steps = this.#longString();
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }

  /** Reads a string of one piece, and returns it. Returns undefined for a longer one, of which nothing is read. */
  #shortString(): string | undefined {
    const end = this.#endOfPiece(this.#at + 1);
    if (this.#text.charCodeAt(end) !== quote) return undefined;
    const source = this.#text.slice(this.#at, end + 1);
    this.#at = end + 1;
    return JSON.parse(source);
  }

  /** Reads a string. Yields between its pieces, and returns it. */
  *#longString(): Generator<undefined, string> {
    const pieces: string[] = [];
    this.#at++;
    for (;;) {
      const end = this.#endOfPiece(this.#at);
      pieces.push(JSON.parse(`"${this.#text.slice(this.#at, end)}"`));
      this.#at = end;
      if (this.#text.charCodeAt(end) === quote) break;
      yield;
    }
    this.#at++;
    return pieces.join("");
  }

  /** Returns the index at which a piece of a string ends: at the quote that ends the string, or between two of its characters. */
  #endOfPiece(start: number): number {
    const last = start + pieceLength;
    let end = start;
    for (let code = this.#text.charCodeAt(end); code !== quote; code = this.#text.charCodeAt(end)) {
      if (end >= this.#text.length) throw this.#fault();
      if (end >= last) break;
      end += code !== backslash ? 1 : this.#text[end + 1] === "u" ? 6 : 2;
    }
    return end;
  }

  #scalar(): unknown {
    for (const [word, value] of literals) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    number.lastIndex = this.#at;
    const [source] = number.exec(this.#text) ?? [];
    if (source === undefined) throw this.#fault();
    this.#at += source.length;
    return this.#numberOf(source);
  }

  #numberOf(source: string): unknown {
    const value = Number(source);
    if (this.#reading.numbers === "double" || !isRaw(value, source)) return value;
    const { raw, digits } = this.#bounds;
    if (source.length > digits) throw tooLarge(`${digits} digits in a number`);
    if (++this.#raw > raw) throw tooLarge(`${raw} numbers that a double does not hold exactly`);
    return rawJson(source);
  }

  #end(value: unknown): unknown {
    if (!Number.isNaN(this.#next())) throw this.#fault();
    return value;
  }

  /** Returns the code of the next character that is not white space; NaN at the end of the text. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return code;
      this.#at++;
    }
  }

  #fault(): SyntaxError {
    return new SyntaxError(`the text is not JSON at ${this.#at}`);
  }
}

function tooLarge(what: string): JsonTooLargeError {
  return new JsonTooLargeError(`JSON holds more than ${what}`);
}

function containerOf(open: OpenContainer): unknown {
  return "list" in open ? open.list : open.object;
}

function put(open: OpenContainer, value: unknown): void {
  if ("list" in open) open.list.push(value);
  // Object.defineProperty is used, because an assignment to `__proto__` would change the object's prototype.
  else if (open.name === "__proto__")
    Object.defineProperty(open.object, open.name, { value, writable: true, enumerable: true, configurable: true });
  else open.object[open.name] = value;
}
