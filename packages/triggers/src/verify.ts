import { createHmac, timingSafeEqual } from "node:crypto";
import type { Webhook } from "@svc/catalog";
import { equalConstantTime } from "@svc/core";
import type { InboundPost } from "./outcome.ts";

/** How far a slack_v0 timestamp may be off, either way. */
const toleranceMs = 5 * 60_000;

/**
 * Whether a post was signed with one of the toolkit's secrets. Pure: bytes, headers, secrets and the present decide.
 * Comparison takes the same time wherever two signatures differ; a missing or empty signature is never right.
 */
export function isVerified(webhook: Webhook, post: InboundPost, secrets: readonly string[], nowMs: number): boolean {
  switch (webhook.scheme) {
    case "hmac_sha256":
      return isHmacRight(webhook, post, secrets);
    case "slack_v0":
      return isSlackRight(post, secrets, nowMs);
    case "token_query":
      return isQueryVerified(webhook, post.query, secrets) === true;
  }
}

/** Whether a post that is signed in its query is signed right; undefined where its body decides. */
export function isQueryVerified(
  webhook: Webhook,
  query: URLSearchParams,
  secrets: readonly string[],
): boolean | undefined {
  return webhook.scheme === "token_query" ? isTokenRight(query.getAll(webhook.parameter), secrets) : undefined;
}

/** The secrets a variable holds, separated by white space: all of them verify, so one can be rotated without a gap. */
export function secretsOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split(/\s+/).filter((secret) => secret !== "");
}

function isHmacRight(
  webhook: Extract<Webhook, { scheme: "hmac_sha256" }>,
  post: InboundPost,
  secrets: readonly string[],
): boolean {
  const header = post.headers[webhook.header];
  if (header === undefined || !header.startsWith(webhook.prefix)) return false;
  const signature = decodeSignature(header.slice(webhook.prefix.length), webhook.encoding);
  return signature !== undefined && isSignedBy(signature, secrets, [post.body]);
}

/** https://api.slack.com/authentication/verifying-requests-from-slack: `v0=` and the hex HMAC of `v0:<timestamp>:<body>`. */
function isSlackRight(post: InboundPost, secrets: readonly string[], nowMs: number): boolean {
  const timestamp = post.headers["x-slack-request-timestamp"];
  const header = post.headers["x-slack-signature"];
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp) || header === undefined || !header.startsWith("v0="))
    return false;
  if (Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs) return false;
  const signature = decodeSignature(header.slice(3), "hex");
  return signature !== undefined && isSignedBy(signature, secrets, [`v0:${timestamp}:`, post.body]);
}

/** Given more than once, the parameter says nothing: whoever reads the first and whoever reads the last would disagree. */
function isTokenRight(tokens: readonly string[], secrets: readonly string[]): boolean {
  const [token] = tokens;
  if (tokens.length !== 1 || token === undefined || token === "") return false;
  return secrets.reduce((isRight, secret) => equalConstantTime(token, secret) || isRight, false);
}

function isSignedBy(signature: Buffer, secrets: readonly string[], parts: readonly (string | Buffer)[]): boolean {
  return secrets.reduce((isRight, secret) => {
    const hmac = createHmac("sha256", secret);
    for (const part of parts) hmac.update(part);
    return timingSafeEqual(hmac.digest(), signature) || isRight;
  }, false);
}

// The last digit of the base64 of 32 bytes carries four bits: with others set it would be a second spelling.
const patterns = { hex: /^[0-9a-fA-F]{64}$/, base64: /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/ };

/** The 32 bytes of a signature; undefined when it is not exactly that in its encoding. */
function decodeSignature(text: string, encoding: "hex" | "base64"): Buffer | undefined {
  return patterns[encoding].test(text) ? Buffer.from(text, encoding) : undefined;
}
