import type { Action, JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import type { JsonValue } from "../json.ts";
import type { ValueType } from "./schema-type.ts";

// Few apps describe the members of a field that they answer. The arguments by which a tool narrows its list name them.

type Values = { readonly argument: string; readonly values: readonly JsonValue[] };

const listed = new WeakMap<JsonSchema, Values>();
const answers = new WeakMap<Action, JsonSchema>();

/** Returns the values that a tool's argument of the same name takes for a field of its answer; undefined if there is none. */
export function valuesListed(type: ValueType): Values | undefined {
  return type === undefined ? undefined : listed.get(type);
}

/** Returns the type of a tool's answer, in which `valuesListed` knows the fields that share their name with an argument. */
export function answerTypeOf(action: Action): JsonSchema {
  const known = answers.get(action);
  if (known !== undefined) return known;
  const { properties } = action.inputSchema;
  const args = new Map<string, readonly JsonValue[]>();
  for (const [name, argument] of Object.entries(isObject(properties) ? properties : {})) {
    if (isObject(argument) && Array.isArray(argument.enum)) args.set(name, argument.enum as JsonValue[]);
  }
  const type = args.size === 0 ? action.outputSchema : withListed(action.outputSchema, args);
  answers.set(action, type);
  return type;
}

function withListed(schema: JsonSchema, args: ReadonlyMap<string, readonly JsonValue[]>): JsonSchema {
  const { properties, items } = schema;
  if (isObject(items)) return { ...schema, items: withListed(items, args) };
  if (!isObject(properties)) return schema;
  const fields = Object.entries(properties).map(([name, field]) => {
    if (!isObject(field)) return [name, field] as const;
    const values = args.get(name);
    if (values === undefined || field.type !== "string" || field.enum !== undefined) {
      return [name, withListed(field, args)] as const;
    }
    const own = { ...field };
    listed.set(own, { argument: name, values });
    return [name, own] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}
