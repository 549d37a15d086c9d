import { createHash } from "node:crypto";
import { isObject, isRawJson, withPlainNumbers } from "@svc/core";
import canonicalize from "canonicalize";

/**
 * The canonical JSON of a value (RFC 8785): two texts of the same value have one. A number beyond 2^53 - 1, which that rule would
 * round, stands as it was written. Throws an Error for what is no JSON value.
 */
export function canonicalJson(value: unknown): string {
  const text = withPlainNumbers(value) === value ? canonicalize(value) : canonicalWithRaw(value);
  if (text === undefined) throw new Error("value has no JSON form");
  return text;
}

/** SHA-256 of a value's canonical JSON, in hexadecimal: a program's programHash, a receipt's receiptHash, a pin's digest. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

/** The same for a value that holds raw numbers, which the library takes for objects. */
function canonicalWithRaw(value: unknown): string | undefined {
  if (isRawJson(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: unknown) => canonicalWithRaw(item) ?? "null").join(",")}]`;
  if (!isObject(value)) return canonicalize(value);
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${names
    .sort()
    .map((name) => `${canonicalize(name)}:${canonicalWithRaw(value[name])}`)
    .join(",")}}`;
}
