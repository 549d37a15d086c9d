import { LeastRecentlyUsed } from "@svc/core";

/** Maximum length of a part for the engine's search. With repeated letters, the engine may need the product of both lengths. */
const engineMax = 256;

/** Returns the positions of a part in a text, in order, without overlaps. Takes a constant number of steps per character. */
export function positionsOf(text: string, part: string): number[] {
  if (part.length > engineMax) return longPositionsOf(text, part);
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

/** Characters of a long part that must occur in a text before it is searched for the whole part. */
const beginMax = 32;

/** Algorithm of Knuth, Morris and Pratt: reads no character of the text more than twice. */
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

/** Returns, for each prefix of a text, the length of its longest proper prefix that is also its suffix. */
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

/** Minimum length of a secret. Shorter texts occur in too many words by chance. */
export const secretMin = 3;

/** Minimum bytes of a secret for the search in hex and base64. Shorter ones occur there by chance, and as field names. */
const encodedMin = 8;

/** Maximum characters of a searched core. A longer one takes longer and adds nothing. */
const coreMax = 32;

/**
 * The searched forms of a secret. `encoded`: the parts in hex and base64 that do not depend on neighboring bytes. `cores`: a text without
 * any core contains no form of the secret. `reach`: maximum length of a form in a text.
 */
export type SecretForms = {
  readonly text: string;
  readonly encoded: readonly string[];
  readonly cores: readonly string[];
  readonly reach: number;
};

/** Cache of secret forms, and the maximum length of a cached secret. Together they take a few megabytes. */
const made = new LeastRecentlyUsed<string, SecretForms>(200);
const madeLengthMax = 4_096;

/** Returns the forms of a secret. Creating them is expensive, and a credential's forms are the same for each call. */
export function secretFormsOf(text: string): SecretForms {
  if (text.length > madeLengthMax) return makeHidden(text);
  const known = made.get(text);
  if (known !== undefined) return known;
  const hidden = makeHidden(text);
  made.set(text, hidden);
  return hidden;
}

/** Maximum characters for one character that is escaped twice, and for one of hex or base64. A longer reach is cut. */
const escapedMax = 24;
const escapedCodeMax = 3;
const reachMax = 65_536;

function makeHidden(text: string): SecretForms {
  const bytes = Buffer.from(text, "utf8");
  const encoded = bytes.length < encodedMin ? [] : [...hexOf(bytes), ...base64Of(bytes)];
  // An encoded text may be part of a URL, which escapes everything except letters and digits.
  const cores = [longest(text, sameRuns), ...encoded.map((form) => longest(form, /[A-Za-z0-9]+/g))];
  const codeLength = Math.max(0, ...encoded.map(({ length }) => length));
  const reach = Math.min(reachMax, Math.max(escapedMax * text.length, escapedCodeMax * codeLength) + escapedMax);
  return { text, encoded, cores: [...new Set(cores.map((core) => core.slice(0, coreMax)))], reach };
}

/**
 * Characters that JSON, URLs, forms and HTML do not escape. The longest run of them occurs in all forms of a secret except base64. Without
 * such a run, the empty text is used, which every text contains.
 */
const sameRuns = /[\w.-]+/g;

function longest(text: string, runs: RegExp): string {
  return (text.match(runs) ?? []).reduce((a, b) => (b.length > a.length ? b : a), "");
}

function hexOf(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/** Returns the characters of base64 that only these bytes determine, for each of the three positions in a group. */
function base64Of(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [...new Set([...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))])];
}
