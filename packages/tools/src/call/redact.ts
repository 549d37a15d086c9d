import type { AppRequest } from "@svc/connections";
import { isRawJson } from "@svc/core";
import { masked } from "./mask.ts";
import { type EscapeBudget, escapesMax, type Range, type Reading, readingsOf } from "./readings.ts";

/** Takes secrets out of a text that is not ours, such as an app's error that quotes what it was sent. */
export type Redactor = {
  (text: string): string;
  /** Whether a JSON text is known to hold no secret in any form: nothing of its value need be gone through then. */
  readonly spares?: (json: string) => boolean;
  /** Does the same to the name of a field, where only what is too long to be a word by chance is taken for a secret. */
  readonly ofName?: (name: string) => string;
};

/** What is shorter stands in too many words by chance. */
const secretMin = 3;

/** What has fewer bytes stands in hex or base64 of anything by chance, and as the name of a field. */
const encodedMin = 8;

/**
 * A secret in the forms in which it is looked for. `encoded`: in hex and base64, what of it is alike whatever stands before and behind
 * it. `cores`: a text that holds none of them does not hold it in any form.
 */
type Hidden = { readonly text: string; readonly encoded: readonly string[]; readonly cores: readonly string[] };

/**
 * Replaces every secret by `***`: as it is, as it is escaped in JSON, in a URL, in a form or in HTML, and in hex, base64 and
 * base64url, also as a part of what is encoded there.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  // Made with the first text: a call without any is common, and forms are dear.
  let made: readonly Hidden[] | undefined;
  const all = () => {
    made ??= [...new Set(secrets)].filter(({ length }) => length >= secretMin).map(hiddenOf);
    return made;
  };
  const budget = { left: escapesMax };
  const redact = (text: string) => redacted(text, all(), budget);
  const spares = (json: string) => !all().some(({ cores }) => cores.some((core) => json.includes(core)));
  const ofName = (name: string) => {
    if (name.length < secretMin) return name;
    const long = all().filter(({ encoded }) => encoded.length > 0);
    return redacted(name, long, budget);
  };
  return Object.assign(redact, { spares, ofName });
}

function hiddenOf(text: string): Hidden {
  const bytes = Buffer.from(text, "utf8");
  const encoded = bytes.length < encodedMin ? [] : [...hexOf(bytes), ...base64Of(bytes)];
  // What is encoded may stand in a URL, which escapes all but letters and digits of it.
  const cores = [longest(text, sameRuns), ...encoded.map((form) => longest(form, /[A-Za-z0-9]+/g))];
  return { text, encoded, cores: [...new Set(cores)] };
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

function redacted(text: string, secrets: readonly Hidden[], budget: EscapeBudget): string {
  const held = secrets.filter(({ cores }) => cores.some((core) => text.includes(core)));
  if (held.length === 0) return text;
  const readings = readingsOf(text, budget);
  // A part of a secret stands there, and who wrote so much around it is not one whose texts are needed.
  if (readings === undefined) return masked;
  const found = readings.flatMap((reading) => held.flatMap((secret) => rangesOf(reading, secret)));
  let [shown, end] = ["", 0];
  // One secret may begin with another, or be read in two ways: what overlaps is one.
  for (const [from, to] of found.toSorted(([a], [b]) => a - b)) {
    if (from >= end) shown += `${text.slice(end, from)}${masked}`;
    end = Math.max(end, to);
  }
  return found.length === 0 ? text : shown + text.slice(end);
}

function rangesOf({ text, rangeOf }: Reading, secret: Hidden): Range[] {
  const plain = placesOf(text, secret.text).map((at) => rangeOf([at, at + secret.text.length]));
  const encoded = secret.encoded.flatMap((form) => {
    return placesOf(text, form).map((at) => rangeOf(withEdges(text, [at, at + form.length])));
  });
  return [...plain, ...encoded];
}

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

/** The characters beside it hold bits of the secret, too. */
function withEdges(text: string, [start, end]: Range): Range {
  const isDigit = (at: number) => /[\w+/-]/.test(text.charAt(at));
  let to = isDigit(end) ? end + 1 : end;
  while (text.charAt(to) === "=") to++;
  return [start > 0 && isDigit(start - 1) ? start - 1 : start, to];
}

/**
 * A copy of a result in which every text and name is redacted; the same value when nothing had to be. An app that repeats the
 * credential it was sent does not get it into an answer.
 */
export function redactTexts(value: unknown, redact: Redactor): unknown {
  if (redact.spares?.(JSON.stringify(value) ?? "") === true) return value;
  return redactEach(value, redact);
}

function redactEach(value: unknown, redact: Redactor): unknown {
  // Shorter texts hold no secret: most ids and names of a large result are not even searched.
  if (typeof value === "string") return value.length < secretMin ? value : redact(value);
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => redactEach(item, redact));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value).map(([name, child]) => {
    const shown = [redact.ofName?.(name) ?? name, redactEach(child, redact)] as const;
    return { shown, isSame: shown[0] === name && shown[1] === child };
  });
  return entries.every(({ isSame }) => isSame) ? value : Object.fromEntries(entries.map(({ shown }) => shown));
}

/** The credential in a request, in every form an app may quote it: what authorizing added to headers and query. */
export function credentialsOf(before: AppRequest, after: AppRequest): string[] {
  const headers = Object.entries(after.headers).filter(([name, value]) => before.headers[name] !== value);
  return [...headers.flatMap(([, value]) => formsOfHeader(value)), ...addedToQuery(before.url, after.url)];
}

function addedToQuery(before: string, after: string): string[] {
  if (before === after) return [];
  const known = new Set(URL.parse(before)?.searchParams.values());
  return [...(URL.parse(after)?.searchParams.values() ?? [])].filter((value) => !known.has(value));
}

/** `Bearer x` is quoted as a whole or as x; of `Basic x` the password as well. */
function formsOfHeader(value: string): string[] {
  const [, scheme = "", credential] = /^(\S+) +(\S.*)$/.exec(value) ?? [];
  if (credential === undefined) return [value];
  if (scheme.toLowerCase() !== "basic") return [value, credential];
  const pair = Buffer.from(credential, "base64").toString("utf8");
  return [value, credential, pair, pair.slice(pair.indexOf(":") + 1)];
}
