import { isObject, withPlainNumbers } from "@svc/core";
import { _, Ajv2020, Name, type ValidateFunction } from "ajv/dist/2020.js";
import { withoutExcess } from "../build/without-excess.ts";
import { type SchemaFault, toFaults } from "../check/schema-faults.ts";
import type { JsonSchema } from "../read/documents.ts";
import { addFormats } from "./formats.ts";
import { isJudgedWithin, schemaSize, schemaSizeMax } from "./judging-cost.ts";
import { createMeteredRegExps, type MeteredRegExps, PatternStepsError } from "./linear-reg-exp.ts";
import { addMultipleOf, withExactNumbers } from "./multiple-of.ts";

/** Maximum number of errors that a validator collects for one value. After that, it skips the remaining list items and object values. */
const errorsMax = 1_000;
/**
 * Maximum number of errors that are collected inside a choice (`anyOf`, `oneOf`) or a condition. It is higher than `errorsMax`, because
 * most of these errors are discarded: a value needs to match only one branch, and fails in all others.
 */
const triedErrorsMax = 20_000;

/** Text that compiled code throws if a choice such as `anyOf` has too many errors. */
const tooManyTried = "too many faults in a choice";

/** Names of two variables in the code that ajv compiles: the list of errors found so far, and their number. */
const [errors, errorCount] = [new Name("vErrors"), new Name("errors")];

const keyword = "x-error-limit";

/** Adds a keyword to the JSON schema compiler. At this keyword, a validator stops and throws if there are too many errors. */
function addErrorLimit(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword,
    schemaType: "boolean",
    code({ gen, it }) {
      // Inside a choice such as `anyOf`, the validator throws `tooManyTried`. Elsewhere, it throws the list of errors.
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

/**
 * Returns a copy of a schema for validation. When the copy validates a list or an object with undeclared properties, it stops once the
 * maximum number of errors is reached.
 */
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
 * Returns the errors of a value; empty if the value satisfies the schema. Returns at most 100 errors, the first ones found. Memory and
 * result size are limited. For a schema of a private toolkit (published by one project), the time of one check is limited too.
 */
export type SchemaValidator = (value: unknown) => readonly SchemaFault[];

/**
 * Returns a validator for a JSON Schema that was checked before. The schema is compiled when the validator checks its first value, which
 * takes about a millisecond.
 */
export type ValidatorFactory = (schema: JsonSchema) => SchemaValidator;

/**
 * Maximum cost of validating one value with a schema of a private toolkit (published by one project), in steps (units that judging-cost.ts
 * defines). The maximum takes about 10 ms, for which it holds the event loop.
 */
const stepsMax = 200_000;

/** Returns a compiler of JSON Schemas. `expressions`: engine for the keyword `pattern`; default: the platform's own regular expressions. */
function createAjv(expressions?: MeteredRegExps): Ajv2020 {
  const made = new Ajv2020({
    // Compiled code collects all errors even if the caller needs one. Code that stops at the first error is deeply nested and takes seconds
    // to compile.
    allErrors: true,
    verbose: true,
    strict: true,
    // These three strict options are off, because a schema may have a rule about several arguments (such as `if` or `anyOf`). Such a rule
    // does not repeat the types and properties that the schema declares elsewhere.
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    // The schema is not validated here, because svc checks each schema once when it is loaded.
    validateSchema: false,
    // The compiler does not register schemas by their `$id`. One compiler handles many schemas and distinguishes them by object identity.
    addUsedSchema: false,
    // Inherited properties, such as `constructor`, do not count as properties of a value.
    ownProperties: true,
    // A schema of a private definition validates few values, so optimizing the compiled code would cost more than it saves.
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
/** A schema compiler whose validators stop at the first error, which limits the cost for a very large schema. */
const firstOnly = new Ajv2020({ allErrors: false, verbose: true, validateFormats: false });

/**
 * Returns the errors of a schema according to JSON Schema 2020-12; empty if the schema is valid. For a very large schema, returns only the
 * first error.
 */
export function faultsOfSchema(schema: JsonSchema): readonly SchemaFault[] {
  if (schemaSize(schema) > schemaSizeMax) {
    return firstOnly.validateSchema(schema) === true ? [] : toFaults(firstOnly.errors);
  }
  return ajv.validateSchema(schema) === true ? [] : toFaults(ajv.errors);
}

/**
 * Returns a validator for a schema of a shared toolkit, which the operator trusts. Without the limits that `createTenantValidators` sets.
 */
export const createValidator: ValidatorFactory = (schema) => {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(withErrorLimit(schema));
    return judge(validate, schema, value);
  };
};

/**
 * Returns a factory of validators for private toolkits (apps that a project defined for itself), whose schemas svc does not trust. Patterns
 * run on RE2. The size of a schema and the work to check one value are limited. The compiled code is freed together with the factory.
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

/**
 * Returns the errors of a value. Items and properties that the schema does not allow are removed first, and get one error for each place.
 */
function judge(validate: ValidateFunction, schema: JsonSchema, given: unknown): readonly SchemaFault[] {
  // Compiled code does not support raw JSON numbers, so a number with many digits is validated as its nearest double.
  const value = withPlainNumbers(given);
  // The compiler would create an error for each of these items and properties.
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
    // Errors contain the value. The function would keep them, and so the value, in memory until its next call.
    validate.errors = null;
  }
}

/**
 * Returns a schema that also accepts null for every value inside the root value. Use it for the results of apps, because an app may return
 * null for any field.
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
