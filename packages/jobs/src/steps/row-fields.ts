import { hash } from "node:crypto";
import { isJsonNumber, isObject } from "@svc/core";
import { canonicalJson, type JsonObject, type JsonValue, valueAt } from "@svc/program";

type Path = readonly (string | number)[];

/** Longer ones are kept as their digests, so that a key takes little however long the values are. */
const keyCharactersMax = 64;

/** The kept fields of an item, as a row; of an item that is no object, `value`. */
export function pickFields(item: JsonValue, keep: readonly string[]): JsonObject {
  const fields: JsonObject = isObject(item) ? item : { value: item };
  return Object.fromEntries(
    keep.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] as JsonValue]] : [])),
  );
}

/** A text that rows share whose fields have the same values; what is absent is null. */
export function keyOf(row: JsonObject, by: readonly Path[]): string {
  let key = "";
  for (const path of by) {
    const text = textOf(fieldOf(row, path) ?? null);
    key = key === "" ? text : `${key}\n${text}`;
  }
  return shortened(key);
}

/** The key of a row; undefined if its field is neither a text nor a number. Such a row is like no other. */
export function keyOfRow(row: JsonObject, field: string): string | undefined {
  const value = fieldOf(row, [field]);
  return typeof value === "string" || isJsonNumber(value) ? shortened(JSON.stringify(value)) : undefined;
}

/** The same, undefined where one of the values is null or absent: then the row is like no other. */
export function matchOf(row: JsonObject, by: readonly Path[]): string | undefined {
  for (const path of by) if ((fieldOf(row, path) ?? null) === null) return undefined;
  return keyOf(row, by);
}

/** The value of a field of a row. Most fields are one name, and a great many rows have them. */
export function fieldOf(row: JsonObject, path: Path): JsonValue | undefined {
  const [name = ""] = path;
  return path.length === 1 && Object.hasOwn(row, name) ? row[name] : valueAt(row, path);
}

/** JSON, in which no line ends; of an object with its names in order. */
function textOf(value: JsonValue): string {
  return typeof value === "object" && value !== null ? canonicalJson(value) : JSON.stringify(value);
}

/** No JSON begins as a digest does. */
function shortened(text: string): string {
  return text.length <= keyCharactersMax ? text : `#${hash("sha256", text, "base64")}`;
}
