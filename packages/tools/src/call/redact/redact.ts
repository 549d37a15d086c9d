import { keySegment } from "@svc/catalog";
import type { AppRequest } from "@svc/connections";
import { masked } from "./mask.ts";
import { type EscapeBudget, escapesMax, type Range, type Reading, readingsOf } from "./readings.ts";
import { coreMax, positionsOf, type SecretForms, secretFormsOf, secretMin } from "./secret-forms.ts";

/** Removes secrets from texts that svc did not write (for example an app's error that quotes its request). */
export type Redactor = {
  (text: string): string;
  /** Removes secrets from a text of any length. It pauses repeatedly so that other work can run. */
  readonly inParts?: (text: string) => Generator<undefined, string>;
  /**
   * Returns true if a JSON text certainly contains no secret, in any form of escaping. The parsed value then need not be
   * searched. The generator yields repeatedly so that other work can run.
   */
  readonly spares?: (json: string) => Generator<undefined, boolean>;
  /**
   * Returns the name of a field in an app's answer, with secrets removed. Only long secrets are removed from names: a short secret could be
   * an ordinary word, and the caller needs the names of fields.
   */
  readonly ofName?: (name: string) => string;
};

/**
 * Creates a redactor that replaces every secret by `***`. It finds the secret unchanged; escaped for JSON, URLs, forms or HTML; and in hex,
 * base64 and base64url, also inside a longer encoded text.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  // The forms of the secrets are made when the first text is searched, because making them is expensive and many calls have no text to
  // search.
  let made: readonly SecretForms[] | undefined;
  const all = () => {
    made ??= [...new Set(secrets)].filter(({ length }) => length >= secretMin).map(secretFormsOf);
    return made;
  };
  const budget = { left: escapesMax };
  const redact = (text: string) => atOnce(redacted(text, all(), budget));
  const inParts = (text: string) => redacted(text, all(), budget);
  const spares = (json: string) => isSpared(json, all());
  const ofName = (name: string) => {
    if (name.length < secretMin) return name;
    const long = all().filter(({ encoded }) => encoded.length > 0);
    return atOnce(redacted(name, long, budget));
  };
  return Object.assign(redact, { inParts, spares, ofName });
}

/** Approximate maximum length of a time slice of large work, in milliseconds. Other work runs between two time slices. */
const timeSliceMs = 2;

/**
 * Runs large work part by part, in time slices. Before each slice it awaits `turn`, so that other work can run. Returns the result of the
 * work.
 */
export async function inTurns<T>(parts: Generator<undefined, T>, turn: () => Promise<void>): Promise<T> {
  for (;;) {
    await turn();
    const startedMs = performance.now();
    do {
      const { done, value } = parts.next();
      if (done === true) return value;
    } while (performance.now() - startedMs < timeSliceMs);
  }
}

/** Runs all parts of some work without a pause. Returns its result. */
export function atOnce<T>(parts: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return value;
  }
}

/**
 * Matches a JSON escape (such as `\u0041`) that could hide a part of a secret in an app's answer. It matches escaped characters that most
 * JSON writers never escape: letters, digits and a few signs. It matches an escaped backslash, because a backslash may begin an escape in
 * JSON within JSON.
 */
const escapedCore = /\\u00(?:2[de]|3\d|[46][1-9a-f]|5[\dacf]|7[\da])/i;
/** Number of characters of a JSON text that `isSpared` searches at a time. */
const sparedMax = 65_536;

/**
 * True if the JSON text certainly contains no secret, so that it need not be searched. The function looks for the core of each secret. A
 * core is a short part of the secret without characters that JSON usually escapes, so it is unchanged in the JSON text.
 */
function* isSpared(json: string, secrets: readonly SecretForms[]): Generator<undefined, boolean> {
  for (let from = 0; from < json.length; from += sparedMax) {
    const part = json.length <= sparedMax ? json : json.slice(from, from + sparedMax + coreMax);
    if (part.includes("\\u00") && escapedCore.test(part)) return false;
    if (secrets.some((secret) => mayHold(part, secret))) return false;
    yield;
  }
  return true;
}

function mayHold(text: string, { cores }: SecretForms): boolean {
  return cores.some((core) => text.includes(core));
}

/**
 * Size in characters of the parts into which a longer text is divided. Each part is searched together with some characters before and after
 * it.
 */
const partMax = 16_384;
/**
 * A long text is searched for secrets in parts. Each part is searched together with this number of characters before it, because the part
 * may begin in the middle of an escape sequence.
 */
const lead = 64;

