import { isObject } from "@svc/core";
import type { JsonValue } from "../json.ts";
import { entriesOf, objectOf, type ValueTemplate } from "../template.ts";

/** A template with the defaults of a schema filled in where a property is absent, as applyDefaults does with values. */
export function withDefaults(template: ValueTemplate, schema: unknown): ValueTemplate {
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
