import { LeastRecentlyUsed } from "@svc/core";

/**
 * Maximum length of a part that is searched with the engine's own search. If letters repeat, the engine's time may grow with the product of
 * both lengths.
 */
const engineMax = 256;

/** Returns the positions of a part in a text, in order, without overlaps. The time per character is constant. */
export function positionsOf(text: string, part: string): number[] {
  if (part.length > engineMax) return longPositionsOf(text, part);
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

/** Number of first characters of a long part. The whole part is searched only if these characters occur in the text. */
const beginMax = 32;

/**
 * Returns the positions of a long part, with the algorithm of Knuth, Morris and Pratt. It reads no character of the text more than twice.
 */
function longPositionsOf(text: string, part: string): number[] {
  if (!text.includes(part.slice(0, beginMax))) return [];
  const borders = bordersOf(part);
  const places: number[] = [];
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(length) === unit) length++;
    if (length < part.length) continue;
    places.push(at + 1 - length);
    length = 0;
  }
  return places;
}

/** Returns, for each prefix of a text, the length of the longest shorter text that is both the start and the end of that prefix. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}

/** Minimum characters of a secret. Shorter texts occur by chance in too many words. */
export const secretMin = 3;

/**
 * Minimum bytes of a secret that is searched in hex and base64. The encoded forms of shorter secrets occur by chance, also as field names.
 */
const encodedMin = 8;

/** Maximum characters of a core, the part of a form that is searched first. A longer core takes longer and finds no more. */
export const coreMax = 32;

/**
 * The searched forms of a secret. `encoded`: the parts in hex and base64 that do not depend on neighboring bytes. `cores`: a text that
 * contains no core contains no form of the secret. `reach`: maximum length of a form in a text.
 */
export type SecretForms = {
  readonly text: string;
  readonly encoded: readonly string[];
  readonly cores: readonly string[];
  readonly reach: number;
};

/** Cache of the forms of 200 secrets. Secrets above a maximum length are not cached, so the cache takes at most a few megabytes. */
const made = new LeastRecentlyUsed<string, SecretForms>(200);
const madeLengthMax = 4_096;

/**
 * Returns the forms of a secret. The forms are cached, because creating them is expensive and a credential has the same forms for each
 * call.
 */
export function secretFormsOf(text: string): SecretForms {
  if (text.length > madeLengthMax) return makeHidden(text);
  const known = made.get(text);
  if (known !== undefined) return known;
  const hidden = makeHidden(text);
  made.set(text, hidden);
  return hidden;
}

/**
 * Limits of a form's length. `escapedMax`: characters for one character that is escaped twice. `escapedCodeMax`: characters for one escaped
 * character of hex or base64. `reachMax`: maximum reach; a longer reach is cut.
 */
const escapedMax = 24;
const escapedCodeMax = 3;
const reachMax = 65_536;

function makeHidden(text: string): SecretForms {
  const bytes = Buffer.from(text, "utf8");
  const encoded = bytes.length < encodedMin ? [] : [...hexOf(bytes), ...base64Of(bytes)];
  // An encoded text may be part of a URL, which escapes all characters except letters and digits. Its core therefore contains only these.
  const cores = [longest(text, sameRuns), ...encoded.map((form) => longest(form, /[A-Za-z0-9]+/g))];
  const codeLength = Math.max(0, ...encoded.map(({ length }) => length));
  const reach = Math.min(reachMax, Math.max(escapedMax * text.length, escapedCodeMax * codeLength) + escapedMax);
  return { text, encoded, cores: [...new Set(cores.map((core) => core.slice(0, coreMax)))], reach };
}

/**
 * Runs of characters that JSON, URLs, forms and HTML do not escape. The longest run of a secret occurs in all forms of the secret except
 * base64. If the secret has no such run, its core is the empty text, which every text contains.
 */
const sameRuns = /[\w.-]+/g;

function longest(text: string, runs: RegExp): string {
  return (text.match(runs) ?? []).reduce((a, b) => (b.length > a.length ? b : a), "");
}

function hexOf(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/**
 * Returns the base64 characters that depend only on these bytes, once for each of the three positions that a byte can have in a base64
 * group.
 */
function base64Of(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [...new Set([...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))])];
}
