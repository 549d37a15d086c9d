import { isRawJson, rawJson } from "@svc/core/raw-json";
import { prettyJson } from "../../words/pretty-json.ts";

/** A JSON object, as a definition and its parts are. */
export type Json = Record<string, unknown>;

/** What a JSON text says. Every number that would be written in another way, such as 1.0 and one of many digits, stays its text. Throws a SyntaxError. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    return typeof value === "number" && source !== undefined && String(value) !== source ? rawJson(source) : value;
  });
}

/** What says something: parts that are undefined or empty are left to the service. */
export function given(json: Json): Json {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined && value !== ""));
}

/** A part of a definition; one without anything where there is none. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** A part as it is written in a field; empty where there is none. */
export function textOf(value: unknown): string {
  if (isRawJson(value)) return JSON.stringify(value);
  return value === undefined || typeof value === "object" ? "" : String(value);
}

/** A list as it is written in a field, one a line. */
export function linesOf(value: unknown): string {
  return Array.isArray(value) ? value.join("\n") : "";
}

/** The list that is written one a line. */
export function itemsOf(lines: string): string[] {
  return lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** A part as it is written as JSON; empty where there is none. */
export function jsonOf(value: unknown): string {
  return value === undefined ? "" : prettyJson(JSON.stringify(value));
}

/** What is written as JSON, and as it was typed where it is none: the service says what is wrong with it, at its field. */
export function readValue(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}
