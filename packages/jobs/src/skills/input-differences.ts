import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import { canonicalJson, type JsonValue } from "@svc/program";

/**
 * What of the inputs that one schema takes another may refuse, each difference as a text that names its place; none where it takes
 * them all. Errs on the side of a difference. Both are schemas of programs, whose keywords are few.
 */
export function inputDifferences(before: JsonSchema, after: JsonSchema): string[] {
  return [...differencesAt(before, after, "input")];
}

/** Bounds that narrow as they grow, and as they shrink. */
const lowerBounds = ["minItems", "minLength", "minimum", "exclusiveMinimum", "minProperties"];
const upperBounds = ["maxItems", "maxLength", "maximum", "exclusiveMaximum", "maxProperties"];
/** What is not compared further: the same, or gone. */
const wholeKeywords = ["pattern", "format", "multipleOf", "dependentRequired", "anyOf", "oneOf", "allOf"];

function* differencesAt(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  yield* typeDifferences(before, after, at);
  yield* valueDifferences(before, after, at);
  yield* boundDifferences(before, after, at);
  for (const keyword of wholeKeywords) {
    if (after[keyword] !== undefined && !isSame(before[keyword], after[keyword])) {
      yield `${at} has another ${keyword}`;
    }
  }
  if (before["x-sensitive"] === true && after["x-sensitive"] !== true) yield `${at} is not marked x-sensitive any more`;
  yield* fieldDifferences(before, after, at);
  if (isObject(after.items)) yield* differencesAt(isObject(before.items) ? before.items : {}, after.items, `${at}[]`);
}

function* typeDifferences(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  if (after.type === undefined) return;
  const taken = namesOf(after.type);
  const given = before.type === undefined ? ["anything"] : namesOf(before.type);
  const refused = given.filter((type) => !taken.includes(type) && !(type === "integer" && taken.includes("number")));
  if (refused.length > 0) yield `${at} was ${given.join(" or ")} and is ${taken.join(" or ")}`;
}

function* valueDifferences(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  const taken = valuesOf(after);
  if (taken === undefined) return;
  const given = valuesOf(before);
  if (given === undefined) yield `${at} takes ${taken.join(", ")} alone`;
  const refused = given?.filter((value) => !taken.includes(value)) ?? [];
  if (refused.length > 0) yield `${at} does not take ${refused.join(", ")} any more`;
}

function* boundDifferences(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  const narrows = (keyword: string, sign: 1 | -1) => {
    const [was, is] = [before[keyword], after[keyword]];
    return is !== undefined && !(typeof was === "number" && typeof is === "number" && sign * is <= sign * was);
  };
  for (const keyword of lowerBounds) if (narrows(keyword, 1)) yield `${at} has a ${keyword} of ${after[keyword]}`;
  for (const keyword of upperBounds) if (narrows(keyword, -1)) yield `${at} has a ${keyword} of ${after[keyword]}`;
}

function* fieldDifferences(before: JsonSchema, after: JsonSchema, at: string): Generator<string> {
  const [was, is] = [propertiesOf(before), propertiesOf(after)];
  const isClosed = after.additionalProperties === false;
  if (isClosed && before.additionalProperties !== false && before.type === "object") {
    yield `${at} takes no other fields any more`;
  }
  for (const [name, schema] of was) {
    const now = is.get(name);
    if (now !== undefined) yield* differencesAt(schema, now, `${at}.${name}`);
    else if (isClosed) yield `${at}.${name} is not taken any more`;
  }
  for (const [name, schema] of is) {
    // Whoever gave a field of that name that nothing was said of may have given anything.
    if (!was.has(name) && before.additionalProperties !== false) yield* differencesAt({}, schema, `${at}.${name}`);
  }
  const needed = new Set(namesOf(before.required));
  for (const name of namesOf(after.required)) {
    if (!needed.has(name) && is.get(name)?.default === undefined) yield `${at}.${name} is required`;
  }
}

function propertiesOf({ properties }: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const entries = isObject(properties) ? Object.entries(properties) : [];
  return new Map(entries.flatMap(([name, schema]) => (isObject(schema) ? [[name, schema] as const] : [])));
}

/** The names that a keyword such as `type` or `required` lists. */
function namesOf(names: unknown): string[] {
  return [names].flat().filter((name) => typeof name === "string");
}

/** The values that alone are taken, as JSON texts; undefined for any. */
function valuesOf({ const: only, enum: some }: JsonSchema): string[] | undefined {
  if (only !== undefined) return [textOf(only)];
  return Array.isArray(some) ? some.map(textOf) : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return one !== undefined && textOf(one) === textOf(other);
}

function textOf(value: unknown): string {
  return canonicalJson(value as JsonValue);
}
