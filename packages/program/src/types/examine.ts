import { type JsonSchema, type SchemaFault, type SchemaValidator, unknownPropertyText } from "@svc/catalog";
import { isObject } from "@svc/core";
import { type JsonValue, type Path, pathOf } from "../json.ts";
import { brokenTemplate, type TemplateEntries, type ValueTemplate } from "../template.ts";
import { branchesOf, faultOfAssignment, timestampType, typesOf, type ValueType } from "./schema-type.ts";

/**
 * A fault of a template (a value with references) against a schema. The fault occurs for all values of the references. `path`: relative to
 * the template. `isYounger`: true if the rule is newer than some stored programs, in which the fault is ignored.
 */
export type TemplateFault = { readonly path: Path; readonly message: string; readonly isYounger?: true };

/**
 * The result of comparing a template with a schema. `faults`: the certain faults. `isCertain`: true if every value of the template
 * satisfies the schema.
 */
export type Examination = { readonly faults: readonly TemplateFault[]; readonly isCertain: boolean };

/**
 * Functions for comparing a template (a value with references) with a schema. `typeOf`: returns the type of a reference or expression.
 * `validator`: returns a validator for the parts without references.
 */
export type Examiner = {
  typeOf(template: ValueTemplate & { readonly kind: "reference" | "computed" }): ValueType;
  validator(schema: JsonSchema): SchemaValidator;
};

const certain: Examination = { faults: [], isCertain: true };
const uncertain: Examination = { faults: [], isCertain: false };

/**
 * Compares a template (a value with references) with a JSON Schema. Returns the errors that every run would have. `isCertain`: true if
 * every possible value of the template fits the schema. Before a run, only the type of a reference is known. So a rule about exact values,
 * such as `enum`, makes the result uncertain.
 */
export function examine(template: ValueTemplate, schema: unknown, examiner: Examiner, path: Path = []): Examination {
  if (schema === true || schema === undefined) return certain;
  if (!isObject(schema)) return fault(path, "is not allowed here");
  switch (template.kind) {
    case "literal":
      return examineLiteral(template.value, schema, examiner, path);
    case "reference":
      return examineReference(template, schema, examiner, path);
    case "computed":
      return together([
        examineComputed(template.expression.source, schema, examiner, { path, type: examiner.typeOf(template) }),
        ofRules(template, schema, examiner, path),
      ]);
    case "text":
      return withElse(examineType({ type: "string" }, schema, path), template, schema, { examiner, path });
    case "secret":
      return examineType({ type: "string" }, schema, path);
    case "list":
      return together([
        ofType("array", schema, path),
        ...template.items.map((item, index) => examine(item, itemSchema(schema, index), examiner, [...path, index])),
        ofCount(template.items.length, schema.minItems, schema.maxItems, "items", path),
        ...(["uniqueItems", "contains", "enum", "const"].some((name) => Object.hasOwn(schema, name))
          ? [uncertain]
          : []),
        ofRules(template, schema, examiner, path),
      ]);
    case "object":
      return together([
        ofType("object", schema, path),
        ...ofProperties(template.entries, schema, examiner, path),
        ofCount(template.entries.length, schema.minProperties, schema.maxProperties, "properties", path),
        ...(["propertyNames", "enum", "const"].some((name) => Object.hasOwn(schema, name)) ? [uncertain] : []),
        ofRules(template, schema, examiner, path),
      ]);
  }
}

function fault(path: Path, message: string): Examination {
  return { faults: [{ path, message }], isCertain: false };
}

function together(parts: readonly Examination[]): Examination {
  return { faults: parts.flatMap(({ faults }) => faults), isCertain: parts.every(({ isCertain }) => isCertain) };
}

function examineLiteral(value: JsonValue, schema: JsonSchema, examiner: Examiner, path: Path): Examination {
  const found = examiner.validator(schema)(value);
  if (found.length === 0) return certain;
  const faults = found.map((miss) => ({ path: [...path, ...placeOf(miss, value)], message: miss.message }));
  return { faults, isCertain: false };
}

