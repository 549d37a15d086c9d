import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/** The canonical JSON of a value (RFC 8785): two texts of the same value have one. Throws an Error for what is no JSON value. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error("value has no JSON form");
  return text;
}

/** SHA-256 of a value's canonical JSON, in hexadecimal: a program's programHash, a receipt's receiptHash, a pin's digest. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
