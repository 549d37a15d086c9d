import type { JsonSchema } from "@svc/catalog";
import { type FaultText, isObject } from "@svc/core";

/**
 * A function that returns a hint for a misplaced field: where in the document this field belongs. It returns undefined if no part of the
 * document has such a field.
 */
export type FieldPlaces = (name: string) => FaultText | undefined;

/** Names that people use by mistake for fields, each with the correct name. */
const aliases: Readonly<Record<string, string>> = {
  tz: "timezone",
  zone: "timezone",
  crontab: "cron",
  interval: "every",
};

/** Maximum number of places that a hint names for one field. */
const placesMax = 3;

/**
 * Returns a function that takes a field's name and returns a hint: where in the document the field belongs. `schema`: JSON Schema of the
 * document. `outside`: a top-level field, which hints show next to other top-level fields.
 */
export function placesOf(schema: JsonSchema, outside: string): FieldPlaces {
  const places = new Map<string, string[]>();
  collect(schema, [], places);
  return (name) => {
    const plain = plainOf(name.slice(0, 40));
    const found = places.get(aliases[plain] ?? plain) ?? [];
    const [first, ...others] = found.slice(0, placesMax);
    if (first === undefined) return undefined;
    const shown = first.includes(".")
      ? nested(first.split("."))
      : `next to ${outside}: {"${first}": …, "${outside}": …}`;
    return `write it ${first.includes(".") ? `in ${withoutLast(first)}: ${shown}` : shown}${others.map((other) => `, or in ${withoutLast(other)}`).join("")}`;
  };
}

function collect(schema: unknown, path: readonly string[], places: Map<string, string[]>): void {
  if (!isObject(schema) || !isObject(schema.properties)) return;
  for (const [name, field] of Object.entries(schema.properties)) {
    const own = [...path, name];
    const known = places.get(plainOf(name)) ?? [];
    places.set(plainOf(name), [...known, own.join(".")]);
    collect(field, own, places);
  }
}

function nested([first = "", ...rest]: readonly string[]): string {
  return rest.length === 0 ? `{"${first}": …}` : `{"${first}": ${nested(rest)}}`;
}

function withoutLast(path: string): string {
  return path.slice(0, path.lastIndexOf("."));
}

function plainOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