/** Returns the path of a fault in a value: of a forbidden property, or of the object in which a property is missing. */
function placeOf({ pointer, property }: SchemaFault, value: JsonValue): Path {
  const path = pathOf(pointer);
  const around = path.reduce<unknown>((at, step) => (at as Readonly<Record<string, unknown>> | null)?.[step], value);
  return property !== undefined && isObject(around) && Object.hasOwn(around, property) ? [...path, property] : path;
}

function examineReference(
  template: ValueTemplate & { readonly kind: "reference" },
  schema: JsonSchema,
  examiner: Examiner,
  path: Path,
): Examination {
  if (template === brokenTemplate) return uncertain;
  return withElse(examineType(examiner.typeOf(template), schema, path), template, schema, { examiner, path });
}

/** Compares a template's replacement value (`else`) with the schema, and adds its faults to those in `found`. */
function withElse(
  found: Examination,
  { otherwise }: ValueTemplate & { readonly kind: "reference" | "text" },
  schema: JsonSchema,
  { examiner, path }: { readonly examiner: Examiner; readonly path: Path },
): Examination {
  if (otherwise === undefined) return found;
  return together([found, examineLiteral(otherwise.value, schema, examiner, [...path, "else"])]);
}

const annotations = new Set([
  "type",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "x-sensitive",
  "$comment",
]);

function examineType(type: ValueType, schema: JsonSchema, path: Path): Examination {
  const message = faultOfAssignment(type, schema);
  if (message !== undefined) return fault(path, message);
  const given = typesOf(type);
  const taken = typesOf(schema);
  const isTypeAll = Object.keys(schema).every((keyword) => annotations.has(keyword));
  const isWithin = taken === undefined || (given !== undefined && [...given].every((name) => taken.has(name)));
  return isTypeAll && isWithin && schema.type !== "integer" ? certain : uncertain;
}

/** Formats of JSON Schema that a text with a date and a time never has. */
const otherFormats = new Set<unknown>(["date", "time", "duration", "email", "uri", "uuid", "hostname"]);

/**
 * Compares the schema of an argument with the known type of the expression that computes the argument. Returns a fault if the value can
 * never match. Example: the expression gives a point in time, but the schema requires the format `email`.
 */
function examineComputed(
  source: string,
  schema: JsonSchema,
  examiner: Examiner,
  { path, type }: { readonly path: Path; readonly type: ValueType },
): Examination {
  const isOther = otherFormats.has(schema.format) || (schema.pattern !== undefined && !takesTime(schema, examiner));
  if (type !== timestampType || !isOther) return examineType(type, schema, path);
  const what =
    schema.format === undefined ? `does not match ${String(schema.pattern)}` : `is not a ${String(schema.format)}`;
  const cure = cureOf(source, schema, examiner);
  const message = `is a time such as 2026-11-24T09:00:00Z, which ${what}${cure}`;
  return { faults: [{ path, message, isYounger: true }], isCertain: false };
}

function takesTime(schema: JsonSchema, examiner: Examiner): boolean {
  const takes = examiner.validator(schema);
  return ["2026-11-24T09:00:00Z", "2026-11-24T09:00:00.123Z"].some((time) => takes(time).length === 0);
}

/** Parts of a time that authors often need as text, such as the date in UTC, each with its expression. */
const partsOfTime = [
  { sample: "2026-11-24", cut: "substring(0, 10)", what: "its day" },
  { sample: "09:00:00", cut: "substring(11, 19)", what: "its time of day" },
  { sample: "09:00", cut: "substring(11, 16)", what: "its time of day" },
];

/**
 * Returns a hint for an expression that gives a whole time where the schema wants only a part, such as the date. The hint says how to get
 * this part. Returns "" if the schema accepts none of the known parts.
 */
function cureOf(source: string, schema: JsonSchema, examiner: Examiner): string {
  const takes = examiner.validator(schema);
  const part = partsOfTime.find(({ sample }) => takes(sample).length === 0);
  if (part === undefined) return "";
  const text = /^\s*string\([^()]*(?:\([^()]*\)[^()]*)*\)\s*$/.test(source)
    ? source.trim()
    : `string(${source.trim()})`;
  return `; write ${JSON.stringify({ $cel: `${text}.${part.cut}` })} for ${part.what}, in UTC`;
}

