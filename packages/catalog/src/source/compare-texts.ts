import { createHash } from "node:crypto";
import { ImportError, type ImportFault } from "../import/import-fault.ts";
import type { ImportOverride } from "../import/tool-names.ts";
import { checkPrivateToolkit } from "../private/parse-definition.ts";
import { DefinitionError, type FileFault } from "../read/definition-file.ts";
import type { AccessClass } from "../read/documents.ts";
import { addOverrides } from "./accept-overrides.ts";
import { applyOverrides } from "./apply-overrides.ts";
import {
  compareDefinitions,
  type DefinitionDifferences,
  type DefinitionObject,
  memberOf,
  rankOf,
} from "./compare-definitions.ts";
import { type AcceptedChanges, isAcceptedTool, mergeDefinitions } from "./merge-definitions.ts";

/**
 * Differences between the accepted definition of a toolkit and a newer one, as they are stored. `changes`: JSON text of
 * DefinitionDifferences. `digest`: hexadecimal SHA-256 of both definitions, by which an approver accepts the differences.
 */
export type ComparedDefinitions = {
  readonly changes: string;
  readonly digest: string;
  readonly count: number;
  readonly nextDefinition: string;
};

/**
 * A request to apply the changes of a toolkit that an approver accepted. `current`, `next`: both definitions as JSON texts. `digest`:
 * identifies the differences that the approver has seen. `options`: stored options of the source. `overrides`: those that the approver adds
 * to the options.
 */
export type MergeTask = AcceptedChanges & {
  readonly current: string;
  readonly next: string;
  readonly digest: string;
  readonly options: string;
  readonly overrides: readonly ImportOverride[];
};

/**
 * Result of `mergeChecked`: the new definition, the changes that still wait for an approver (`rest`), and the new options of the source.
 * `isOutdated`: the definitions are no longer those that the approver has seen. `fault`: an override is wrong. `definitionFaults`: the
 * rules that the new definition would break.
 */
export type MergeResult =
  | { readonly definitionJson: string; readonly rest: ComparedDefinitions | undefined; readonly options: string }
  | { readonly isOutdated: true }
  | { readonly fault: ImportFault }
  | { readonly definitionFaults: readonly FileFault[] };

/** Compares two definitions that are JSON texts. Undefined if they are equal. `flagged`: tools whose newer texts are suspicious. */
export function compareTexts(
  current: string,
  next: string,
  flagged: readonly string[],
): ComparedDefinitions | undefined {
  const differences = compareDefinitions(parse(current), parse(next), new Set(flagged));
  if (differences.count === 0) return undefined;
  const digest = digestOf(current, next);
  return { changes: JSON.stringify(differences), digest, count: differences.count, nextDefinition: next };
}

/**
 * Applies accepted changes to a definition and checks the result by the rules of private toolkits. Takes up to seconds of processor time,
 * so it runs in a thread of its own.
 */
export async function mergeChecked(task: MergeTask): Promise<MergeResult> {
  const { current, next, digest, options: stored, overrides: given, ...accepted } = task;
  if (digestOf(current, next) !== digest) return { isOutdated: true };
  const [before, after] = [parse(current), parse(next)];
  const names = new Set([before, after].flatMap(({ tools }) => Object.keys(tools)));
  try {
    const added = addOverrides(stored, given, { names, isAccepted: (name) => isAcceptedTool(name, accepted) });
    const { options, overrides } = added;
    const { list } = overrides;
    const newer = list.length === 0 ? after : applyOverrides(after, overrides, true);
    const merged = mergeDefinitions(before, newer, accepted);
    const definitionJson = JSON.stringify(list.length === 0 ? merged : applyOverrides(merged, overrides, false));
    await checkPrivateToolkit(definitionJson);
    const newerJson = list.length === 0 ? next : JSON.stringify(newer);
    return { definitionJson, rest: compareTexts(definitionJson, newerJson, accepted.flagged), options };
  } catch (error) {
    if (error instanceof DefinitionError) return { definitionFaults: error.faults };
    if (error instanceof ImportError) return { fault: error.fault };
    throw error;
  }
}

/**
 * A request to accept the changes of a trusted source. Both definitions are JSON texts. `flagged`: tools whose newer texts are suspicious.
 * `ruledClasses`: the access class that each tool of the newer definition has without overrides, or a stricter one that is suggested.
 */
