import { createHash } from "node:crypto";
import { isObject, isRawJson } from "@svc/core";
import canonicalize from "canonicalize";

/**
 * The canonical JSON of a value (RFC 8785): two texts of the same value have one. A number beyond 2^53 - 1, which that rule would
 * round, stands as it was written, and half a surrogate pair, which it has no form for, as its escape. Throws an Error for what is no
 * JSON value.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalOf(value);
  if (text === undefined) throw new Error("value has no JSON form");
  return text;
}

/** SHA-256 of a value's canonical JSON, in hexadecimal: a program's programHash, a receipt's receiptHash, a pin's digest. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function canonicalOf(value: unknown): string | undefined {
  if (typeof value === "string" || isRawJson(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: unknown) => canonicalOf(item) ?? "null").join(",")}]`;
  if (!isObject(value)) return canonicalize(value);
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalOf(value[name])}`)
    .join(",")}}`;
}
