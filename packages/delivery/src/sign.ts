import { createHmacKey, type HmacKey, hmacSha256, signingSecretBytes } from "@svc/core";

/** The keys of one signing secret: its text for X-Svc-Signature, its decoded bytes for Standard Webhooks. */
export type SigningKeys = { text: HmacKey; bytes: HmacKey };

/** Prepares a signing secret (`whsec_...`) for many signatures. */
export function createSigningKeys(secret: string): SigningKeys {
  return { text: createHmacKey(secret), bytes: createHmacKey(signingSecretBytes(secret)) };
}

/**
 * The headers of one attempt, names and values in turn. `X-Svc-Signature` is the HMAC-SHA256 of the exact body; the three
 * `webhook-*` headers are those of Standard Webhooks (spec/standard-webhooks.md), so public verifiers work unchanged.
 */
export function signedHeaders(keys: SigningKeys, deliveryId: string, body: Uint8Array, atMs: number): string[] {
  const timestamp = String(Math.floor(atMs / 1000));
  const plain = hmacSha256(keys.text, [body], "hex");
  const standard = hmacSha256(keys.bytes, [`${deliveryId}.${timestamp}.`, body], "base64");
  return [
    "content-type",
    "application/json",
    "user-agent",
    "svc/1",
    "X-Svc-Signature",
    `sha256=${plain}`,
    "X-Svc-Delivery-Id",
    deliveryId,
    "webhook-id",
    deliveryId,
    "webhook-timestamp",
    timestamp,
    "webhook-signature",
    `v1,${standard}`,
  ];
}
