import { isOmittedByNull, type JsonSchema, type NullPlace, nullPlace, nullPlaceAt } from "@svc/catalog";
import { isObject } from "@svc/core";
import type { JsonValue } from "../json.ts";
import { entriesOf, objectOf, type ValueTemplate } from "../template.ts";

/** A template as its schema has it filled in, as `fillInput` does with values: without nulls that mean "absent", and with defaults. */
export function filledIn(template: ValueTemplate, schema: JsonSchema): ValueTemplate {
  return withDefaults(withoutNulls(template, nullPlace(schema)), schema);
}

function withDefaults(template: ValueTemplate, schema: unknown): ValueTemplate {
  if (!isObject(schema)) return template;
  if (template.kind === "list") {
    return { kind: "list", items: template.items.map((item) => withDefaults(item, schema.items)) };
  }
  const entries = entriesOf(template);
  if (entries === undefined || !isObject(schema.properties)) return template;
  const filled = new Map(entries);
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = filled.get(name);
    if (given !== undefined) filled.set(name, withDefaults(given, property));
    else if (isObject(property) && property.default !== undefined) {
      filled.set(name, { kind: "literal", value: property.default as JsonValue });
    }
  }
  return objectOf([...filled]);
}

/** The null that stands in for an absent source, too, leaves its argument out: it is none of the argument's values. */
function withoutNulls(template: ValueTemplate, place: NullPlace): ValueTemplate {
  if (template.kind === "list") {
    return { kind: "list", items: template.items.map((item, index) => withoutNulls(item, nullPlaceAt(place, index))) };
  }
  const entries = entriesOf(template);
  if (entries === undefined) return template;
  const kept = entries.flatMap(([name, item]) => {
    if (!isOmittedByNull(place, name)) return [[name, withoutNulls(item, nullPlaceAt(place, name))] as const];
    if (item.kind === "literal" && item.value === null) return [];
    return [[name, withoutNulls(withoutElse(item), nullPlaceAt(place, name))] as const];
  });
  return objectOf(kept);
}

function withoutElse(item: ValueTemplate): ValueTemplate {
  if (item.kind === "reference" && item.otherwise?.value === null) return { ...item, otherwise: undefined };
  return item.kind === "text" && item.otherwise?.value === null ? { kind: "text", parts: item.parts } : item;
}
