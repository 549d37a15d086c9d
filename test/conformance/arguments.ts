import { createValidator, type JsonSchema } from "@svc/catalog";
import fc from "fast-check";
import { drawText, type TextUse } from "./texts.ts";

/** Which of the optional properties are given. Rules between arguments may require or forbid some of them. */
export type Optionals = "none" | "some" | "all";

/** State while values are drawn. `draw`: fast-check's generator. `useOf`: returns the purpose of a top-level argument. */
export type Drawing = {
  readonly draw: fc.GeneratorValue;
  readonly optionals: Optionals;
  readonly useOf: (argument: string) => TextUse;
};

type Values = Record<string, unknown>;
type Context = { readonly draw: fc.GeneratorValue; readonly optionals: Optionals; readonly use: TextUse };

/**
 * Draws random arguments for an input schema. Rules of the schema (anyOf, oneOf, not, if, dependentRequired, limits on the number of
 * properties) are followed as far as possible but not guaranteed. So the caller must filter the result with the tool's validator.
 */
export function drawArguments(schema: JsonSchema, { draw, optionals, useOf }: Drawing): Values {
  return drawObject(schema, { draw, optionals, use: "any" }, useOf);
}

function drawValue(schema: JsonSchema, context: Context): unknown {
  const { draw } = context;
  if (schema["const"] !== undefined) return schema["const"];
  if (Array.isArray(schema["enum"])) return draw(fc.constantFrom, ...schema["enum"]);
  switch (typeOf(schema, draw)) {
    case "object":
      return drawObject(schema, context);
    case "array":
      return drawList(schema, context);
    case "string":
      return drawText(schema, draw, context.use);
    case "boolean":
      return draw(fc.boolean);
    case "integer":
      return drawInteger(withBranch(schema, draw), draw);
    case "number":
      return schema["multipleOf"] === undefined ? drawNumber(schema, draw) : drawInteger(schema, draw);
    default:
      return draw(anything);
  }
}

/** Returns one type of a schema that allows several types. */
function typeOf(schema: JsonSchema, draw: fc.GeneratorValue): unknown {
  const types = [schema["type"] ?? (schema["properties"] === undefined ? "anything" : "object")].flat();
  return types.length === 1 ? types[0] : draw(fc.constantFrom, ...types);
}

/** Returns the schema of a scalar, merged with one of its `anyOf` alternatives. */
function withBranch(schema: JsonSchema, draw: fc.GeneratorValue): JsonSchema {
  const branches = schema["anyOf"] as JsonSchema[] | undefined;
  if (branches === undefined) return schema;
  const branch = draw(fc.constantFrom, ...branches);
  return branch["const"] === undefined
    ? { ...schema, ...branch }
    : { ...schema, minimum: branch["const"], maximum: branch["const"] };
}

const anyValue = fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean());
const anything = () => anyValue;

function drawInteger(schema: JsonSchema, draw: fc.GeneratorValue): number {
  const { minimum, maximum, multipleOf = 1 } = schema as Record<string, number | undefined>;
  const min = minimum ?? Math.min(0, maximum ?? 0) - 1000;
  return draw(integerBetween, min, maximum ?? Math.max(min, 0) + 100_000) * multipleOf;
}

const integerBetween = (min: number, max: number) => fc.integer({ min: Math.ceil(min), max: Math.floor(max) });

function drawNumber(schema: JsonSchema, draw: fc.GeneratorValue): number {
  const { minimum = -1000, maximum = Math.max(minimum, 0) + 100_000 } = schema as Record<string, number | undefined>;
  // Adding 0 converts -0 to 0, because JSON cannot express -0.
  return draw(numberBetween, minimum, maximum) + 0;
}

const numberBetween = (min: number, max: number) => fc.double({ min, max, noNaN: true });

function drawList(schema: JsonSchema, context: Context): unknown[] {
  const { minItems = 0, maxItems = minItems + 3 } = schema as Record<string, number | undefined>;
  const length = context.draw(integerBetween, minItems, Math.min(maxItems, minItems + 3));
  const items = (schema["items"] ?? {}) as JsonSchema;
  return Array.from({ length }, () => drawValue(items, context));
}

function drawObject(schema: JsonSchema, context: Context, useOf: Drawing["useOf"] = () => "any"): Values {
  const properties = propertiesOf(schema);
  const maker = new ObjectMaker(schema, (name) => {
    return drawValue(properties[name] ?? {}, { ...context, use: useOf(name) });
  });
  for (const name of Object.keys(properties)) {
    const isGiven = context.optionals === "all" || (context.optionals === "some" && context.draw(fc.boolean));
    if (maker.isRequired(name) || isGiven) maker.add(name);
  }
  addFreeProperties(schema, maker.values, context);
  // Repeated, because satisfying one rule may require another.
  for (let round = 0; round < 3; round++) steer(schema, schema, maker, context);
  return maker.values;
}

/** Adds free properties to an object that is a map: its values have a schema, or any value is allowed. */
function addFreeProperties(schema: JsonSchema, values: Values, context: Context): void {
  const { additionalProperties = true, minProperties = 0 } = schema as { minProperties?: number } & JsonSchema;
  const isMap = typeof additionalProperties === "object" || schema["properties"] === undefined;
  if (!isMap || additionalProperties === false) return;
  const count =
    context.draw(integerBetween, 0, 2) + Math.max(0, (minProperties as number) - Object.keys(values).length);
  const of = typeof additionalProperties === "object" ? (additionalProperties as JsonSchema) : {};
  for (let index = 0; index < count; index++) values[`key${index}`] = drawValue(of, context);
}

