import { hash } from "node:crypto";
import { isObject } from "@svc/core";

/** Text that decides made-up values: the same seed gives the same data. */
export type Seed = string;

/** SHA-256 in hexadecimal of a seed and what it is used for. */
export function digestOf(...parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "hex");
}

/** A whole number from 0 up to, not including, 2^48, decided by the parts. */
export function numberOf(...parts: readonly string[]): number {
  return Number.parseInt(digestOf(...parts).slice(0, 12), 16);
}

/** The JSON text of a value with object keys in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (!isObject(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
