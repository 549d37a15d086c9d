import { createHmacKey, equalConstantTime, isHmacSha256, parseDuration } from "@svc/core";
import type { ArrivedPost, Verifier, WebhookSecret } from "../model.ts";
import type { HmacDocument, TokenDocument, WebhookDocument } from "../read/documents.ts";
import { readProviderTime } from "../schema/provider-time.ts";
import { compileSigned, compileTimeSource, headerOf, onlyValue, readSigned } from "./placeholders.ts";
import { type HmacParts, signHmac, signToken } from "./sign.ts";

/** Maximum number of signatures that svc compares in one webhook post. A post with more is refused. */
const signaturesMax = 20;

/**
 * Largest difference between the time of a webhook post and the time of svc, earlier or later, if the toolkit's YAML definition declares
 * none.
 */
const toleranceDefault = "5m";

/**
 * Character that separates the parts of a signature header. The key is the word for this character in the field `split` of a toolkit's
 * definition.
 */
const separators = { comma: ",", semicolon: ";", space: " " } as const;

/** The signature scheme `slack_v0`, written as parameters of the general scheme `hmac_sha256`. */
const slackV0 = {
  scheme: "hmac_sha256",
  header: "x-slack-signature",
  encoding: "hex",
  prefix: "v0=",
  signed: "v0:{{headers.x-slack-request-timestamp}}:{{body}}",
  timestamp: "{{headers.x-slack-request-timestamp}}",
} as const;

/** Reads a time of the scheme `slack_v0`, which is Unix time in seconds only. */
const readSlackTime = (value: unknown) => (/^\d{1,12}$/.test(String(value)) ? Number(value) * 1000 : undefined);

/** Returns the verifier of a webhook's posts. The verifier can also sign posts, for samples. */
export function compileVerifier(document: WebhookDocument): Verifier {
  switch (document.scheme) {
    case "hmac_sha256":
      return compileHmac(document.scheme, document, readProviderTime);
    case "slack_v0":
      return compileHmac(document.scheme, slackV0, readSlackTime);
    case "token_query":
      return compileToken(document);
  }
}

function compileHmac(
  scheme: Verifier["scheme"],
  document: Omit<HmacDocument, "secretEnv">,
  readTime: (value: unknown) => number | undefined,
): Verifier {
  const { encoding, prefix = "", split, signed = "{{body}}", timestamp, tolerance = toleranceDefault } = document;
  const headers = [document.header].flat().map((name) => name.toLowerCase());
  const parts: HmacParts = {
    ...{ headers, prefix, encoding, signedText: signed, timestampText: timestamp },
    separator: split && separators[split],
    signed: compileSigned(signed),
  };
  const toleranceMs = parseDuration(tolerance);
  const timeOf = timestamp === undefined ? undefined : compileTimeSource(timestamp);
  const isInTime = (reading: ArrivedPost, nowMs: number) => {
    if (timeOf === undefined) return true;
    const atMs = readTime(timeOf(reading));
    return atMs !== undefined && Math.abs(nowMs - atMs) <= toleranceMs;
  };
  const form = encoding === "hex" ? "hex" : "base64";
  const secret = document.secret ?? {};
  const shown = split === undefined ? {} : { split };
  return {
    ...{ scheme, header: headers[0] ?? "", prefix, encoding, parameter: "" },
    parameters: {
      ...{ header: headers, ...shown, prefix, encoding, signed, secret },
      ...(timestamp === undefined ? {} : { timestamp, tolerance }),
    },
    needsUrl: /\{\{\s*url\s*\}\}/.test(signed),
    secretHeaders: new Set(headers),
    secretOf: (text) => secretOf(text, secret),
    isHeadVerified: () => undefined,
    isVerified(post, secrets, { nowMs, publicUrl }) {
      const found = findSignatures(parts, post);
      if (found === undefined) return false;
      const reading = { ...post, signature: found.named, publicUrl };
      const bytes = readSigned(parts.signed, reading);
      if (bytes === undefined) return false;
      const isSigned = secrets.reduce((is, { key }) => isHmacSha256(found.signatures, key, bytes, form) || is, false);
      return isSigned && isInTime(reading, nowMs);
    },
    whyUnverified(post, secrets, { publicUrl }) {
      if (headers.every((name) => headerOf(post, name) === undefined))
        return `it has no header ${headers.join(" or ")}`;
      const found = findSignatures(parts, post);
      const shape = `${prefix}<${encoding}>`;
      if (found === undefined) return `its header ${headers.join(" or ")} has no signature of the form ${shape}`;
      const bytes = readSigned(parts.signed, { ...post, signature: found.named, publicUrl });
      if (bytes === undefined) return `it lacks a value that the signature covers, which is ${signed}`;
      const isSigned = secrets.some(({ key }) => isHmacSha256(found.signatures, key, bytes, form));
      if (isSigned) return `its time is more than ${tolerance} from now, or cannot be read`;
      return `no secret of the webhook makes its signature over ${signed}`;
    },
    sign: (post, secret, at) => signHmac(parts, post, secret, at),
  };
}

