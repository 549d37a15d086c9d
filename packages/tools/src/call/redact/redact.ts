import type { AppRequest } from "@svc/connections";
import { masked } from "./mask.ts";
import { type EscapeBudget, escapesMax, type Range, type Reading, readingsOf } from "./readings.ts";
import { positionsOf, type SecretForms, secretFormsOf, secretMin } from "./secret-forms.ts";

/** Takes secrets out of a text that is not ours, such as an app's error that quotes what it was sent. */
export type Redactor = {
  (text: string): string;
  /** Does the same to a text of any length, and stops again and again, so that others get their turn. */
  readonly inParts?: (text: string) => Generator<undefined, string>;
  /** Whether a JSON text is known to hold no secret in any form: nothing of its value need be gone through then. */
  readonly spares?: (json: string) => boolean;
  /** Does the same to the name of a field, where only what is too long to be a word by chance is taken for a secret. */
  readonly ofName?: (name: string) => string;
};

/**
 * Replaces every secret by `***`: as it is, as it is escaped in JSON, in a URL, in a form or in HTML, and in hex, base64 and
 * base64url, also as a part of what is encoded there.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  // Made with the first text: a call without any is common, and forms are dear.
  let made: readonly SecretForms[] | undefined;
  const all = () => {
    made ??= [...new Set(secrets)].filter(({ length }) => length >= secretMin).map(secretFormsOf);
    return made;
  };
  const budget = { left: escapesMax };
  const redact = (text: string) => atOnce(redacted(text, all(), budget));
  const inParts = (text: string) => redacted(text, all(), budget);
  const spares = (json: string) => !all().some((secret) => mayHold(json, secret));
  const ofName = (name: string) => {
    if (name.length < secretMin) return name;
    const long = all().filter(({ encoded }) => encoded.length > 0);
    return atOnce(redacted(name, long, budget));
  };
  return Object.assign(redact, { inParts, spares, ofName });
}

function atOnce<T>(parts: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return value;
  }
}

function mayHold(text: string, { cores }: SecretForms): boolean {
  return cores.some((core) => text.includes(core));
}

/** A longer text is gone through in parts of so many characters, each with what stands around it. */
const partMax = 16_384;
/** What is read before a part, where it may begin in an escape. */
const lead = 64;

function* redacted(text: string, secrets: readonly SecretForms[], budget: EscapeBudget): Generator<undefined, string> {
  const reach = secrets.reduce((most, secret) => Math.max(most, secret.reach), 0);
  const shown: string[] = [];
  let end = 0;
  for (let from = 0; from < text.length; from += partMax) {
    const start = Math.max(0, from - lead);
    const part = text.length <= partMax ? text : text.slice(start, from + partMax + reach);
    const found = yield* rangesIn(part, secrets, budget);
    // A part of a secret stands there, and who wrote so much around it is not one whose texts are needed.
    if (found === undefined) return masked;
    const here: string[] = [];
    // One secret may begin with another, or be read in two ways: what overlaps is one.
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

/** Where secrets stand in a part of a text; undefined where it has too many escapes. */
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

/** The characters beside it hold bits of the secret, too. */
function withEdges(text: string, [start, end]: Range): Range {
  const isDigit = (at: number) => /[\w+/-]/.test(text.charAt(at));
  let to = isDigit(end) ? end + 1 : end;
  while (text.charAt(to) === "=") to++;
  return [start > 0 && isDigit(start - 1) ? start - 1 : start, to];
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
