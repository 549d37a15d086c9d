import type { AppRequest } from "@svc/connections";
import { isRawJson } from "@svc/core";
import { masked } from "./mask.ts";

/** Takes secrets out of a text that is not ours, such as an app's error that quotes what it was sent. */
export type Redactor = (text: string) => string;

/** What is shorter stands in too many words by chance. */
const secretMin = 3;

/** Replaces every secret by `***`, as it is and as it stands in JSON, in a URL, in a form or in HTML. */
export function createRedactor(secrets: readonly string[]): Redactor {
  // Made with the first text: an answer without any is common, and forms are dear.
  let ordered: readonly string[] | undefined;
  return (text) => {
    ordered ??= orderedForms(secrets);
    return ordered.reduce((rest, form) => rest.replaceAll(form, masked), text);
  };
}

/** Every form of every secret, the longest first: one secret may begin with another. */
function orderedForms(secrets: readonly string[]): string[] {
  const forms = secrets.filter((secret) => secret.length >= secretMin).flatMap(formsOf);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/**
 * A copy of a result in which every text is redacted; the same value when nothing had to be. An app that repeats the credential it
 * was sent does not get it into an answer.
 */
export function redactTexts(value: unknown, redact: Redactor): unknown {
  // Shorter texts hold no secret: most ids and names of a large result are not even searched.
  if (typeof value === "string") return value.length < secretMin ? value : redact(value);
  if (typeof value !== "object" || value === null || isRawJson(value)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => redactTexts(item, redact));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, child]) => [key, child, redactTexts(child, redact)] as const);
  if (entries.every(([, before, after]) => before === after)) return value;
  return Object.fromEntries(entries.map(([key, , after]) => [key, after]));
}

/** Letters that stand for themselves in JSON, in a URL, in a form and in HTML. */
const sameEverywhere = /^[\w.~-]*$/;

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

/** The credential in a request, in every form an app may quote it: what authorizing added to headers and query. */
export function credentialsOf(before: AppRequest, after: AppRequest): string[] {
  const headers = Object.entries(after.headers).filter(([name, value]) => before.headers[name] !== value);
  const known = new Set(URL.parse(before.url)?.searchParams.values());
  const query = [...(URL.parse(after.url)?.searchParams.values() ?? [])].filter((value) => !known.has(value));
  return [...headers.flatMap(([, value]) => formsOfHeader(value)), ...query];
}

/** `Bearer x` is quoted as a whole or as x; of `Basic x` the password as well. */
function formsOfHeader(value: string): string[] {
  const [, scheme = "", credential] = /^(\S+) +(\S.*)$/.exec(value) ?? [];
  if (credential === undefined) return [value];
  if (scheme.toLowerCase() !== "basic") return [value, credential];
  const pair = Buffer.from(credential, "base64").toString("utf8");
  return [value, credential, pair, pair.slice(pair.indexOf(":") + 1)];
}
