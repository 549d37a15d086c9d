import {
  hmacSha256,
  type Placeholder,
  parseExactJson,
  parseTemplate,
  placeholdersOf,
  readForeignText,
} from "@svc/core";
import type { SigningTime, UnsignedPost, WebhookSecret } from "../model.ts";
import { readProviderTime } from "../schema/provider-time.ts";
import { nameOfPlaceholder, type ReadPlaceholder, readSigned } from "./placeholders.ts";

/** Parts of a webhook's signature: where it is in a post, and what it covers. They are prepared once for many posts. */
export type HmacParts = {
  readonly headers: readonly string[];
  readonly prefix: string;
  readonly separator: string | undefined;
  readonly encoding: "hex" | "base64" | "base64url";
  /** Template of the text that is signed, as the webhook's definition contains it. */
  readonly signedText: string;
  readonly signed: readonly ReadPlaceholder[];
  /**
   * Template of the time that a webhook's signature covers, as written in the webhook's definition. Undefined if the webhook's definition
   * declares no signed time.
   */
  readonly timestampText: string | undefined;
};

/**
 * Returns a webhook post with its signature. Adds the current time, and each missing value that the signature covers (headers, parameters,
 * parts of the signature header). If the time is in the body, replaces it there. Throws an Error if the signature covers the address and
 * `publicUrl` is not given.
 */
export function signHmac(parts: HmacParts, post: UnsignedPost, secret: WebhookSecret, at: SigningTime): UnsignedPost {
  const { nowMs, publicUrl } = at;
  const times = placeholdersIn(parts.timestampText ?? "");
  const time = String(Math.floor(nowMs / 1000));
  const isTime = (place: Placeholder) => times.some((other) => isSamePlace(place, other));
  const headers = { ...post.headers };
  const query = { ...post.query };
  const named = new Map<string, string>();
  for (const place of [...placeholdersIn(parts.signedText), ...times]) {
    const name = nameOfPlaceholder(place);
    const value = isTime(place) ? time : `sample-${name}-${nowMs}`;
    if (place.root === "signature") named.set(name, value);
    const fields = place.root === "headers" ? headers : place.root === "query" ? query : undefined;
    if (fields !== undefined && (isTime(place) || fields[name] === undefined)) fields[name] = value;
  }
  const body = times.reduce(
    (bytes, { root, path }) => (root === "body" ? withTime(bytes, path, nowMs) : bytes),
    post.body,
  );
  const search = new URLSearchParams(query);
  const target = `${post.path}${search.size === 0 ? "" : `?${search}`}`;
  const bytes = readSigned(parts.signed, { headers, query: search, body, target, signature: named, publicUrl });
  if (bytes === undefined)
    throw new Error(
      publicUrl === undefined && placeholdersIn(parts.signedText).some(({ root }) => root === "url")
        ? "the signature covers the public address of the service, and no address is given"
        : "the post lacks a value that the signature covers",
    );
  const signature = `${parts.prefix}${signatureOf(parts, secret, bytes)}`;
  const separator = parts.separator ?? "";
  const pieces = [...[...named].map(([name, value]) => `${name}=${value}`), signature];
  return { ...post, headers: { ...headers, [parts.headers[0] ?? ""]: pieces.join(separator) }, query, body };
}

function signatureOf({ encoding }: HmacParts, { key }: WebhookSecret, bytes: readonly (Buffer | string)[]): string {
  if (encoding !== "base64url") return hmacSha256(key, bytes, encoding);
  return Buffer.from(hmacSha256(key, bytes, "hex"), "hex").toString("base64url");
}

const placeholdersIn = (text: string) => placeholdersOf(parseTemplate(text));

/** True if two placeholders read the same value of a webhook post. */
export function isSamePlace(one: Placeholder, other: Placeholder): boolean {
  return one.root === other.root && nameOfPlaceholder(one) === nameOfPlaceholder(other);
}

/**
 * Returns the bytes of a JSON object after one field was set to the current time, in milliseconds. If the field already contains a time
 * less than 30 seconds from the current time, returns the bytes unchanged.
 */
function withTime(bytes: Buffer, path: readonly (string | number)[], nowMs: number): Buffer {
  const read = readForeignText(bytes);
  const body = "fault" in read ? undefined : parsed(read.text === "" ? "{}" : read.text);
  let target = body as Record<string | number, unknown> | undefined | null;
  for (const step of path.slice(0, -1)) {
    if (typeof target !== "object" || target === null) return bytes;
    target[step] ??= {};
    target = target[step] as typeof target;
  }
  const last = path.at(-1);
  if (typeof target !== "object" || target === null || last === undefined) return bytes;
  const givenMs = readProviderTime(target[last]);
  if (givenMs !== undefined && Math.abs(givenMs - nowMs) < 30_000) return bytes;
  target[last] = nowMs;
  return Buffer.from(JSON.stringify(body));
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** Returns a webhook post that contains the secret. The secret is in the parameter or header in which the app's toolkit expects it. */
export function signToken(
  where: { readonly parameter?: string; readonly header?: readonly string[]; readonly prefix?: string },
  post: UnsignedPost,
  { text }: WebhookSecret,
): UnsignedPost {
  const { parameter, header, prefix = "" } = where;
  if (parameter !== undefined) return { ...post, query: { ...post.query, [parameter]: text } };
  const [name, value] =
    header === undefined
      ? ["authorization", `Basic ${Buffer.from(text).toString("base64")}`]
      : [header[0] ?? "", prefix + text];
  return { ...post, headers: { ...post.headers, [name]: value } };
}
