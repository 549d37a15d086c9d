import { LeastRecentlyUsed } from "@svc/core";

/**
 * Maximum length of a text that is searched for with the JavaScript engine's own search. For longer texts with repeated letters, that
 * search could become very slow.
 */
const engineMax = 256;

/** Returns the positions at which a part occurs in a text, in order, without overlaps. The time grows only with the length of the text. */
export function positionsOf(text: string, part: string): number[] {
  if (part.length > engineMax) return longPositionsOf(text, part);
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

/** svc first looks only for this number of characters from the start of a long text. If they are found, svc looks for the whole text. */
const beginMax = 32;

/**
 * Returns the positions at which a long text `part` occurs in `text`, with the algorithm of Knuth, Morris and Pratt. The algorithm reads no
 * character of `text` more than twice.
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

/** Returns the border table of a text, for the search algorithm of Knuth, Morris and Pratt. For example, `abab` gives 0, 0, 1, 2. */
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

/** Minimum characters of a secret that is searched for. Shorter secrets would be found by chance in many words. */
export const secretMin = 3;

/**
 * Minimum bytes of a secret that is searched for in hex and base64. The encoded forms of shorter secrets would be found by chance, even in
 * field names.
 */
const encodedMin = 8;

/**
 * Maximum characters of a core. A core is the part of a secret that is searched first; a longer core would take more time without benefit.
 */
export const coreMax = 32;

/**
 * The forms of a secret that svc searches for in a text. `encoded`: its hexadecimal and base64 forms. `cores`: short texts; every form
 * contains one of them. `reach`: maximum length of a form.
 */
export type SecretForms = {
  readonly text: string;
  readonly encoded: readonly string[];
  readonly cores: readonly string[];
  readonly reach: number;
};

/**
 * Cache of the forms (encodings in which a secret can appear in an answer) of 200 secrets. Secrets above a maximum length are not cached,
 * so the cache takes at most a few megabytes.
 */
const made = new LeastRecentlyUsed<string, SecretForms>(200);
const madeLengthMax = 4_096;

/**
 * Returns all forms (such as base64 or URL encoding) in which an app may quote a secret. The forms are cached, because creating them takes
 * long and a credential has the same forms for each call.
 */
export function secretFormsOf(text: string): SecretForms {
  if (text.length > madeLengthMax) return makeHidden(text);
  const known = made.get(text);
  if (known !== undefined) return known;
  const hidden = makeHidden(text);
  made.set(text, hidden);
  return hidden;
}

/** Maximum number of characters in an app's answer for one character of a secret, after it was escaped twice. */
const escapedMax = 24;
/** Maximum number of characters in an app's answer for one character of a secret's hexadecimal or base64 form. */
const escapedCodeMax = 3;
/** Upper limit for the number of characters that a secret may take in an app's answer. */
const reachMax = 65_536;

function makeHidden(text: string): SecretForms {
  const bytes = Buffer.from(text, "utf8");
  const encoded = bytes.length < encodedMin ? [] : [...hexOf(bytes), ...base64Of(bytes)];
  // A text that contains no core contains no form of the secret. An empty core is in every text.
  // The encoded form may be part of a URL, which escapes all characters except letters and digits. So its core consists only of letters and
  // digits.
  const cores = [longest(text, sameRuns), ...encoded.map((form) => longest(form, /[A-Za-z0-9]+/g))];
  const codeLength = Math.max(0, ...encoded.map(({ length }) => length));
  const reach = Math.min(reachMax, Math.max(escapedMax * text.length, escapedCodeMax * codeLength) + escapedMax);
  return { text, encoded, cores: [...new Set(cores.map((core) => core.slice(0, coreMax)))], reach };
}

/** Pattern for parts of a secret that JSON, URLs, forms and HTML never escape. */
const sameRuns = /[\w.-]+/g;

function longest(text: string, runs: RegExp): string {
  return (text.match(runs) ?? []).reduce((a, b) => (b.length > a.length ? b : a), "");
}

function hexOf(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/**
 * Returns the base64 characters that depend only on these bytes. There are three results, because a secret can start at three positions in
 * a base64 group.
 */
function base64Of(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [...new Set([...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))])];
}