/**
 * The content of a webhook post's signature header. `signatures`: all signatures in the header. `named`: the parts of the header that are
 * not signatures, such as `t` in `t=1700000000,v1=abc`, by name; undefined for a name that occurs twice.
 */
type FoundSignatures = {
  readonly signatures: readonly string[];
  readonly named: ReadonlyMap<string, string | undefined>;
};

const noNames: FoundSignatures["named"] = new Map();

/**
 * Returns the signatures in a webhook post. They are in the first of the declared headers that the post has. Returns undefined if the post
 * has none of the headers, or if the header contains no signature or too many.
 */
function findSignatures(parts: HmacParts, post: ArrivedPost): FoundSignatures | undefined {
  const { headers, prefix, separator, encoding } = parts;
  const header = headers.map((name) => headerOf(post, name)).find((value) => value !== undefined);
  if (header === undefined) return undefined;
  const ofText = (text: string) => (encoding === "base64url" ? toBase64(text) : text);
  if (separator === undefined) {
    return header.startsWith(prefix)
      ? { signatures: [ofText(header.slice(prefix.length))], named: noNames }
      : undefined;
  }
  const signatures: string[] = [];
  const named = new Map<string, string | undefined>();
  for (const piece of header.split(separator)) {
    const part = piece.trim();
    const equals = part.indexOf("=");
    const name = part.slice(0, equals);
    if (part.startsWith(prefix)) signatures.push(ofText(part.slice(prefix.length)));
    else if (equals > 0) named.set(name, named.has(name) ? undefined : part.slice(equals + 1));
  }
  return signatures.length === 0 || signatures.length > signaturesMax ? undefined : { signatures, named };
}

/**
 * Returns the base64 form of a signature in base64url, with or without padding. Returns an empty text if the signature is not in base64url.
 */
function toBase64(text: string): string {
  if (!/^[\w-]{43}=?$/.test(text)) return "";
  return `${text.slice(0, 43).replaceAll("-", "+").replaceAll("_", "/")}=`;
}

/** Returns a webhook secret and the HMAC key made of it. Undefined if the secret is empty or not in the given encoding. */
function secretOf(text: string, { encoding = "utf8", prefix = "" }: NonNullable<HmacDocument["secret"]>) {
  const rest = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  const key = keyBytes(rest, encoding);
  return key === undefined || key.byteLength === 0 ? undefined : { text, key: createHmacKey(key) };
}

function keyBytes(text: string, encoding: "utf8" | "hex" | "base64"): Buffer | undefined {
  const form = { utf8: /^/, hex: /^(?:[0-9a-f]{2})+$/i, base64: /^(?:[\w+/-]{4})*[\w+/-]{2,4}={0,2}$/ }[encoding];
  return form.test(text) ? Buffer.from(text, encoding) : undefined;
}

function compileToken(document: TokenDocument): Verifier {
  const { parameter, prefix = "", basic = false } = document;
  const headers = basic ? ["authorization"] : [document.header ?? []].flat().map((name) => name.toLowerCase());
  const tokenOf = ({ headers: given, query }: Pick<ArrivedPost, "headers" | "query">) => {
    if (parameter !== undefined) return onlyValue(query, parameter);
    const header = headers.map((name) => headerOf({ headers: given }, name)).find((value) => value !== undefined);
    if (basic) return basicCredentials(header);
    return header?.startsWith(prefix) ? Buffer.from(header.slice(prefix.length), "latin1") : undefined;
  };
  const isHeadVerified: Verifier["isHeadVerified"] = (post, secrets) => isToken(tokenOf(post), secrets);
  const where = parameter === undefined ? (basic ? { basic } : { header: headers, prefix }) : { parameter };
  return {
    ...{ scheme: document.scheme, header: headers[0] ?? "", prefix, encoding: "", parameter: parameter ?? "" },
    parameters: where,
    needsUrl: false,
    secretHeaders: new Set(headers),
    secretOf: (text) => (basic && !text.includes(":") ? undefined : secretOf(text, {})),
    isHeadVerified,
    isVerified: (post, secrets) => isHeadVerified(post, secrets) === true,
    whyUnverified(post) {
      const place = parameter === undefined ? `header ${headers.join(" or ")}` : `query parameter ${parameter}`;
      return tokenOf(post) === undefined
        ? `its ${place} is missing or has another form`
        : `its ${place} has no secret of the webhook`;
    },
    sign: (post, secret) => signToken(where, post, secret),
  };
}

/** True if a token equals one of the secrets. An empty token is never right. The comparison takes the same time for every token. */
export function isToken(token: Buffer | string | undefined, secrets: readonly Pick<WebhookSecret, "text">[]): boolean {
  if (token === undefined || token.length === 0) return false;
  return secrets.reduce((isRight, { text }) => equalConstantTime(token, text) || isRight, false);
}

/** Returns `user:password` of basic authentication; undefined if the header has another form. */
function basicCredentials(header: string | undefined): Buffer | undefined {
  const found = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i.exec(header ?? "")?.[1];
  return found === undefined ? undefined : Buffer.from(found, "base64");
}
