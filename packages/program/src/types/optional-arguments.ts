import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import type { JsonObject, JsonValue } from "../json.ts";
import type { ValueTemplate } from "../template.ts";
import { typesOf } from "./schema-type.ts";

const known = new WeakMap<JsonSchema, ReadonlySet<string>>();

/** The arguments that may be left out and take no null: a null that is filled in for one leaves it out. */
function omittableOf(inputSchema: JsonSchema): ReadonlySet<string> {
  const found = known.get(inputSchema);
  if (found !== undefined) return found;
  const { properties, required } = inputSchema;
  const names = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, schema]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    const types = isRequired || !isObject(schema) ? undefined : typesOf(schema);
    return types === undefined || types.has("null") ? [] : [name];
  });
  const omittable = new Set(names);
  known.set(inputSchema, omittable);
  return omittable;
}

/** Arguments as they were filled in, without those that a null leaves out. */
export function withoutNulls(args: JsonObject, inputSchema: JsonSchema): JsonObject {
  const omittable = omittableOf(inputSchema);
  return Object.fromEntries(Object.entries(args).filter(([name, value]) => value !== null || !omittable.has(name)));
}

/** Arguments to be filled in, without the null that stands in for one that it leaves out: it is none of its values. */
export function withoutElseNulls(args: ValueTemplate, inputSchema: JsonSchema): ValueTemplate {
  if (args.kind !== "object") return args;
  const omittable = omittableOf(inputSchema);
  const entries = args.entries.map(([name, item]) => {
    const leavesOut = (item.kind === "reference" || item.kind === "text") && isNull(item.otherwise?.value);
    return [name, leavesOut && omittable.has(name) ? withoutElse(item) : item] as const;
  });
  return { kind: "object", entries };
}

function isNull(value: JsonValue | undefined): boolean {
  return value === null;
}

function withoutElse(item: ValueTemplate & { readonly kind: "reference" | "text" }): ValueTemplate {
  if (item.kind === "reference") return { ...item, otherwise: undefined };
  return { kind: "text", parts: item.parts };
}
