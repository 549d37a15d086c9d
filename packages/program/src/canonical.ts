import { hash } from "node:crypto";
import { isObject, isRawJson } from "@svc/core";
import canonicalize from "canonicalize";

/**
 * Returns the canonical JSON of a value (RFC 8785): equal values have equal texts. There are two differences from the RFC. A whole number
 * that a double cannot hold exactly keeps its written form, and a lone surrogate is escaped. Throws an Error if the value is not JSON.
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalOf(value);
  if (text === undefined) throw new Error("value cannot be written as JSON");
  return text;
}

/**
 * Returns the SHA-256 of a value's canonical JSON, in hexadecimal. Used for a program's `programHash`, `receiptHash` of a receipt (report
 * of a job) and `digest` of a pin (stored tool definition).
 */
export function canonicalHash(value: unknown): string {
  return hash("sha256", canonicalJson(value), "hex");
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
