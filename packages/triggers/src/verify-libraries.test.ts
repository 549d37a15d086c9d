import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { sign, verify } from "@octokit/webhooks-methods";
import { Paddle } from "@paddle/paddle-node-sdk";
import type { ToolkitDocument } from "@svc/catalog";
import { catalogOf } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { expect, test } from "vitest";

// Tests svc's signatures against the libraries of six senders of webhooks: svc verifies posts that the libraries sign, and the libraries
// accept sample posts that svc signs.

const secret = "a-secret-of-the-tests-0123456789";
const standardSecret = `whsec_${Buffer.from(secret).toString("base64")}`;
const body = JSON.stringify({ webhookTimestamp: Date.now(), id: "évt_1", object: "event", amount: 12.5 });
const at = new Date();
const seconds = Math.floor(at.getTime() / 1000);
const standard = {
  ...{ split: "space", prefix: "v1,", encoding: "base64", secret: { encoding: "base64", prefix: "whsec_" } },
};
const stripe = new Stripe("sk_test_0");
const paddle = new Paddle("key_0");

type Headers = Readonly<Record<string, string>>;

/** A sender's library. `webhook`: the part of a toolkit definition that describes its signature. */
type Library = {
  readonly webhook: object;
  readonly secret?: string;
  /** Returns the headers that the library signs the body with. Undefined if the library only verifies. */
  readonly signs?: () => Headers | Promise<Headers>;
  /** Returns true, or does not throw, if the library accepts a body with these headers. */
  readonly accepts: (headers: Headers, text: string) => unknown;
};

const libraries: Readonly<Record<string, Library>> = {
  "@octokit/webhooks-methods": {
    webhook: { header: "x-hub-signature-256", prefix: "sha256=", encoding: "hex" },
    signs: async () => ({ "x-hub-signature-256": await sign(secret, body) }),
    accepts: (headers, text) => verify(secret, text, headers["x-hub-signature-256"] ?? ""),
  },
  stripe: {
    webhook: {
      ...{ header: "stripe-signature", split: "comma", prefix: "v1=", encoding: "hex" },
      ...{ signed: "{{signature.t}}.{{body}}", timestamp: "{{signature.t}}" },
    },
    signs: () => ({
      "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: seconds }),
    }),
    accepts: (headers, text) => stripe.webhooks.constructEvent(text, headers["stripe-signature"] ?? "", secret),
  },
  svix: {
    webhook: {
      ...{ ...standard, header: "svix-signature", timestamp: "{{headers.svix-timestamp}}" },
      signed: "{{headers.svix-id}}.{{headers.svix-timestamp}}.{{body}}",
    },
    secret: standardSecret,
    signs: () => ({
      "svix-id": "msg_1",
      "svix-timestamp": String(seconds),
      "svix-signature": new SvixWebhook(standardSecret).sign("msg_1", at, body),
    }),
    accepts: (headers, text) => new SvixWebhook(standardSecret).verify(text, headers),
  },
  standardwebhooks: {
    webhook: {
      ...{ ...standard, header: "webhook-signature", timestamp: "{{headers.webhook-timestamp}}" },
      signed: "{{headers.webhook-id}}.{{headers.webhook-timestamp}}.{{body}}",
    },
    secret: standardSecret,
    signs: () => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": String(seconds),
      "webhook-signature": new StandardWebhook(standardSecret).sign("msg_1", at, body),
    }),
    accepts: (headers, text) => new StandardWebhook(standardSecret).verify(text, headers),
  },
  "@paddle/paddle-node-sdk": {
    webhook: {
      ...{ header: "paddle-signature", split: "semicolon", prefix: "h1=", encoding: "hex" },
      ...{ signed: "{{signature.ts}}:{{body}}", timestamp: "{{signature.ts}}" },
    },
    accepts: (headers, text) => paddle.webhooks.isSignatureValid(text, secret, headers["paddle-signature"] ?? ""),
  },
  "@linear/sdk": {
    webhook: {
      ...{ header: "linear-signature", encoding: "hex" },
      ...{ timestamp: "{{body.webhookTimestamp}}", tolerance: "1m" },
    },
    accepts: (headers, text) =>
      new LinearWebhookClient(secret).verify(Buffer.from(text), headers["linear-signature"] ?? ""),
  },
};

function webhookOf(part: object) {
  const { watcher } = sampleToolkits;
  const webhook = { scheme: "hmac_sha256", secretEnv: "SVC_WEBHOOK_SECRET_FORM", ...part } as never;
  const toolkit = { ...watcher.toolkit, webhook: webhook as ToolkitDocument["webhook"] };
  return catalogOf({ toolkits: [{ ...watcher, toolkit: toolkit as never }] }).toolkits.get("watcher")!.webhook!;
}

/** Copies of the body, each with one changed byte. */
const changed = Array.from(body, (character, index) =>
  /[a-z0-9]/.test(character) ? body.slice(0, index) + (character === "0" ? "1" : "0") + body.slice(index + 1) : body,
).filter((text) => text !== body);

async function isAccepted(accepts: () => unknown): Promise<boolean> {
  try {
    return (await accepts()) !== false;
  } catch {
    return false;
  }
}

test.each(Object.entries(libraries))(
  "%s: svc verifies what it signs, and it accepts what svc signs",
  async (_, one) => {
    const webhook = webhookOf(one.webhook);
    const key = webhook.secretOf(one.secret ?? secret)!;
    const time = { nowMs: Date.now(), publicUrl: "https://hooks.example.com" };
    const path = "/webhooks/watcher";
    const isVerified = (headers: Headers, text: string) =>
      webhook.isVerified({ headers, query: new URLSearchParams(), body: Buffer.from(text), target: path }, [key], time);
    const signed = await one.signs?.();
    if (signed !== undefined) {
      expect(isVerified(signed, body)).toBe(true);
      expect(changed.filter((text) => isVerified(signed, text))).toEqual([]);
    }
    const own = webhook.sign({ path, headers: {}, query: {}, body: Buffer.from(body) }, key, time).headers;
    expect(isVerified(own, body)).toBe(true);
    expect(await isAccepted(() => one.accepts(own, body))).toBe(true);
    for (const text of changed.slice(0, 20)) expect(await isAccepted(() => one.accepts(own, text))).toBe(false);
  },
);
