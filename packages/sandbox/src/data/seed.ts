import { hash } from "node:crypto";
import { isObject } from "@svc/core";

/** Text that determines made-up values: the same seed gives the same data. */
export type Seed = string;

/** Returns the SHA-256 of a seed and its purpose, in hexadecimal. */
export function digestOf(...parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "hex");
}

/** Returns a whole number from 0 up to, not including, 2^48, determined by the parts. */
export function numberOf(...parts: readonly string[]): number {
  return Number.parseInt(digestOf(...parts).slice(0, 12), 16);
}

/** Returns the JSON text of a value with sorted keys, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (!isObject(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