type TrustTask = {
  readonly current: string;
  readonly next: string;
  readonly flagged: readonly string[];
  readonly ruledClasses: Readonly<Record<string, AccessClass>>;
};

/**
 * Changes of a trusted source. `definitionJson`: the definition with the changes that svc accepts by itself. `accepted`: these changes.
 * `rest`: the changes that wait for an approver; undefined if there are none.
 */
export type TrustedChanges = {
  readonly definitionJson: string;
  readonly accepted: ComparedDefinitions;
  readonly rest: ComparedDefinitions | undefined;
};

/**
 * Returns the changes of a trusted source that svc accepts by itself; undefined if there are none. No tool gets a milder access class, and
 * suspicious tools stay as they are. A tool that is gone stays too, unless its class is `read`. Nothing is accepted if the origin of the
 * toolkit changes, or if the source has no tools any more.
 */
export async function acceptTrusted(task: TrustTask): Promise<TrustedChanges | undefined> {
  const { current, next, flagged } = task;
  const [before, after] = [parse(current), parse(next)];
  if (Object.keys(after.tools).length === 0 || compareDefinitions(before, after).originAfter !== "") return undefined;
  const newer = withStricterClasses(before, after, task.ruledClasses);
  const mergedWithout = (names: readonly string[]) =>
    JSON.stringify(mergeDefinitions(before, newer, { tools: [], flagged: names, origin: false }));
  const held = [...flagged, ...goneAboveRead(before, after)];
  let definitionJson = mergedWithout(held);
  // A stricter class can break a rule, for example if the tool has an argument of the name `confirm`. Such a tool stays as it is.
  const refused = await refusedTools(definitionJson);
  if (refused.length > 0) definitionJson = mergedWithout([...held, ...refused]);
  if (refused.length > 0 && (await refusedTools(definitionJson)).length > 0) return undefined;
  const accepted = compareTexts(current, definitionJson, []);
  return accepted && { definitionJson, accepted, rest: compareTexts(definitionJson, next, flagged) };
}

/**
 * Returns a newer definition in which no tool has a milder class than in the accepted definition. A new tool has no milder class than
 * without overrides.
 */
function withStricterClasses(
  before: DefinitionObject,
  { toolkit, tools }: DefinitionObject,
  ruledClasses: TrustTask["ruledClasses"],
): DefinitionObject {
  const stricter = Object.entries(tools).map(([name, tool]) => {
    const known = memberOf(before.tools, name);
    const least = known === undefined ? memberOf(ruledClasses, name) : known["class"];
    return [name, rankOf(tool["class"]) < rankOf(least) ? { ...tool, class: least } : tool] as const;
  });
  return { toolkit, tools: Object.fromEntries(stricter) };
}

/**
 * Returns the names of the tools that are gone and have another class than `read`. The accepted definition must keep them. Otherwise, svc
 * would not know their class when they return with a milder one.
 */
function goneAboveRead(before: DefinitionObject, after: DefinitionObject): readonly string[] {
  const gone = Object.entries(before.tools).filter(([name]) => !Object.hasOwn(after.tools, name));
  return gone.filter(([, tool]) => rankOf(tool["class"]) > rankOf("read")).map(([name]) => name);
}

/** Returns the names of the tools that break a rule of private toolkits. A broken rule of the toolkit itself has an empty name. */
async function refusedTools(definitionJson: string): Promise<readonly string[]> {
  try {
    await checkPrivateToolkit(definitionJson);
    return [];
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return error.faults.map(({ file }) => (file.startsWith("tools.") ? file.slice("tools.".length) : ""));
  }
}

/** Returns the names of the tools in a definition that is JSON text. */
export function toolNamesOf(definitionJson: string): ReadonlySet<string> {
  return new Set(Object.keys(parse(definitionJson).tools));
}

function digestOf(current: string, next: string): string {
  return createHash("sha256").update(current).update("\n").update(next).digest("hex");
}

/** Returns stored differences. svc wrote them with `compareTexts`. */
export function readDifferences(changes: string): DefinitionDifferences {
  return JSON.parse(changes) as DefinitionDifferences;
}

function parse(definitionJson: string): DefinitionObject {
  return JSON.parse(definitionJson) as DefinitionObject;
}
