import { programSchema } from "@svc/program";
import { fieldsOf, type Schema } from "./schema-fields.ts";

const schema = programSchema as Schema;
const { step, mapCall, ...definitions } = schema["$defs"] as Readonly<Record<string, Schema>>;
/** Definitions that are used in many places, with the same fields everywhere. */
const apart = ["step", "mapCall", "branch", "value", "schema", "point"];

const inMaps = mapCall!["oneOf"] as readonly (Schema & { readonly properties: object })[];
const kindInMap = (one: (typeof inMaps)[number]) => stepKinds.find((kind) => Object.hasOwn(one.properties, kind)) ?? "";

/** The kinds of steps. */
export const stepKinds = (step!["oneOf"] as { allOf: [{ required: [string] }] }[]).map(
  ({ allOf: [{ required }] }) => required[0],
);

/** Every field of the schema of programs, for each kind of step that has it. */
export const programFields = [
  ...fieldsOf(schema, { name: "program", schema, apart }),
  ...stepKinds.flatMap((kind) => fieldsOf(schema, { name: kind, schema: definitions[kind] ?? {}, apart })),
  ...inMaps.flatMap((one) => fieldsOf(schema, { name: `map.${kindInMap(one)}`, schema: one, apart })),
  ...["point", "schema"].flatMap((name) => fieldsOf(schema, { name, schema: definitions[name] ?? {}, apart })),
];

/** True if the field belongs to a step that calls, requests or runs a skill, or to a map's call for each row. */
export function isOfCalls(field: string): boolean {
  return /^(call|http|run|map\.(call|http|run))\./.test(field);
}
