import { createHmacKey, type HmacKey, signingSecretBytes } from "@svc/core";

/** The keys of one signing secret: its text for X-Svc-Signature, its decoded bytes for Standard Webhooks. */
export type SigningKeys = { text: HmacKey; bytes: HmacKey };

/** Prepares a signing secret (`whsec_...`) for many signatures. */
export function createSigningKeys(secret: string): SigningKeys {
  return { text: createHmacKey(secret), bytes: createHmacKey(signingSecretBytes(secret)) };
}
