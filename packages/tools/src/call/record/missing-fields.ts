import { nearest } from "@svc/catalog";
import { isRawJson } from "@svc/core";

/** Maximum number of items of a list that are checked. This is enough, because items of a list usually have the same fields. */
const itemsMax = 100;
/** Maximum number of names that a warning about unknown fields lists. `quotedMax`: maximum length of a quoted path or name. */
const namesMax = 8;
const quotedMax = 80;
/** Maximum number of warnings for one result. Each warning is about one field that the caller requested and the result does not have. */
const warningsMax = 5;

/**
 * Returns a warning for each dotted path that matches nothing in a result. The warning suggests the name that was probably meant. A path
 * that ends in an empty list or null gets no warning, because the fields there are unknown.
 */
export function warnOfMissingFields(value: unknown, fields: readonly string[]): string[] {
  const unmet = fields.flatMap((field) => {
    const lacking = lackingAt([value], field.split("."));
    return lacking === undefined ? [] : [warningOf(field, lacking)];
  });
  return unmet.slice(0, warningsMax);
}

/**
 * The place at which a requested field path (such as `items.id`) does not match a result. `before`: the steps of the path that matched.
 * `step`: the first step without a match. `names`: the names that the result has at this place.
 */
type MissingStep = { readonly before: readonly string[]; readonly step: string; readonly names: readonly string[] };

function lackingAt(
  values: readonly unknown[],
  path: readonly string[],
  before: readonly string[] = [],
): MissingStep | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return undefined;
  const objects = values.flatMap(itemsOf).filter((value) => value !== null);
  if (objects.length === 0) return undefined;
  const found = objects.filter(isObject);
  const children = found.filter((object) => Object.hasOwn(object, step)).map((object) => object[step]);
  if (children.length > 0) return lackingAt(children, rest, [...before, step]);
  return { before, step, names: [...new Set(found.flatMap(Object.keys))] };
}

/** Returns the items of a list and of its nested lists; for another value, the value itself. */
function itemsOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, itemsMax).flatMap(itemsOf) : [value];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isRawJson(value);
}

function warningOf(field: string, { before, step, names }: MissingStep): string {
  const place = before.length === 0 ? "the result" : quote(before.join("."));
  const meant = nearest(step, names);
  const listed = names.slice(0, namesMax).map(quote).join(", ");
  const others = names.length > namesMax ? `${listed} and ${names.length - namesMax} more` : listed;
  const there = meant === undefined ? `${place} has ${others || "no fields"}` : `${quote(meant)} is near`;
  return `fields: ${quote(field)} matches nothing in this result: ${there}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text);
}
