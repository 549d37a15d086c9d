import { createValidator, type JsonSchema } from "@svc/catalog";
import fc from "fast-check";
import { drawText, type TextUse } from "./texts.ts";

/** How many of the optional properties are given. Rules between arguments may still ask for some, or refuse some. */
export type Optionals = "none" | "some" | "all";

/** Values in the making. `draw` is fast-check's generator value; `useOf` tells the use of a top-level argument. */
export type Drawing = {
  readonly draw: fc.GeneratorValue;
  readonly optionals: Optionals;
  readonly useOf: (argument: string) => TextUse;
};

type Values = Record<string, unknown>;
type Context = { readonly draw: fc.GeneratorValue; readonly optionals: Optionals; readonly use: TextUse };

/**
 * Draws arguments from an input schema. The schema's own rules (anyOf, oneOf, not, if, dependentRequired, bounds on the number
 * of properties) are steered towards, not proven: the caller filters by the tool's validator.
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

/** A text of a schema with several types is drawn as one of them, where the app takes either. */
function typeOf(schema: JsonSchema, draw: fc.GeneratorValue): unknown {
  const types = [schema["type"] ?? (schema["properties"] === undefined ? "anything" : "object")].flat();
  return types.length === 1 ? types[0] : draw(fc.constantFrom, ...types);
}

/** One of a scalar's `anyOf` alternatives, merged into it. */
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
  // Adding 0 turns -0, which JSON cannot say, into 0.
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
  // Meeting one rule may call for another.
  for (let round = 0; round < 3; round++) steer(schema, schema, maker, context);
  return maker.values;
}

/** Entries of a map: its values have a schema, or it takes anything. */
function addFreeProperties(schema: JsonSchema, values: Values, context: Context): void {
  const { additionalProperties = true, minProperties = 0 } = schema as { minProperties?: number } & JsonSchema;
  const isMap = typeof additionalProperties === "object" || schema["properties"] === undefined;
  if (!isMap || additionalProperties === false) return;
  const count =
    context.draw(integerBetween, 0, 2) + Math.max(0, (minProperties as number) - Object.keys(values).length);
  const of = typeof additionalProperties === "object" ? (additionalProperties as JsonSchema) : {};
  for (let index = 0; index < count; index++) values[`key${index}`] = drawValue(of, context);
}

/** An object that grows by drawing properties and shrinks by those that no rule requires. */
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

  /** Removes a property, and those that cannot stand without it. */
  remove(name: string): void {
    if (this.isRequired(name) || !Object.hasOwn(this.values, name)) return;
    delete this.values[name];
    const rules = (this.schema["dependentRequired"] ?? {}) as Record<string, readonly string[]>;
    for (const [other, needed] of Object.entries(rules)) if (needed.includes(name)) this.remove(other);
  }
}

/** Brings an object towards rules: those of its own schema, or of one of their branches. */
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

/** What a rule says of single properties: a value, a bound, that it must not be there, or what is inside it. */
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
