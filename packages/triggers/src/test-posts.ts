import { createHmac } from "node:crypto";
import type { InboundPost } from "./outcome.ts";
import { sampleSecrets } from "./test-node.ts";

/**
 * A webhook post of a sample toolkit (app), signed as its app would sign it. The signature is made with node:crypto only, by the
 * description of the app's documentation.
 */
export type SignedPost = InboundPost;

const secretOf = (toolkit: string) => sampleSecrets[`SVC_WEBHOOK_SECRET_${toolkit.toUpperCase()}`] ?? "";

/** Returns a webhook post about an opened issue, signed with the scheme hmac_sha256 (hex, with the prefix `sha256=`). */
export function issuePost(
  fields: { number?: unknown; title?: unknown; delivery?: string; organization?: unknown; createdAt?: unknown } = {},
  secret = secretOf("code_host"),
): SignedPost {
  const { number = 7, title = "It does not start", organization = "org-1", createdAt } = fields;
  const text = JSON.stringify({
    action: "opened",
    issue: { number, title, labels: ["bug"], created_at: createdAt },
    repository: { name: "engine" },
    organization: { id: organization },
  });
  const headers = {
    "x-code-event": "issues",
    ...(fields.delivery === undefined ? {} : { "x-code-delivery": fields.delivery }),
  };
  return signedCodePost(Buffer.from(text), headers, secret);
}

/** Returns a webhook post with any body and headers, signed with the scheme hmac_sha256 (hex, with the prefix `sha256=`). */
export function signedCodePost(
  body: Buffer,
  headers: Record<string, string> = {},
  secret = secretOf("code_host"),
): SignedPost {
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return {
    toolkitSlug: "code_host",
    headers: { "content-type": "application/json", ...headers, "x-code-signature": signature },
    query: new URLSearchParams(),
    body,
  };
}

/** Returns a webhook post about a settled payment, signed with the scheme hmac_sha256 (base64, without prefix). */
export function paymentPost(
  fields: { id?: string; amount?: unknown; account?: unknown; created?: unknown } = {},
  secret = secretOf("payments"),
): SignedPost {
  const { id = "pay-1", amount = 1200, account = "shop-1", created = 1_767_600_000 } = fields;
  const payment = { id, type: "payment.settled", account, created, payment: { id, amount } };
  return signedPayment(Buffer.from(JSON.stringify(payment)), secret);
}

/** Returns a webhook post with any body, signed with the scheme hmac_sha256 (base64, without prefix). */
export function signedPayment(body: Buffer, secret = secretOf("payments")): SignedPost {
  const signature = createHmac("sha256", secret).update(body).digest("base64");
  return { toolkitSlug: "payments", headers: { "x-pay-signature": signature }, query: new URLSearchParams(), body };
}

/** Returns a webhook post about a message, or with any body, signed with the scheme slack_v0 at the time `atMs`. */
export function messagePost(
  atMs: number,
  fields: { body?: Buffer; text?: string; event?: string } = {},
  secret = secretOf("team_chat"),
): SignedPost {
  const { text = "hello", event = "Ev1" } = fields;
  const envelope = {
    type: "event_callback",
    team_id: "T1",
    event_id: event,
    event_time: Math.floor(atMs / 1000),
    event: { type: "message", channel: "C1", text, user: "U1" },
  };
  const body = fields.body ?? Buffer.from(JSON.stringify(envelope));
  const timestamp = String(Math.floor(atMs / 1000));
  const signed = Buffer.concat([Buffer.from(`v0:${timestamp}:`), body]);
  const signature = `v0=${createHmac("sha256", secret).update(signed).digest("hex")}`;
  const headers = { "x-slack-request-timestamp": timestamp, "x-slack-signature": signature };
  return { toolkitSlug: "team_chat", headers, query: new URLSearchParams(), body };
}

/**
 * Returns a sample webhook post of an app that reports a change, with all data in the headers and none in the body. svc verifies the post
 * by a token in the query (scheme token_query).
 */
export function changePost(
  fields: { number?: number | string; channel?: string; state?: string; room?: string } = {},
  token = secretOf("watcher"),
): SignedPost {
  const { number = 1, channel = "ch-1", state = "exists" } = fields;
  const query = new URLSearchParams({ token, ...(fields.room === undefined ? {} : { room: fields.room }) });
  const headers = { "x-watch-state": state, "x-watch-channel": channel, "x-watch-number": String(number) };
  return { toolkitSlug: "watcher", headers, query, body: Buffer.alloc(0) };
}
