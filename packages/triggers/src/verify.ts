import type { Webhook } from "@svc/catalog";
import { createHmacKey, equalConstantTime, type HmacKey, isHmacSha256 } from "@svc/core";
import type { InboundPost } from "./outcome.ts";

/** A secret with which posts are signed, prepared for many verifications. */
export type WebhookSecret = { readonly text: string; readonly key: HmacKey };

/** Maximum difference between a slack_v0 timestamp and svc's clock, earlier or later, in milliseconds. */
const toleranceMs = 5 * 60_000;

/**
 * True if a post was signed with one of the toolkit's secrets. The function is pure: its result depends only on bytes, headers, secrets and
 * time. Comparing two signatures takes the same time wherever they differ. A missing or empty signature is never valid.
 */
export function isVerified(
  webhook: Webhook,
  post: InboundPost,
  secrets: readonly WebhookSecret[],
  nowMs: number,
): boolean {
  switch (webhook.scheme) {
    case "hmac_sha256":
      return isHmacRight(webhook, post, secrets);
    case "slack_v0":
      return isSlackRight(post, secrets, nowMs);
    case "token_query":
      return isQueryVerified(webhook, post.query, secrets) === true;
  }
}

/** True if the query of a post proves its sender, false if it is wrong. Undefined if the signature of the body decides. */
export function isQueryVerified(
  webhook: Webhook,
  query: URLSearchParams,
  secrets: readonly WebhookSecret[],
): boolean | undefined {
  return webhook.scheme === "token_query" ? isTokenRight(query.getAll(webhook.parameter), secrets) : undefined;
}

/**
 * Returns the secrets in a variable, separated by white space. Each of them is valid, so that a secret can be rotated without an
 * interruption.
 */
export function secretsOf(value: string | undefined): readonly WebhookSecret[] {
  const texts = value?.split(/\s+/).filter((text) => text !== "") ?? [];
  return texts.map((text) => ({ text, key: createHmacKey(text) }));
}

function isHmacRight(
  webhook: Extract<Webhook, { scheme: "hmac_sha256" }>,
  post: InboundPost,
  secrets: readonly WebhookSecret[],
): boolean {
  const header = post.headers[webhook.header];
  if (header === undefined || !header.startsWith(webhook.prefix)) return false;
  return isSignedBy(header.slice(webhook.prefix.length), webhook.encoding, secrets, [post.body]);
}

/**
 * True if the signature of the scheme slack_v0 is right (https://api.slack.com/authentication/verifying-requests-from-slack): `v0=` and the
 * HMAC in hex of `v0:<timestamp>:<body>`.
 */
function isSlackRight(post: InboundPost, secrets: readonly WebhookSecret[], nowMs: number): boolean {
  const timestamp = post.headers["x-slack-request-timestamp"];
  const header = post.headers["x-slack-signature"];
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp) || header === undefined || !header.startsWith("v0="))
    return false;
  if (Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs) return false;
  return isSignedBy(header.slice(3), "hex", secrets, [`v0:${timestamp}:`, post.body]);
}

/**
 * True if the token in the query is right. A repeated parameter is not valid, because one reader could use its first value and another
 * reader its last value.
 */
function isTokenRight(tokens: readonly string[], secrets: readonly WebhookSecret[]): boolean {
  const [token] = tokens;
  if (tokens.length !== 1 || token === undefined || token === "") return false;
  return secrets.reduce((isRight, { text }) => equalConstantTime(token, text) || isRight, false);
}

function isSignedBy(
  signature: string,
  encoding: "hex" | "base64",
  secrets: readonly WebhookSecret[],
  parts: readonly (string | Buffer)[],
): boolean {
  return secrets.reduce((isRight, { key }) => isHmacSha256(signature, key, parts, encoding) || isRight, false);
}
