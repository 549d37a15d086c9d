import { parseExactJson } from "@svc/core/exact-json";

/** A JSON object of a program or of a schedule's definition, or a part of it. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns the JSON object of a text. Numbers that a double cannot hold keep their digits. Undefined if the text is not a JSON object. */
export function readObject(text: string): Json | undefined {
  try {
    const value = parseExactJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    // The user is still typing the text. The service's check reports the error.
    return undefined;
  }
}

/** True if a JSON value is an object. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.getPrototypeOf(value) !== null;
}

/** Returns a member inside a JSON value, found by a sequence of names. Undefined if a name does not exist. */
export function memberOf(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (part, name) => (isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined),
    value,
  );
}

/** Returns a value as the text of a field. Empty if the value is missing, a list or an object. Numbers keep their digits. */
export function fieldText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  return Object.getPrototypeOf(value) === null ? JSON.stringify(value) : "";
}
