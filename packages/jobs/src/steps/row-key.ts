import { hash } from "node:crypto";
import { canonicalJson, type JsonObject, type JsonValue, valueAt } from "@svc/program";

type Path = readonly (string | number)[];

/** Longer ones are kept as their digests, so that a key takes little however long the values are. */
const keyCharactersMax = 64;

/** A text that rows share whose fields have the same values; what is absent is null. */
export function keyOf(row: JsonObject, by: readonly Path[]): string {
  return shortened(by.map((path) => textOf(valueAt(row, path) ?? null)).join("\n"));
}

/** The same, undefined where one of the values is null or absent: then the row is like no other. */
export function matchOf(row: JsonObject, by: readonly Path[]): string | undefined {
  const values = by.map((path) => valueAt(row, path) ?? null);
  return values.includes(null) ? undefined : shortened(values.map(textOf).join("\n"));
}

/** JSON, in which no line ends; of an object with its names in order. */
function textOf(value: JsonValue): string {
  return typeof value === "object" && value !== null ? canonicalJson(value) : JSON.stringify(value);
}

/** No JSON begins as a digest does. */
function shortened(text: string): string {
  return text.length <= keyCharactersMax ? text : `#${hash("sha256", text, "base64")}`;
}
