import { isObject } from "@svc/core";
import { _, type Ajv2020, Name } from "ajv/dist/2020.js";
import type { JsonSchema } from "./documents.ts";

/** Faults after which no further item is looked at: 100 are told. */
const errorsMax = 1_000;
/** The same inside a choice or condition, where faults need not be ones of the value. */
const triedErrorsMax = 20_000;

/** Thrown by compiled code when a choice or condition gathered too many faults to go on. */
export const tooManyTried = "too many faults in a choice";

/** Variables of compiled code: the faults so far, and their number. */
const [errors, errorCount] = [new Name("vErrors"), new Name("errors")];

const keyword = "x-error-limit";

/**
 * Adds the keyword that withErrorLimit writes into schemas. Where it stands, compiled code throws once it has gathered enough: the
 * list of the faults of the value, or tooManyTried. The compiler itself has no limit, and each fault is an object.
 */
export function addErrorLimit(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword,
    schemaType: "boolean",
    code({ gen, it }) {
      const isTried = it.compositeRule === true;
      gen.if(_`${errorCount} > ${isTried ? triedErrorsMax : errorsMax}`, () => {
        gen.throw(isTried ? _`${tooManyTried}` : errors);
      });
    },
  });
}

const itemKeywords = [
  "items",
  "additionalProperties",
  "contains",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const ruleKeywords = ["not", "if", "then", "else"];
const listKeywords = ["allOf", "anyOf", "oneOf", "prefixItems"];
const mapKeywords = ["properties", "$defs", "dependentSchemas"];

/** A copy of a schema that looks at the limit at every item of a list and every value of an open object. */
export function withErrorLimit(schema: JsonSchema): JsonSchema {
  const copy: Record<string, unknown> = { ...schema };
  for (const name of itemKeywords) if (isObject(copy[name])) copy[name] = limited(copy[name]);
  for (const name of ruleKeywords) if (isObject(copy[name])) copy[name] = withErrorLimit(copy[name]);
  for (const name of listKeywords) {
    const children: unknown = copy[name];
    if (Array.isArray(children))
      copy[name] = children.map((child) => (isObject(child) ? withErrorLimit(child) : child));
  }
  for (const name of mapKeywords) if (isObject(copy[name])) copy[name] = ofMap(copy[name], withErrorLimit);
  if (isObject(copy.patternProperties)) copy.patternProperties = ofMap(copy.patternProperties, limited);
  return copy;
}

function limited(schema: JsonSchema): JsonSchema {
  return { [keyword]: true, ...withErrorLimit(schema) };
}

function ofMap(schemas: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, child]) => [name, isObject(child) ? change(child) : child]),
  );
}
