import { isRawJson, rawJson } from "@svc/core/raw-json";
import { prettyJson } from "../../words/pretty-json.ts";

/** A JSON object: the definition of a schedule, or a part of it. */
export type Json = Record<string, unknown>;

/**
 * Parses JSON text. A number that JavaScript would write differently (such as 1.0, or one with many digits) stays as its original text.
 * Throws a SyntaxError.
 */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    return typeof value === "number" && source !== undefined && String(value) !== source ? rawJson(source) : value;
  });
}

/** Returns a JSON object without the members that are undefined or empty. The service uses its defaults for these members. */
export function given(json: Json): Json {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined && value !== ""));
}

/** Returns a part of a schedule's definition if it is an object; otherwise an empty object. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Returns a value of the schedule's definition as the text of a form field. Returns an empty text if the value is missing. */
export function textOf(value: unknown): string {
  if (isRawJson(value)) return JSON.stringify(value);
  return value === undefined || typeof value === "object" ? "" : String(value);
}

/** Returns a list as the text of a field, one item per line. */
export function linesOf(value: unknown): string {
  return Array.isArray(value) ? value.join("\n") : "";
}

/** Returns the list from a text with one item per line. */
export function itemsOf(lines: string): string[] {
  return lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Returns a value of the schedule's definition as JSON text for a form field. Returns an empty text if the value is missing. */
export function jsonOf(value: unknown): string {
  return value === undefined ? "" : prettyJson(JSON.stringify(value));
}

/** Parses a text as JSON. Text that is not JSON is returned as typed; the service then reports the error at its field. */
export function readValue(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}
