import { entriesMax, optionsBytesMax } from "../import/convert-import.ts";
import { ImportError } from "../import/import-fault.ts";
import type { ImportOverride } from "../import/import-openapi.ts";
import { globOf, plainText } from "../import/texts.ts";
import { accessClasses } from "../read/documents.ts";
import { type AcceptedOverrides, descriptionMax } from "./apply-overrides.ts";
import { memberOf } from "./compare-definitions.ts";
import { readOptions } from "./source-options.ts";

/**
 * Adds overrides to the stored options of a source, for the reads to come. `isAccepted`: true for the name of a tool whose changes are
 * accepted. If such a tool got its name from another operation, a class applies to it from now on. Throws ImportError if an override is
 * malformed, or if there are too many.
 */
export function addOverrides(
  options: string,
  given: readonly ImportOverride[],
  isAccepted: (name: string) => boolean,
): { readonly options: string; readonly overrides: AcceptedOverrides } {
  checkSize(given);
  const stored = readOptions(options);
  const { names = {}, moved = {} } = "names" in stored ? stored : {};
  const sourceNames: Record<string, string> = {};
  for (const { match, name } of stored.overrides) {
    const source = match.includes("*") ? Object.values(names).find(globOf(match)) : match;
    if (name !== "" && source !== undefined) sourceNames[name] = source;
  }
  const list = given.map((override, index) => {
    checkOverride(override, index);
    return { ...override, match: memberOf(sourceNames, override.match) ?? override.match };
  });
  const overrides = [...stored.overrides.filter((old) => !list.some((newer) => replaces(newer, old))), ...list];
  checkSize(overrides);
  const finalNames = new Map(Object.entries(sourceNames).map(([final, source]) => [source, final]));
  const classed = list.filter((one) => one.class !== "").map(({ match }) => globOf(match));
  const isClassed = (name: string) => classed.some((isMeant) => isMeant(name));
  const isBound = ([, name]: readonly [string, string]) => isClassed(name) && isAccepted(finalNames.get(name) ?? name);
  const { true: bound = [], false: rest = [] } = Object.groupBy(Object.entries(moved), (one) => `${isBound(one)}`);
  const taken = new Set(bound.map(([, name]) => name));
  const kept = Object.entries(names).filter(([, name]) => !taken.has(name));
  const rebound = { names: Object.fromEntries([...kept, ...bound]), moved: Object.fromEntries(rest) };
  return {
    options: JSON.stringify({ ...stored, overrides, ...("names" in stored && rebound) }),
    overrides: { list, sourceNames, moved: rest.map(([, name]) => name) },
  };
}

/** Throws ImportError if there are too many overrides, or if they are too long. */
function checkSize(overrides: readonly ImportOverride[]): void {
  if (overrides.length <= entriesMax && Buffer.byteLength(JSON.stringify(overrides)) <= optionsBytesMax) return;
  const problem = `the toolkit would have ${overrides.length} overrides, or too long ones`;
  throw new ImportError("SOURCE_INVALID", problem, "One override with * can match many tools.", "overrides");
}

/** True if an override has a value for each field of an older one with the same pattern. */
function replaces(newer: ImportOverride, old: ImportOverride): boolean {
  const isWhole = (["class", "description"] as const).every((field) => old[field] === "" || newer[field] !== "");
  return newer.match === old.match && old.name === "" && isWhole;
}

/** Minimum characters of a tool's description. */
const descriptionMin = 40;

function checkOverride({ name, class: access, description }: ImportOverride, index: number): void {
  const fault = (field: string, problem: string, advice: string) =>
    new ImportError("SOURCE_INVALID", problem, advice, `overrides[${index}].${field}`);
  if (name !== "")
    throw fault("name", "an acceptance cannot rename a tool", "ImportToolkit with replace sets new names.");
  if (access !== "" && !accessClasses.some((known) => known === access))
    throw fault(
      "class",
      `${JSON.stringify(access.slice(0, 60))} is not an access class`,
      "Use read, write or destructive.",
    );
  const { length } = plainText(description, descriptionMax);
  if (description !== "" && length < descriptionMin)
    throw fault("description", `the description has ${length} characters`, `Write at least ${descriptionMin}.`);
}
