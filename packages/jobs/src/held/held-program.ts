import { type Action, type JsonSchema, marksSensitive } from "@svc/catalog";
import { isObject } from "@svc/core";
import type { PersonalCall } from "@svc/tools";

type Values = Readonly<Record<string, unknown>>;

/**
 * The text of the program that makes one call and nothing else, the same for the same call. Arguments stand in it as they are; what a
 * tool marks as sensitive is the program's input, since no program may have it written out.
 */
export function heldProgramText({ action, args, entityId }: PersonalCall): string {
  const schemas = propertiesOf(action);
  const secret = Object.keys(args).filter((name) => isSecret(schemas[name]));
  const written = Object.entries(args).map(([name, value]) => [
    name,
    secret.includes(name) ? { $ref: `input.${name}` } : { $literal: value },
  ]);
  const isDestructive = action.class === "destructive";
  return JSON.stringify({
    version: 1,
    title: action.slug,
    ...(secret.length > 0 && { inputSchema: inputSchemaOf(schemas, secret), input: pick(args, secret) }),
    steps: [
      {
        id: "call",
        call: action.slug,
        entity: entityId,
        args: { ...Object.fromEntries(written), ...(isDestructive && { confirm: true }) },
      },
    ],
  });
}

function propertiesOf({ inputSchema }: Action): Values {
  const { properties } = inputSchema;
  return isObject(properties) ? properties : {};
}

function isSecret(schema: unknown): boolean {
  return isObject(schema) && marksSensitive(schema as JsonSchema);
}

function inputSchemaOf(schemas: Values, names: readonly string[]) {
  return { type: "object", additionalProperties: false, required: [...names], properties: pick(schemas, names) };
}

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
