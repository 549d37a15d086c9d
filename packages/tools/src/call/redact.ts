import type { AppRequest } from "@svc/connections";
import { isRawJson } from "@svc/core";
import { masked } from "./mask.ts";

/** Takes secrets out of a text that is not ours, such as an app's error that quotes what it was sent. */
export type Redactor = {
  (text: string): string;
  /** Whether a JSON text is known to hold no secret in any form: nothing of its value need be gone through then. */
  readonly spares?: (json: string) => boolean;
};

/** What is shorter stands in too many words by chance. */
const secretMin = 3;

/** Of a shorter one too little is left within base64 that would not stand in other words by chance. */
const encodedMin = 8;

/**
 * Replaces every secret by `***`, as it is and as it stands in JSON, in a URL, in a form, in HTML, in hex, and in base64 and base64url
 * wherever in the encoded bytes it begins; there up to two letters at its edges stay, which it shares with its neighbours.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  // Made with the first text: an answer without any is common, and forms are dear.
  let ordered: readonly string[] | undefined;
  const redact = (text: string) => {
    ordered ??= orderedForms(secrets);
    return ordered.reduce((rest, form) => rest.replaceAll(form, masked), text);
  };
  let cores: readonly string[] | undefined;
  const spares = (json: string) => {
    cores ??= coresOf(secrets);
    return !cores.some((core) => json.includes(core));
  };
  return Object.assign(redact, { spares });
}

/**
 * For each secret its longest run of letters that stand for themselves everywhere, which stands in all of its written forms, and each of
 * its encoded ones: a text without any of them holds no secret. A secret without such a run has the empty text, which stands in every
 * text.
 */
function coresOf(secrets: readonly string[]): string[] {
  const long = secrets.filter((secret) => secret.length >= secretMin);
  const runs = long.map((secret) => (secret.match(sameRuns) ?? []).reduce((a, b) => (b.length > a.length ? b : a), ""));
  return [...new Set([...runs, ...long.flatMap(encodedForms)])];
}

/** Every form of every secret, the longest first: one secret may begin with another. */
function orderedForms(secrets: readonly string[]): string[] {
  const long = secrets.filter((secret) => secret.length >= secretMin);
  const forms = long.flatMap((secret) => [...formsOf(secret), ...encodedForms(secret)]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/**
 * A copy of a result in which every text is redacted; the same value when nothing had to be. An app that repeats the credential it
 * was sent does not get it into an answer.
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
  const entries = Object.entries(value).map(([key, child]) => [key, child, redactEach(child, redact)] as const);
  if (entries.every(([, before, after]) => before === after)) return value;
  return Object.fromEntries(entries.map(([key, , after]) => [key, after]));
}

/** Letters that stand for themselves in JSON, in a URL, in a form and in HTML. */
const sameEverywhere = /^[\w.~-]*$/;
const sameRuns = /[\w.~-]+/g;

function formsOf(secret: string): string[] {
  if (sameEverywhere.test(secret)) return [secret];
  const inUrl = encodeURIComponent(secret.toWellFormed());
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    inUrl,
    inUrl.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    inUrl.replaceAll("%20", "+"),
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  ];
}

/** The letters that a secret alone decides of the bytes that hold it, in hex and at each place of three bytes that base64 begins at. */
function encodedForms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  if (bytes.length < encodedMin) return [];
  const inBase64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  const inHex = bytes.toString("hex");
  const inUrls = inBase64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set([...inBase64, ...inUrls, inHex, inHex.toUpperCase()])];
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
