import { createHmac } from "node:crypto";
import type { InboundPost } from "@svc/node";

/**
 * The value of SVC_PUBLIC_URL (the public address of svc) in these tests. Some apps sign the address that they post to, so their signatures
 * contain this value.
 */
export const signedUrl = "https://hooks.example.com/svc";

/** The bytes of the key with which posts are signed, for the kinds of signatures whose secret contains the key in base64. */
export const keyBytes = Buffer.from("a key of 32 bytes, as it is sent");

type WebhookPart = { readonly scheme: string; readonly [parameter: string]: unknown };
/**
 * A way to sign webhook posts, for tests. `webhook`: the field `webhook` of the toolkit definition. `post`: signs a post without svc's own
 * code.
 */
export type SignedForm = {
  readonly webhook: WebhookPart;
  readonly secret?: string;
  readonly body: string;
  /**
   * Maximum difference in milliseconds between the time that a post states and the time at which svc verifies the post. Undefined if the
   * signature covers no time.
   */
  readonly toleranceMs?: number;
  /** Returns the signed post. `target`: path and query of the post, for signatures that cover the address. */
  post(body: string, key: string | Buffer, atMs: number, target?: string): Partial<InboundPost>;
};

/** Returns the HMAC-SHA256 of a text. The caller still has to choose its encoding, with `digest`. */
export const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text);
/** Headers of a post whose body is an HTML form and not JSON. */
export const form = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
/** A JSON body with a letter outside of ASCII and a decimal. */
export const json = '{"id":"évt 1","amount":12.50}';
const fiveMinutes = 300_000;