function* redacted(text: string, secrets: readonly SecretForms[], budget: EscapeBudget): Generator<undefined, string> {
  const reach = secrets.reduce((most, secret) => Math.max(most, secret.reach), 0);
  const shown: string[] = [];
  let end = 0;
  for (let from = 0; from < text.length; from += partMax) {
    const start = Math.max(0, from - lead);
    const part = text.length <= partMax ? text : text.slice(start, from + partMax + reach);
    const found = yield* rangesIn(part, secrets, budget);
    // This part of the text has too many escape sequences to search all of them, so it may contain a secret. The whole text is masked.
    if (found === undefined) return masked;
    const here: string[] = [];
    // Overlapping ranges of secrets are merged. Ranges overlap if one secret starts with another. They also overlap if a secret is found
    // both in the text as written and in the text with its escapes decoded.
    for (const [first, last] of found.toSorted(([a], [b]) => a - b)) {
      const [at, to] = [start + first, start + last];
      if (at < from || at >= from + partMax) continue;
      if (at >= end) here.push(text.slice(end, at), masked);
      end = Math.max(end, to);
    }
    if (here.length > 0) shown.push(here.join(""));
  }
  return shown.length === 0 ? text : shown.join("") + text.slice(end);
}

/**
 * Returns the positions of the secrets in a text. Returns undefined if the text has too many escape sequences (such as `\n`) to be
 * searched. Yields so that other work can run.
 */
function* rangesIn(
  text: string,
  secrets: readonly SecretForms[],
  budget: EscapeBudget,
): Generator<undefined, readonly Range[] | undefined> {
  const held: SecretForms[] = [];
  for (const secret of secrets) {
    if (mayHold(text, secret)) held.push(secret);
    yield;
  }
  if (held.length === 0) return [];
  const readings = readingsOf(text, budget);
  if (readings === undefined) return undefined;
  const found: Range[] = [];
  for (const secret of held) {
    for (const reading of readings) {
      found.push(...rangesOf(reading, secret));
      yield;
    }
  }
  return found;
}

function rangesOf({ text, rangeOf }: Reading, secret: SecretForms): Range[] {
  const plain = positionsOf(text, secret.text).map((at) => rangeOf([at, at + secret.text.length]));
  const encoded = secret.encoded.flatMap((form) => {
    return positionsOf(text, form).map((at) => rangeOf(withEdges(text, [at, at + form.length])));
  });
  return [...plain, ...encoded];
}

/**
 * Returns the range of a text that contains a secret in base64, extended by one character on each side. These characters also contain bits
 * of the secret.
 */
function withEdges(text: string, [start, end]: Range): Range {
  const isDigit = (at: number) => /[\w+/-]/.test(text.charAt(at));
  let to = isDigit(end) ? end + 1 : end;
  while (text.charAt(to) === "=") to++;
  return [start > 0 && isDigit(start - 1) ? start - 1 : start, to];
}

/**
 * Returns the credential of a request in all forms in which an app may quote it. The credential consists of the values in headers, query
 * and path that the authorization added. They are found by comparing the request before and after the authorization.
 */
export function credentialsOf(before: AppRequest, after: AppRequest): string[] {
  const headers = Object.entries(after.headers).filter(([name, value]) => before.headers[name] !== value);
  const inUrl = [...addedToQuery(before.url, after.url), ...addedToPath(before.url, after.url)];
  return [...headers.flatMap(([, value]) => formsOfHeader(value)), ...inUrl];
}

/** Returns the key that replaced `keySegment` in a URL, as it was sent and decoded. */
function addedToPath(before: string, after: string): string[] {
  const at = before.indexOf(keySegment);
  if (at < 0) return [];
  const sent = after.slice(at, after.length - (before.length - at - keySegment.length));
  return [sent, decodeURIComponent(sent)];
}

function addedToQuery(before: string, after: string): string[] {
  if (before === after) return [];
  const known = new Set(URL.parse(before)?.searchParams.values());
  return [...(URL.parse(after)?.searchParams.values() ?? [])].filter((value) => !known.has(value));
}

/**
 * Returns the forms in which an app may quote a header's value. `Bearer x` gives the whole value and `x`. `Basic x` also gives the password
 * inside `x`.
 */
function formsOfHeader(value: string): string[] {
  const [, scheme = "", credential] = /^(\S+) +(\S.*)$/.exec(value) ?? [];
  if (credential === undefined) return [value];
  if (scheme.toLowerCase() !== "basic") return [value, credential];
  const pair = Buffer.from(credential, "base64").toString("utf8");
  return [value, credential, pair, pair.slice(pair.indexOf(":") + 1)];
}
