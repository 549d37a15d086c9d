/**
 * Returns a new idempotency key: 128 random bits in hexadecimal. It does not use `randomUUID`, which browsers provide only on pages with
 * https.
 */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
