import { hash } from "node:crypto";
import { isObject } from "@svc/core";

/** A text that determines made-up values. The same seed always gives the same values. */
export type Seed = string;

/** Returns the SHA-256 digest of the parts (a seed and its purpose) in hexadecimal. */
export function digestOf(...parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "hex");
}

/** Returns a whole number from 0 to 2^48 - 1. The same parts always give the same number. */
export function numberOf(...parts: readonly string[]): number {
  return Number.parseInt(digestOf(...parts).slice(0, 12), 16);
}

/** Returns the JSON text of a value with sorted keys. Equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (!isObject(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
