import { isObject } from "@svc/core";
import { CommandError } from "../command/error.ts";
import { stepOf } from "./toolkits/schema-types.ts";

/**
 * An OpenAPI document whose references can be followed. Its functions throw CommandError for a reference without a target in the document.
 */
type Document = {
  /** Returns the given part of the document. If the part is a reference (`$ref`), returns the part to which the reference leads. */
  lookUp(part: unknown): unknown;
  /**
   * Returns a schema without references, because a schema of an event type may have none, and without the keywords that OpenAPI adds and
   * that mean nothing for validation.
   */
  readSchema(schema: unknown): unknown;
};

/**
 * Maximum number of values in a schema after each reference in it is replaced by the schema to which it refers. The service's own limit is
 * far lower.
 */
const valuesMax = 200_000;

/** Returns the functions that read parts of an OpenAPI document. */
export function openDocument(document: unknown): Document {
  let values = 0;
  const read = (schema: unknown, open: readonly string[]): unknown => {
    if (++values > valuesMax)
      throw new CommandError(`its schema has more than ${valuesMax} values when its references are written out`);
    if (Array.isArray(schema)) return schema.map((item) => read(item, open));
    if (!isObject(schema)) return schema;
    const { $ref, ...others } = schema;
    if (typeof $ref !== "string") return readKeywords(schema, open);
    if (open.includes($ref)) throw new CommandError(`the schema ${$ref} contains itself, which a type cannot have`);
    return joined(read(targetOf(document, $ref), [...open, $ref]), readKeywords(others, open));
  };
  const readKeywords = (schema: object, open: readonly string[]) => {
    const kept = Object.entries(schema).filter(([keyword]) => !isLeftOut(keyword));
    return Object.fromEntries(
      kept.map(([keyword, value]) => {
        if (dataKeywords.has(keyword)) return [keyword, value];
        if (!schemaMaps.has(keyword) || !isObject(value)) return [keyword, read(value, open)];
        // The names in such an object are names of properties, not keywords.
        return [keyword, Object.fromEntries(Object.entries(value).map(([name, child]) => [name, read(child, open)]))];
      }),
    );
  };
  return {
    readSchema: (schema) => read(schema, []),
    lookUp(part) {
      const open = new Set<string>();
      let at = part;
      while (isObject(at) && typeof at["$ref"] === "string") {
        const ref = at["$ref"];
        if (open.has(ref)) throw new CommandError(`the reference ${ref} leads to itself`);
        open.add(ref);
        at = targetOf(document, ref);
      }
      return at;
    },
  };
}

const schemaMaps = new Set(["properties", "patternProperties", "dependentSchemas"]);
const dataKeywords = new Set(["const", "default", "enum", "examples", "required", "dependentRequired"]);
const leftOut = new Set(
  "$schema $defs definitions example externalDocs discriminator xml readOnly writeOnly".split(" "),
);
const annotations = new Set(["title", "description", "default", "examples", "deprecated", "$comment"]);

function isLeftOut(keyword: string): boolean {
  return leftOut.has(keyword) || (keyword.startsWith("x-") && keyword !== "x-sensitive");
}

/** Returns one JSON schema that combines the target of a `$ref` and the keywords next to the `$ref`. A value must satisfy both. */
function joined(target: unknown, others: Readonly<Record<string, unknown>>): unknown {
  const keywords = Object.keys(others);
  if (keywords.length === 0) return target;
  if (isObject(target) && keywords.every((keyword) => annotations.has(keyword))) return { ...target, ...others };
  return { ...others, allOf: [target, ...(Array.isArray(others["allOf"]) ? others["allOf"] : [])] };
}

function targetOf(document: unknown, ref: string): unknown {
  if (!ref.startsWith("#/")) throw new CommandError(`the reference ${ref} leaves the file`);
  const target = ref
    .slice(2)
    .split("/")
    .map(stepOf)
    .reduce<unknown>((at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), document);
  if (target === undefined) throw new CommandError(`the file has nothing at ${ref}`);
  return target;
}
