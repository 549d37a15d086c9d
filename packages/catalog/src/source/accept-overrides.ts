import { ImportError } from "../import/import-fault.ts";
import { entriesMax, optionsBytesMax } from "../import/select.ts";
import { globOf, plainText } from "../import/texts.ts";
import type { ImportOverride } from "../import/tool-names.ts";
import { accessClasses } from "../read/documents.ts";
import { type AcceptedOverrides, descriptionMax } from "./apply-overrides.ts";
import { memberOf } from "./compare-definitions.ts";

/** The parts of a source's stored options that an acceptance changes. `names`, `moved`: absent for an MCP server. */
type StoredOptions = {
  readonly overrides: readonly ImportOverride[];
  readonly names?: Readonly<Record<string, string>>;
  readonly moved?: Readonly<Record<string, string>>;
};

/** The tools of an acceptance: their names in both definitions, and if a tool's changes are accepted. */
type ToolsOfAcceptance = { readonly names: ReadonlySet<string>; readonly isAccepted: (name: string) => boolean };

/**
 * Adds an approver's overrides (choices for imported tools) to the stored options of a source, so that later reads of the source apply
 * them. If a tool was renamed, its override is stored under the tool's original name. A class applies only to tools whose changes are
 * accepted, and then also to a tool that got its name from another operation. Throws ImportError if an override is malformed or matches no
 * tool, or if there are too many.
 */
export function addOverrides(
  options: string,
  given: readonly ImportOverride[],
  { names: toolNames, isAccepted }: ToolsOfAcceptance,
): { readonly options: string; readonly overrides: AcceptedOverrides } {
  checkSize(given);
  const stored = JSON.parse(options) as StoredOptions;
  const { names = {}, moved = {} } = stored;
  const sourceNames: Record<string, string> = {};
  for (const { match, name } of stored.overrides) {
    const source = match.includes("*") ? Object.values(names).find(globOf(match)) : match;
    if (name !== "" && source !== undefined) sourceNames[name] = source;
  }
  const tools = [...toolNames].map((name) => ({
    ...{ name, source: memberOf(sourceNames, name) ?? name, isAccepted: isAccepted(name) },
  }));
  const expanded = given.map((override, index) => {
    checkOverride(override, index);
    return sourceOverrides(override, index, tools);
  });
  const list = expanded.flat();
  const overrides = [...stored.overrides.filter((old) => !list.some((newer) => replaces(newer, old))), ...list];
  checkSize(overrides, expanded);
  const finalNames = new Map(Object.entries(sourceNames).map(([final, source]) => [source, final]));
  const classed = list.filter((one) => one.class !== "").map(({ match }) => globOf(match));
  const isClassed = (name: string) => classed.some((isMeant) => isMeant(name));
  const isBound = ([, name]: readonly [string, string]) => isClassed(name) && isAccepted(finalNames.get(name) ?? name);
  const { true: bound = [], false: rest = [] } = Object.groupBy(Object.entries(moved), (one) => `${isBound(one)}`);
  const taken = new Set(bound.map(([, name]) => name));
  const kept = Object.entries(names).filter(([, name]) => !taken.has(name));
  const rebound = { names: Object.fromEntries([...kept, ...bound]), moved: Object.fromEntries(rest) };
  return {
    options: JSON.stringify({ ...stored, overrides, ...(stored.names !== undefined && rebound) }),
    overrides: { list, sourceNames, moved: rest.map(([, name]) => name) },
  };
}

/** A tool of an acceptance. `source`: the name that the import gave to it, before an override of the import changed it. */
type NamedTool = { readonly name: string; readonly source: string; readonly isAccepted: boolean };

/** Returns an override with the names that the import gave: itself if it means the same tools by them, else one for each tool. */
function sourceOverrides(
  override: ImportOverride,
  index: number,
  tools: readonly NamedTool[],
): readonly ImportOverride[] {
  const isMeant = globOf(override.match);
  const meant = tools.filter(({ name }) => isMeant(name));
  if (meant.length === 0) {
    const names = tools.slice(0, 5).map(({ name }) => name);
    const advice = `Tools are named such as ${names.join(", ")}.`;
    const problem = `the override ${JSON.stringify(override.match.slice(0, 100))} matches no tool`;
    throw new ImportError("OVERRIDE_UNKNOWN", problem, advice, `overrides[${index}].match`);
  }
  const isWhole = override.class === "" || meant.every((tool) => tool.isAccepted);
  const isRenamed = ({ name, source }: NamedTool) => name !== source && isMeant(name) !== isMeant(source);
  if (isWhole && !tools.some(isRenamed)) return [override];
  return meant
    .map(({ source, isAccepted }) => ({ ...override, match: source, class: isAccepted ? override.class : "" }))
    .filter((one) => one.class !== "" || one.description !== "");
}

/**
 * Throws ImportError if there are too many overrides, or if they are too long. `expanded`: the overrides of the tools that each override of
 * the request stands for. The error names the one that stands for the most, because its pattern looks like a single override.
 */
function checkSize(overrides: readonly ImportOverride[], expanded: readonly (readonly ImportOverride[])[] = []): void {
  const bytes = overrides.length > entriesMax ? 0 : Buffer.byteLength(JSON.stringify(overrides));
  if (overrides.length <= entriesMax && bytes <= optionsBytesMax) return;
  const size = bytes > 0 ? `overrides of ${bytes} bytes` : `${overrides.length} overrides`;
  const problem = `the toolkit would have ${size}, and may have ${bytes > 0 ? optionsBytesMax : entriesMax}`;
  const most = Math.max(0, ...expanded.map(({ length }) => length));
  const index = expanded.findIndex(({ length }) => length === most);
  if (most < 2)
    throw new ImportError("SOURCE_INVALID", problem, "One override with * can match many tools.", "overrides");
  const reason = `overrides[${index}] becomes ${most}, one for each tool, because some tools are renamed or not accepted`;
  const advice = "Accept all tools that it matches, or match fewer.";
  throw new ImportError("SOURCE_INVALID", `${problem}; ${reason}`, advice, `overrides[${index}].match`);
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
