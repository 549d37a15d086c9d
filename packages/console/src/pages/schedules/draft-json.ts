import { prettyJson } from "../../words/pretty-json.ts";

/** A JSON object, as a definition and its parts are. */
export type Json = Record<string, unknown>;

const json = JSON as JSON & { rawJSON(text: string): object };

/** What a JSON text says. A number that would be read as another one, such as one of many digits, is kept as its text. Throws a SyntaxError. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    return typeof value === "number" && source !== undefined && String(value) !== source ? json.rawJSON(source) : value;
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
  if (typeof value === "object" && value !== null && "rawJSON" in value) return String(value.rawJSON);
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

/** The number that is written, and what was typed where it is none. */
export function numberOf(text: string): number | string | undefined {
  const typed = text.trim();
  return typed === "" ? undefined : Number.isNaN(Number(typed)) ? typed : Number(typed);
}
