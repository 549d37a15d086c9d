/** A new idempotency key: 128 random bits in hexadecimal. `randomUUID` is missing on pages that are not https. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
