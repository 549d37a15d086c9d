import { isObject } from "@svc/core";
import type { ErrorObject } from "ajv/dist/2020.js";

/**
 * Returns the errors of a JSON Schema validation without those that only follow from other errors.
 * - A failed choice (`oneOf` or `anyOf`) gets one error.
 * - A keyword with schemas inside it gets no error if one of these schemas already has errors.
 * - `errors` must be in the order in which Ajv reports them, with inner errors first. Each error must include its schema and its value.
 */
export function withoutNoise(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    const { keyword, params, schemaPath } = error;
    if (keyword === "anyOf" || keyword === "oneOf") {
      kept.push(...ofAlternatives(error, takeBelow(kept, error, `${schemaPath}/`)));
    } else if (keyword === "contains") {
      takeBelow(kept, error, `${schemaPath}/`);
      kept.push(error);
    } else if (keyword === "propertyNames") {
      const [below] = takeBelow(kept, error, `${schemaPath}/`);
      kept.push(below === undefined ? error : { ...error, message: `has a property whose name ${below.message}` });
    } else if (keyword === "if") {
      const branch = `${schemaPath.slice(0, -keyword.length)}${params.failingKeyword}/`;
      if (kept.at(-1)?.schemaPath.startsWith(branch) !== true) kept.push(error);
    } else {
      kept.push(error);
    }
  }
  return kept;
}

/** Removes from the end of `kept` the errors below the schema path `prefix`, and returns them. */
function takeBelow(kept: ErrorObject[], { instancePath }: ErrorObject, prefix: string): ErrorObject[] {
  let start = kept.length;
  const isBelow = (error: ErrorObject | undefined) =>
    error?.schemaPath.startsWith(prefix) === true && error.instancePath.startsWith(instancePath);
  while (start > 0 && isBelow(kept[start - 1])) start--;
  return kept.splice(start);
}

function ofAlternatives(error: ErrorObject, below: readonly ErrorObject[]): ErrorObject[] {
  const branches: readonly unknown[] = Array.isArray(error.schema) ? error.schema : [];
  const needed = branches.map(namesOfRequired);
  if (needed.every((names) => names !== undefined)) return [{ ...error, message: ofRequired(error, needed) }];
  const passing: unknown = error.params.passingSchemas;
  if (Array.isArray(passing)) {
    return [
      { ...error, message: `must have exactly one of ${branches.length} forms, and has ${passing.length} of them` },
    ];
  }
  const faults = faultsOfBranches(error, below).filter((_, index) => !isNull(branches[index]));
  const meant = faults.length === 1 ? faults : faults.filter((found) => !isOfOtherKind(error, found));
  const [only] = meant;
  if (only !== undefined && only.length > 0 && meant.length === 1) return [...only];
  return [{ ...error, message: ofForms(error, faults.flat(), branches) }];
}

/**
 * Returns the property names in a branch (one schema inside `anyOf` or `oneOf`) that has only the keyword `required`. Returns undefined if
 * the branch has any other keyword.
 */
function namesOfRequired(branch: unknown): readonly string[] | undefined {
  if (!isObject(branch) || !Array.isArray(branch.required) || Object.keys(branch).length !== 1) return undefined;
  return branch.required.map(String);
}

function ofRequired({ keyword, data }: ErrorObject, needed: readonly (readonly string[])[]): string {
  const choices = needed.map((names) => listText(names, "and"));
  if (keyword === "anyOf") return `must have at least one of ${listText(choices, "or")}`;
  const given = needed.filter((names) => isObject(data) && names.every((name) => Object.hasOwn(data, name)));
  const text =
    choices.length === 2
      ? `must have either ${listText(choices, "or")}`
      : `must have one of ${listText(choices, "or")}`;
  return given.length < 2 ? text : `${text}, and not ${given.length === 2 ? "both" : "several"}`;
}

/**
 * Sorts the errors of a schema choice (`anyOf` or `oneOf`) by its branches (alternatives). Returns one list of errors for each branch, in
 * the order of the branches in the schema.
 */
function faultsOfBranches({ schemaPath, schema }: ErrorObject, below: readonly ErrorObject[]): ErrorObject[][] {
  const faults: ErrorObject[][] = Array.from({ length: Array.isArray(schema) ? schema.length : 0 }, () => []);
  for (const error of below) faults[Number.parseInt(error.schemaPath.slice(schemaPath.length + 1), 10)]?.push(error);
  return faults;
}

function isNull(branch: unknown): boolean {
  return isObject(branch) && branch.type === "null";
}

/**
 * True if a value clearly does not match one branch (one schema inside `anyOf` or `oneOf`). This is the case if the value has another type,
 * or if a field that must have a fixed value (`const`) has another value.
 */
function isOfOtherKind({ instancePath }: ErrorObject, faults: readonly ErrorObject[]): boolean {
  return faults.some(
    ({ keyword, instancePath: place }) => (keyword === "type" && place === instancePath) || keyword === "const",
  );
}

function ofForms({ schema }: ErrorObject, faults: readonly ErrorObject[], branches: readonly unknown[]): string {
  const types = faults.map(({ keyword, params }) =>
    keyword === "type" ? [params.type].flat().map(String) : undefined,
  );
  if (faults.length > 0 && types.every((names) => names !== undefined)) {
    const all = [...types.flat(), ...(branches.some(isNull) ? ["null"] : [])];
    return `must be ${listText([...new Set(all)], "or")}`;
  }
  const reasons = [...new Set(faults.map(({ message }) => String(message)))];
  const count = Array.isArray(schema) ? schema.length : 0;
  const shown = reasons.slice(0, 3).map((reason) => shorten(reason, 100));
  return `must have one of ${count} forms${shown.length === 0 ? "" : `: it ${shown.join("; or it ")}`}`;
}

/** Returns names as part of a sentence: `a, b or c`. Lists at most twenty names. */
function listText(names: readonly string[], word: "and" | "or"): string {
  const shown = names.slice(0, namesMax).map((name) => shorten(name, 100));
  if (names.length > namesMax) return `${shown.join(", ")} ${word} one of ${names.length - namesMax} more`;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} ${word} ${shown.at(-1)}`;
}

const namesMax = 20;

/** Returns a text of at most `lengthMax` characters. Three dots mark a cut text. */
export function shorten(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 3).toWellFormed()}...` : text;
}
