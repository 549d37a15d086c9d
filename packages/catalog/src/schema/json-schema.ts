import { isObject, withPlainNumbers } from "@svc/core";
import { _, Ajv2020, Name, type ValidateFunction } from "ajv/dist/2020.js";
import { withoutExcess } from "../build/without-excess.ts";
import { type SchemaFault, toFaults } from "../check/schema-faults.ts";
import type { JsonSchema } from "../read/documents.ts";
import { addFormats } from "./formats.ts";
import { isJudgedWithin, schemaSize, schemaSizeMax } from "./judging-cost.ts";
import { createMeteredRegExps, type MeteredRegExps, PatternStepsError } from "./linear-reg-exp.ts";
import { addMultipleOf, withExactNumbers } from "./multiple-of.ts";

/** Maximum faults before further items are skipped; 100 are reported. */
const errorsMax = 1_000;
/** The same inside a choice or condition, where faults may not be the value's. */
const triedErrorsMax = 20_000;

/** Thrown by compiled code if a choice or condition collected too many faults. */
const tooManyTried = "too many faults in a choice";

/** Variables of compiled code: the faults so far, and their number. */
const [errors, errorCount] = [new Name("vErrors"), new Name("errors")];

const keyword = "x-error-limit";

/**
 * Adds the keyword that withErrorLimit writes into schemas. There, compiled code throws after enough faults: the value's list of faults, or
 * tooManyTried. The compiler itself has no limit, and each fault is an object.
 */
function addErrorLimit(ajv: Ajv2020): void {
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

/** Returns a copy of a schema that checks the limit at every item of a list and every value of an open object. */
function withErrorLimit(schema: JsonSchema): JsonSchema {
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

/**
 * Returns the faults of a value, at most 100; empty if it satisfies the schema. With more faults, the first ones found. Memory and result
 * size are limited; for a tenant's schema, time is too.
 */
export type SchemaValidator = (value: unknown) => readonly SchemaFault[];

/** Creates validators of checked schemas. Compiling takes about a millisecond and happens at the first value. */
export type ValidatorFactory = (schema: JsonSchema) => SchemaValidator;

/** Maximum steps (judging-cost.ts) for validating a value with a tenant's schema: about 50 ms. */
const stepsMax = 1_000_000;

/** `expressions`: engine for `pattern`. Default: the platform's own. */
function createAjv(expressions?: MeteredRegExps): Ajv2020 {
  const made = new Ajv2020({
    // Even if the first fault would be enough: code that stops at the first one is nested and takes seconds to compile.
    allErrors: true,
    verbose: true,
    strict: true,
    // Rules between arguments do not repeat types and properties, which these three options would require.
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    // Schemas are checked once, when they are loaded.
    validateSchema: false,
    // One instance compiles many schemas, which are distinguished by identity.
    addUsedSchema: false,
    // Inherited properties, such as constructor, do not count as given.
    ownProperties: true,
    // A tenant's schema validates few values, so optimizing the code takes longer than running it.
    ...(expressions && { code: { regExp: expressions.engine, optimize: false } }),
  });
  addFormats(made);
  addErrorLimit(made);
  addMultipleOf(made);
  made.addKeyword({ keyword: "x-sensitive", schemaType: "boolean" });
  made.addKeyword({ keyword: "x-host", schemaType: "boolean" });
  return made;
}

const ajv = createAjv();
/** Stops at the first fault of a schema. */
const firstOnly = new Ajv2020({ allErrors: false, verbose: true, validateFormats: false });

/** Returns the faults of a schema against JSON Schema 2020-12; empty if it is valid. For a very large one, only the first fault. */
export function faultsOfSchema(schema: JsonSchema): readonly SchemaFault[] {
  if (schemaSize(schema) > schemaSizeMax) {
    return firstOnly.validateSchema(schema) === true ? [] : toFaults(firstOnly.errors);
  }
  return ajv.validateSchema(schema) === true ? [] : toFaults(ajv.errors);
}

/** Creates validators for the deployment's own schemas. */
export const createValidator: ValidatorFactory = (schema) => {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(withErrorLimit(schema));
    return judge(validate, schema, value);
  };
};

/**
 * Creates validators for a tenant's schemas: patterns run on RE2, schema and value are limited together, and compiled code is freed with
 * the factory.
 */
export function createTenantValidators(): ValidatorFactory {
  let own: { readonly ajv: Ajv2020; readonly expressions: MeteredRegExps } | undefined;
  return (schema) => {
    let validate: ValidateFunction | undefined;
    return (value) => {
      if (schemaSize(schema) > schemaSizeMax) return tooLarge("by a schema of this size");
      if (!isJudgedWithin(stepsMax, schema, value)) return tooLarge("by this schema; send fewer or shorter values");
      own ??= createOwn();
      validate ??= own.ajv.compile(withErrorLimit(schema));
      own.expressions.restart();
      try {
        return judge(validate, schema, value);
      } catch (error) {
        if (error instanceof PatternStepsError)
          return tooLarge("by this schema's patterns; send fewer or shorter texts");
        throw error;
      }
    };
  };
}

function createOwn() {
  const expressions = createMeteredRegExps();
  return { ajv: createAjv(expressions), expressions };
}

function tooLarge(why: string): readonly SchemaFault[] {
  return [{ pointer: "", message: `is too large to judge ${why}` }];
}

/** Excess parts are reported once and the rest is validated, because the compiler would create a fault for each item and property. */
function judge(validate: ValidateFunction, schema: JsonSchema, given: unknown): readonly SchemaFault[] {
  // Compiled code does not support raw numbers, so one of many digits is validated as its nearest double.
  const value = withPlainNumbers(given);
  const { kept, faults } = withoutExcess(schema, value);
  const found = value === given ? run(validate, kept) : withExactNumbers(given, () => run(validate, kept));
  return faults.length === 0 ? found : [...faults, ...found].slice(0, 100);
}

function run(validate: ValidateFunction, value: unknown): readonly SchemaFault[] {
  try {
    return validate(value) ? [] : toFaults(validate.errors);
  } catch (error) {
    if (error === tooManyTried) return tooLarge("by this schema; send fewer or shorter values");
    if (Array.isArray(error)) return toFaults(error);
    throw error;
  } finally {
    // Verbose errors hold the value, and the function would keep them until its next call.
    validate.errors = null;
  }
}

/**
 * Returns the schema with null allowed for every value below the root. It validates apps' results, because an app may return null for any
 * field.
 */
export function withNulls(schema: JsonSchema): JsonSchema {
  const properties = isObject(schema.properties) ? schema.properties : undefined;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, orNull(child)])),
    }),
    ...(isObject(schema.items) && { items: orNull(schema.items) }),
  };
}

function orNull(schema: unknown): unknown {
  return isObject(schema) ? { anyOf: [{ type: "null" }, withNulls(schema)] } : schema;
}
