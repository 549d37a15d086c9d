import { nearest } from "@svc/catalog";
import { isRawJson } from "@svc/core";

/** Items of a list that are looked at: those of one list are alike. */
const itemsMax = 100;
/** Names that a warning tells, and how long it may quote a path. */
const namesMax = 8;
const quotedMax = 80;
/** Paths that are warned of: whoever names a hundred wrong ones learns it from a few. */
const warningsMax = 5;

/**
 * A warning for each dotted path that meets nothing in a result, with the name that was likely meant: a path that is misspelled keeps
 * nothing, without another word. A path that ends in an empty list or in null is none: what would stand there is not known.
 */
export function warnOfMissingFields(value: unknown, fields: readonly string[]): string[] {
  const unmet = fields.flatMap((field) => {
    const lacking = lackingAt([value], field.split("."));
    return lacking === undefined ? [] : [warningOf(field, lacking)];
  });
  return unmet.slice(0, warningsMax);
}

/** Where a path ends: the step that nothing has, and the names that stand there instead. */
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

/** The items of a list and of the lists in it, else the value itself. */
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
  return `fields: ${quote(field)} meets nothing in this result: ${there}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text);
}