function ofType(type: "array" | "object", schema: JsonSchema, path: Path): Examination {
  const isTaken = schema.type === undefined || [schema.type].flat().includes(type);
  return isTaken ? certain : fault(path, `must be ${[schema.type].flat().join(" or ")}`);
}

function ofCount(count: number, min: unknown, max: unknown, what: string, path: Path): Examination {
  if (typeof min === "number" && count < min) return fault(path, `must NOT have fewer than ${min} ${what}`);
  if (typeof max === "number" && count > max) return fault(path, `must NOT have more than ${max} ${what}`);
  return certain;
}

function itemSchema({ items, prefixItems }: JsonSchema, index: number): unknown {
  if (Array.isArray(prefixItems) && index < prefixItems.length) return prefixItems[index];
  return items;
}

/**
 * Maximum number of unknown properties of an object for which a similar known name is searched. One search takes up to 10 µs for each known
 * name.
 */
const comparedMax = 20;

function ofProperties(entries: TemplateEntries, schema: JsonSchema, examiner: Examiner, path: Path): Examination[] {
  const properties = isObject(schema.properties) ? (schema.properties as JsonSchema) : {};
  const names = new Set(entries.map(([name]) => name));
  let unknown = 0;
  const found = entries.map(([name, item]) => {
    if (Object.hasOwn(properties, name)) return examine(item, properties[name], examiner, [...path, name]);
    if (schema.patternProperties !== undefined) return uncertain;
    if (schema.additionalProperties !== false)
      return examine(item, schema.additionalProperties, examiner, [...path, name]);
    const isCompared = ++unknown <= comparedMax;
    const free = isCompared ? Object.keys(properties).filter((other) => !names.has(other)) : [];
    return fault([...path, name], unknownPropertyText(name, free));
  });
  const lacks = (name: unknown) => fault(path, `must have required property '${name}'`);
  for (const name of listOf(schema.required)) if (!names.has(String(name))) found.push(lacks(name));
  const dependent = isObject(schema.dependentRequired) ? schema.dependentRequired : {};
  for (const [name, others] of Object.entries(dependent)) {
    if (!names.has(name)) continue;
    for (const other of listOf(others)) if (!names.has(String(other))) found.push(lacks(other));
  }
  return found;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Compares a template with the parts of a schema that combine other schemas, such as `anyOf`, and returns the result. */
function ofRules(template: ValueTemplate, schema: JsonSchema, examiner: Examiner, path: Path): Examination {
  const look = (rule: unknown) => examine(template, rule, examiner, path);
  const parts = branchesOf(schema, "allOf").map(look);
  const any = branchesOf(schema, "anyOf").map(look);
  if (any.length > 0) parts.push(ofAlternatives(any, path, "must match a schema in anyOf"));
  const one = branchesOf(schema, "oneOf").map(look);
  const holding = one.filter(({ isCertain }) => isCertain).length;
  if (holding > 1) parts.push(fault(path, "must match exactly one schema in oneOf"));
  else if (one.length > 0) {
    const found = ofAlternatives(one, path, "must match exactly one schema in oneOf");
    const isAlone = one.filter(({ faults }) => faults.length === 0).length === 1;
    parts.push(isAlone ? found : { ...found, isCertain: false });
  }
  if (schema.not !== undefined) {
    const { isCertain, faults } = look(schema.not);
    parts.push(isCertain ? fault(path, "must NOT be valid") : faults.length > 0 ? certain : uncertain);
  }
  if (schema.if !== undefined) {
    const { isCertain, faults } = look(schema.if);
    parts.push(isCertain ? look(schema.then) : faults.length > 0 ? look(schema.else) : uncertain);
  }
  const dependent = isObject(schema.dependentSchemas) ? schema.dependentSchemas : {};
  for (const [name, rule] of Object.entries(dependent)) {
    if (template.kind === "object" && template.entries.some(([entry]) => entry === name)) parts.push(look(rule));
  }
  if (schema.unevaluatedProperties !== undefined || schema.$ref !== undefined) parts.push(uncertain);
  return together(parts);
}

function ofAlternatives(branches: readonly Examination[], path: Path, message: string): Examination {
  if (branches.some(({ isCertain }) => isCertain)) return certain;
  return branches.every(({ faults }) => faults.length > 0) ? fault(path, message) : uncertain;
}
