import { LeastRecentlyUsed } from "@svc/core";

/** Of a longer part the search of the engine may take the product of both lengths, where text and part repeat one letter. */
const engineMax = 256;

/** Where a part stands in a text, from its beginning on, without those that overlap the one before. Takes no more than a few steps a character. */
export function positionsOf(text: string, part: string): number[] {
  if (part.length > engineMax) return longPositionsOf(text, part);
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

/** A text without the beginning of a long part is not gone through for it. */
const beginMax = 32;

/** By Knuth, Morris and Pratt: no character of the text is looked at more than twice. */
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

/** For each beginning of a text the length of the longest shorter one that it ends with. */
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

/** What is shorter stands in too many words by chance. */
export const secretMin = 3;

/** What has fewer bytes stands in hex or base64 of anything by chance, and as the name of a field. */
const encodedMin = 8;

/** Of a core so much is looked for: a longer one takes longer, and tells no more. */
const coreMax = 32;

/**
 * A secret in the forms in which it is looked for. `encoded`: in hex and base64, what of it is alike whatever stands before and behind
 * it. `cores`: a text that holds none of them does not hold it in any form. `reach`: how far a form of it may go on in a text.
 */
export type SecretForms = {
  readonly text: string;
  readonly encoded: readonly string[];
  readonly cores: readonly string[];
  readonly reach: number;
};

/** Secrets whose forms stay made, and how long one is at most: together they take some megabytes. */
const made = new LeastRecentlyUsed<string, SecretForms>(200);
const madeLengthMax = 4_096;

/** The forms of a secret. They are dear, and those of a credential are the same for each call with it. */
export function secretFormsOf(text: string): SecretForms {
  if (text.length > madeLengthMax) return makeHidden(text);
  const known = made.get(text);
  if (known !== undefined) return known;
  const hidden = makeHidden(text);
  made.set(text, hidden);
  return hidden;
}

/** Characters that stand for one where it is escaped twice, and for one of hex or base64; a longer reach is cut. */
const escapedMax = 24;
const escapedCodeMax = 3;
const reachMax = 65_536;

function makeHidden(text: string): SecretForms {
  const bytes = Buffer.from(text, "utf8");
  const encoded = bytes.length < encodedMin ? [] : [...hexOf(bytes), ...base64Of(bytes)];
  // What is encoded may stand in a URL, which escapes all but letters and digits of it.
  const cores = [longest(text, sameRuns), ...encoded.map((form) => longest(form, /[A-Za-z0-9]+/g))];
  const codeLength = Math.max(0, ...encoded.map(({ length }) => length));
  const reach = Math.min(reachMax, Math.max(escapedMax * text.length, escapedCodeMax * codeLength) + escapedMax);
  return { text, encoded, cores: [...new Set(cores.map((core) => core.slice(0, coreMax)))], reach };
}

/**
 * Letters that stand for themselves in JSON, in a URL, in a form and in HTML: the longest run of them stands in all forms of a secret
 * but base64. A secret without such a run has the empty text, which stands in every text.
 */
const sameRuns = /[\w.-]+/g;

function longest(text: string, runs: RegExp): string {
  return (text.match(runs) ?? []).reduce((a, b) => (b.length > a.length ? b : a), "");
}

function hexOf(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/** The characters of base64 that bytes alone decide, where they begin at each of the three places of a group. */
function base64Of(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [...new Set([...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))])];
}