/** The kinds of signatures and tokens that apps use, by a description. */
export const forms: Record<string, SignedForm> = {
  "hex after a prefix": {
    webhook: { scheme: "hmac_sha256", header: "X-Code-Signature-256", encoding: "hex", prefix: "sha256=" },
    body: json,
    post: (body, key) => ({ headers: { "x-code-signature-256": `sha256=${hmac(key, body).digest("hex")}` } }),
  },
  "base64 alone": {
    webhook: { scheme: "hmac_sha256", header: "x-shop-hmac-sha256", encoding: "base64" },
    body: json,
    post: (body, key) => ({ headers: { "x-shop-hmac-sha256": hmac(key, body).digest("base64") } }),
  },
  "base64 after a prefix": {
    webhook: { scheme: "hmac_sha256", header: "x-signature", encoding: "base64", prefix: "sha256=" },
    body: json,
    post: (body, key) => ({ headers: { "x-signature": `sha256=${hmac(key, body).digest("base64")}` } }),
  },
  "base64url without padding": {
    webhook: { scheme: "hmac_sha256", header: "x-signature", encoding: "base64url" },
    body: json,
    post: (body, key) => ({ headers: { "x-signature": hmac(key, body).digest("base64url") } }),
  },
  "time and signatures in one header": {
    webhook: {
      ...{ scheme: "hmac_sha256", header: "x-signature", split: "comma", prefix: "v1=", encoding: "hex" },
      ...{ signed: "{{signature.t}}.{{body}}", timestamp: "{{signature.t}}" },
    },
    body: json,
    toleranceMs: fiveMinutes,
    post(body, key, atMs) {
      const t = Math.floor(atMs / 1000);
      const right = hmac(key, `${t}.${body}`).digest("hex");
      return { headers: { "x-signature": `t=${t},v1=${right},v0=${hmac("other", body).digest("hex")}` } };
    },
  },
  "time and signature, separated by a semicolon": {
    webhook: {
      ...{ scheme: "hmac_sha256", header: "x-signature", split: "semicolon", prefix: "h1=", encoding: "hex" },
      ...{ signed: "{{signature.ts}}:{{body}}", timestamp: "{{signature.ts}}" },
    },
    body: json,
    toleranceMs: fiveMinutes,
    post(body, key, atMs) {
      const ts = Math.floor(atMs / 1000);
      return { headers: { "x-signature": `ts=${ts};h1=${hmac(key, `${ts}:${body}`).digest("hex")}` } };
    },
  },
  "several signatures, no time": {
    webhook: { scheme: "hmac_sha256", header: "x-signature", split: "comma", prefix: "v1=", encoding: "hex" },
    body: json,
    post: (body, key) => ({
      headers: {
        "x-signature": `v1=${hmac("the former secret", body).digest("hex")},v1=${hmac(key, body).digest("hex")}`,
      },
    }),
  },
  slack_v0: {
    webhook: { scheme: "slack_v0" },
    body: "command=%2Fdeploy&text=now",
    toleranceMs: fiveMinutes,
    post(body, key, atMs) {
      const time = String(Math.floor(atMs / 1000));
      const signature = `v0=${hmac(key, `v0:${time}:${body}`).digest("hex")}`;
      return { headers: { ...form, "x-slack-request-timestamp": time, "x-slack-signature": signature } };
    },
  },
  "the same with headers of another name": {
    webhook: {
      ...{ scheme: "hmac_sha256", header: "x-meet-signature", prefix: "v0=", encoding: "hex" },
      ...{
        signed: "v0:{{headers.x-meet-request-timestamp}}:{{body}}",
        timestamp: "{{headers.x-meet-request-timestamp}}",
      },
    },
    body: json,
    toleranceMs: fiveMinutes,
    post(body, key, atMs) {
      const time = String(Math.floor(atMs / 1000));
      const signature = `v0=${hmac(key, `v0:${time}:${body}`).digest("hex")}`;
      return { headers: { "x-meet-request-timestamp": time, "x-meet-signature": signature } };
    },
  },
  "Standard Webhooks": {
    webhook: {
      ...{ scheme: "hmac_sha256", header: ["webhook-signature", "other-signature"], split: "space", prefix: "v1," },
      ...{ encoding: "base64", secret: { encoding: "base64", prefix: "whsec_" } },
      signed: "{{headers.webhook-id}}.{{headers.webhook-timestamp}}.{{body}}",
      timestamp: "{{headers.webhook-timestamp}}",
    },
    secret: `whsec_${keyBytes.toString("base64")}`,
    body: json,
    toleranceMs: fiveMinutes,
    post(body, key, atMs) {
      const bytes = typeof key === "string" && key.startsWith("whsec_") ? Buffer.from(key.slice(6), "base64") : key;
      const time = String(Math.floor(atMs / 1000));
      const signature = hmac(bytes, `msg_1.${time}.${body}`).digest("base64");
      const headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": time,
        "webhook-signature": `v1a,abc= v1,${signature}`,
      };
      return { headers };
    },
  },
  "address and form": {
    webhook: { scheme: "hmac_sha256", header: "x-form-signature", encoding: "base64", signed: "{{url}}{{form}}" },
    body: "To=%2B18005551212&From=%2B14158675309&Body=caf%C3%A9+au+lait&CallSid=CA12",
    post(body, key, _atMs, target = "/webhooks/watcher?foo=1&bar=2") {
      const fields = [...new URLSearchParams(body)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => k + v);
      const signature = hmac(key, `${signedUrl}${target}${fields.join("")}`).digest("base64");
      return { headers: { ...form, "x-form-signature": signature }, target };
    },
  },
  "address and body": {
    webhook: { scheme: "hmac_sha256", header: "x-hmacsha256-signature", encoding: "base64", signed: "{{url}}{{body}}" },
    body: json,
    post: (body, key, _atMs, target = "/webhooks/watcher") => ({
      headers: { "x-hmacsha256-signature": hmac(key, `${signedUrl}${target}${body}`).digest("base64") },
      target,
    }),
  },
  "method, address, body and time": {
    webhook: {
      ...{ scheme: "hmac_sha256", header: "x-signature-v3", encoding: "base64" },
      signed: "{{method}}{{url}}{{body}}{{headers.x-request-timestamp}}",
      timestamp: "{{headers.x-request-timestamp}}",
    },
    body: '[{"eventId":1}]',
    toleranceMs: fiveMinutes,
    post(body, key, atMs, target = "/webhooks/watcher") {
      const signature = hmac(key, `POST${signedUrl}${target}${body}${atMs}`).digest("base64");
      return {
        headers: { "x-request-timestamp": String(atMs), "x-signature-v3": signature },
        target,
      };
    },
  },
  "time before the body, as RFC 3339": {
    webhook: {
      ...{ scheme: "hmac_sha256", header: "x-signature", encoding: "base64" },
      signed: "{{headers.x-signature-timestamp}}{{body}}",
      timestamp: "{{headers.x-signature-timestamp}}",
    },
    body: json,
    toleranceMs: fiveMinutes,
    post(body, key, atMs) {
      const time = new Date(atMs).toISOString().replace(".000Z", "Z");
      const signature = hmac(key, `${time}${body}`).digest("base64");
      return { headers: { "x-signature-timestamp": time, "x-signature": signature } };
    },
  },
  "time in the body": {
    webhook: {
      ...{ scheme: "hmac_sha256", header: "x-signature", encoding: "hex" },
      ...{ timestamp: "{{body.webhookTimestamp}}", tolerance: "1m" },
    },
    body: '{"action":"create","webhookTimestamp":TIME}',
    toleranceMs: 60_000,
    post(template, key, atMs) {
      const body = template.replace("TIME", String(atMs));
      return { headers: { "x-signature": hmac(key, body).digest("hex") }, body: Buffer.from(body) };
    },
  },
  "a token in the query": {
    webhook: { scheme: "token_query", parameter: "token" },
    body: json,
    post: (_body, key) => ({ query: new URLSearchParams({ token: String(key) }) }),
  },
  "a token in a header": {
    webhook: { scheme: "token_query", header: ["X-Secret-Token", "x-forge-token"] },
    body: json,
    post: (_body, key) => ({ headers: { "x-forge-token": String(key) } }),
  },
  "a bearer token": {
    webhook: { scheme: "token_query", header: "authorization", prefix: "Bearer " },
    body: json,
    post: (_body, key) => ({ headers: { authorization: `Bearer ${String(key)}` } }),
  },
  "basic authentication": {
    webhook: { scheme: "token_query", basic: true },
    secret: "user:pa:ss",
    body: json,
    post: (_body, key) => ({ headers: { authorization: `Basic ${Buffer.from(String(key)).toString("base64")}` } }),
  },
};
