import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema } from "./documents.ts";
import { addErrorLimit, tooManyTried, withErrorLimit } from "./error-limit.ts";
import { addFormats } from "./formats.ts";
import { isJsonObject } from "./json-object.ts";
import { isJudgedWithin, schemaSize, schemaSizeMax } from "./judging-cost.ts";
import { createMeteredRegExps, type MeteredRegExps, PatternStepsError } from "./linear-reg-exp.ts";
import { type SchemaFault, toFaults } from "./schema-faults.ts";

/**
 * Lists the faults of a value, at most 100; empty when it satisfies the schema. Of thousands of faults those that were found first
 * are told. Bounded in memory and in the length of the answer; a tenant's in time too.
 */
export type SchemaValidator = (value: unknown) => readonly SchemaFault[];

/** Makes validators of checked schemas. Compiling one takes about a millisecond and is put off until its first value. */
export type ValidatorFactory = (schema: JsonSchema) => SchemaValidator;

/** Steps (judging-cost.ts) within which a tenant's schema must judge a value: about 50 ms. */
const stepsMax = 1_000_000;

/** `expressions`: what runs `pattern`; the platform's own engine unless given. */
function createAjv(expressions?: MeteredRegExps): Ajv2020 {
  const made = new Ajv2020({
    // Also for values whose first fault were enough: code that stops at the first one nests, and takes seconds to compile.
    allErrors: true,
    verbose: true,
    strict: true,
    // Rules between arguments repeat neither types nor properties, which these three would demand of them.
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    // Schemas are checked once, at load.
    validateSchema: false,
    // One instance compiles many schemas; keeping each of them apart by identity is enough.
    addUsedSchema: false,
    // Of a tenant's schema few values are judged: making the code better takes longer than running it.
    ...(expressions && { code: { regExp: expressions.engine, optimize: false } }),
  });
  addFormats(made);
  addErrorLimit(made);
  made.addKeyword({ keyword: "x-sensitive", schemaType: "boolean" });
  made.addKeyword({ keyword: "x-host", schemaType: "boolean" });
  return made;
}

const ajv = createAjv();
/** Stops at the first fault of a schema. */
const firstOnly = new Ajv2020({ allErrors: false, verbose: true, validateFormats: false });

/** What is wrong with a schema as JSON Schema 2020-12; empty when nothing is. Of a very large one the first fault only. */
export function faultsOfSchema(schema: JsonSchema): readonly SchemaFault[] {
  if (schemaSize(schema) > schemaSizeMax) {
    return firstOnly.validateSchema(schema) === true ? [] : toFaults(firstOnly.errors);
  }
  return ajv.validateSchema(schema) === true ? [] : toFaults(ajv.errors);
}

/** Validators for schemas of the deployment's own. */
export const createValidator: ValidatorFactory = (schema) => {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(withErrorLimit(schema));
    return judge(validate, schema, value);
  };
};

/**
 * Validators for a tenant's schemas: patterns run on RE2, schema and value are bounded together, whoever wrote them, and what is
 * compiled goes when the factory goes.
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

/** A list that is too long is told once, and its first items are judged: what is behind them goes anyway. */
function judge(validate: ValidateFunction, schema: JsonSchema, value: unknown): readonly SchemaFault[] {
  const faults = run(validate, value);
  if (faults.length === 0) return faults;
  const lists: SchemaFault[] = [];
  const shortened = shortenLists(schema, value, "", lists);
  return lists.length === 0 ? faults : [...lists, ...run(validate, shortened)].slice(0, 100);
}

function run(validate: ValidateFunction, value: unknown): readonly SchemaFault[] {
  try {
    return validate(value) ? [] : toFaults(validate.errors);
  } catch (error) {
    if (error === tooManyTried) return tooLarge("by this schema; send fewer or shorter values");
    if (Array.isArray(error)) return toFaults(error);
    throw error;
  } finally {
    // Verbose errors hold the value, and the function would hold them until its next one.
    validate.errors = null;
  }
}

/**
 * The value with lists that are longer than their `maxItems` cut to it, so that such a list is one fault and not one for every
 * item. Adds those faults to `found`. Looks where the schema says something of the value for sure: into properties and items.
 */
function shortenLists(schema: unknown, value: unknown, pointer: string, found: SchemaFault[]): unknown {
  if (!isJsonObject(schema)) return value;
  if (Array.isArray(value)) {
    const { items, maxItems } = schema;
    const isLong = typeof maxItems === "number" && value.length > maxItems;
    if (isLong) found.push({ pointer, message: `must NOT have more than ${maxItems} items, and has ${value.length}` });
    const kept: unknown[] = isLong ? value.slice(0, maxItems) : value;
    if (!isJsonObject(items) || (items.items === undefined && items.properties === undefined)) return kept;
    return kept.map((item, index) => shortenLists(items, item, `${pointer}/${index}`, found));
  }
  if (!isJsonObject(value) || !isJsonObject(schema.properties)) return value;
  let changed = value;
  for (const [name, child] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(value, name)) continue;
    const step = name.replaceAll("~", "~0").replaceAll("/", "~1");
    const shortened = shortenLists(child, value[name], `${pointer}/${step}`, found);
    if (shortened !== value[name]) changed = { ...changed, [name]: shortened };
  }
  return changed;
}

/**
 * The same schema with null allowed for every value below the root, as results of apps are judged: an app may answer null for
 * any field.
 */
export function withNulls(schema: JsonSchema): JsonSchema {
  const properties = isJsonObject(schema.properties) ? schema.properties : undefined;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, orNull(child)])),
    }),
    ...(isJsonObject(schema.items) && { items: orNull(schema.items) }),
  };
}

function orNull(schema: unknown): unknown {
  return isJsonObject(schema) ? { anyOf: [{ type: "null" }, withNulls(schema)] } : schema;
}