/** Builds an object by drawing properties and removing those that no rule requires. */
class ObjectMaker {
  readonly values: Values;
  readonly schema: JsonSchema;
  readonly #draw: (name: string) => unknown;

  constructor(schema: JsonSchema, draw: (name: string) => unknown, values: Values = {}) {
    this.schema = schema;
    this.values = values;
    this.#draw = draw;
  }

  isRequired(name: string): boolean {
    return requiredOf(this.schema).includes(name);
  }

  add(name: string): void {
    if (!Object.hasOwn(this.values, name)) this.values[name] = this.#draw(name);
  }

  /** Removes a property, and the properties that require it. */
  remove(name: string): void {
    if (this.isRequired(name) || !Object.hasOwn(this.values, name)) return;
    delete this.values[name];
    const rules = (this.schema["dependentRequired"] ?? {}) as Record<string, readonly string[]>;
    for (const [other, needed] of Object.entries(rules)) if (needed.includes(name)) this.remove(other);
  }
}

/** Changes an object so that it satisfies rules: those of its own schema, or of one of their branches. */
function steer(rules: JsonSchema, schema: JsonSchema, maker: ObjectMaker, context: Context): void {
  for (const name of requiredOf(rules)) maker.add(name);
  for (const [name, others] of Object.entries((rules["dependentRequired"] ?? {}) as Record<string, string[]>)) {
    if (Object.hasOwn(maker.values, name)) for (const other of others) maker.add(other);
  }
  for (const [name, rule] of Object.entries((rules["dependentSchemas"] ?? {}) as Record<string, JsonSchema>)) {
    if (Object.hasOwn(maker.values, name)) steer(rule, schema, maker, context);
  }
  steerBranches(rules, schema, maker, context);
  steerCount(rules, maker, context);
  if (rules !== schema) steerProperties(rules, schema, maker, context);
}

function steerBranches(rules: JsonSchema, schema: JsonSchema, maker: ObjectMaker, context: Context): void {
  for (const rule of branchesOf(rules, "allOf")) steer(rule, schema, maker, context);
  const anyOf = branchesOf(rules, "anyOf");
  if (anyOf.length > 0 && !anyOf.some((branch) => satisfies(branch, maker.values))) {
    steer(context.draw(fc.constantFrom, ...anyOf), schema, maker, context);
  }
  const oneOf = branchesOf(rules, "oneOf");
  if (oneOf.length > 0 && oneOf.filter((branch) => satisfies(branch, maker.values)).length !== 1) {
    for (const name of oneOf.flatMap(requiredOf)) maker.remove(name);
    steer(context.draw(fc.constantFrom, ...oneOf), schema, maker, context);
  }
  const not = rules["not"] as JsonSchema | undefined;
  if (not !== undefined && satisfies(not, maker.values))
    for (const name of requiredOf(not).slice(-1)) maker.remove(name);
  if (rules["if"] === undefined) return;
  const branch = rules[satisfies(rules["if"] as JsonSchema, maker.values) ? "then" : "else"] as JsonSchema | undefined;
  if (branch !== undefined) steer(branch, schema, maker, context);
}

function steerCount(rules: JsonSchema, maker: ObjectMaker, context: Context): void {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = rules as Record<string, number | undefined>;
  const absent = Object.keys(propertiesOf(maker.schema)).filter((name) => !Object.hasOwn(maker.values, name));
  while (Object.keys(maker.values).length < minProperties && absent.length > 0) {
    maker.add(absent.splice(context.draw(integerBetween, 0, absent.length - 1), 1)[0] ?? "");
  }
  for (const name of Object.keys(maker.values).slice(maxProperties)) maker.remove(name);
}

/** Applies the rules for single properties: a value, a limit, that the property must be absent, or rules for its content. */
function steerProperties(rules: JsonSchema, schema: JsonSchema, maker: ObjectMaker, context: Context): void {
  for (const [name, rule] of Object.entries(propertiesOf(rules))) {
    const value = maker.values[name];
    if (value === undefined || satisfies(rule, value)) continue;
    const own = propertiesOf(schema)[name] ?? {};
    if (rule["not"] !== undefined && Object.keys(rule["not"] as object).length === 0) maker.remove(name);
    else if (typeof value !== "object" || value === null || Array.isArray(value))
      maker.values[name] = drawValue({ ...own, ...rule }, context);
    else {
      const properties = propertiesOf(own);
      const draw = (inner: string) => drawValue(properties[inner] ?? {}, context);
      steer(rule, own, new ObjectMaker(own, draw, value as Values), context);
    }
  }
}

const validators = new WeakMap<JsonSchema, ReturnType<typeof createValidator>>();

function satisfies(rule: JsonSchema, value: unknown): boolean {
  let validate = validators.get(rule);
  if (validate === undefined) {
    validate = createValidator(rule);
    validators.set(rule, validate);
  }
  return validate(value).length === 0;
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema["properties"] ?? {}) as Record<string, JsonSchema>;
}

function requiredOf(schema: JsonSchema): readonly string[] {
  return (schema["required"] ?? []) as readonly string[];
}

function branchesOf(schema: JsonSchema, keyword: "allOf" | "anyOf" | "oneOf"): readonly JsonSchema[] {
  return (schema[keyword] ?? []) as readonly JsonSchema[];
}
