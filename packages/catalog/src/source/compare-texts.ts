import { createHash } from "node:crypto";
import { ImportError, type ImportFault } from "../import/import-fault.ts";
import type { ImportOverride } from "../import/import-openapi.ts";
import { checkPrivateToolkit } from "../private/parse-definition.ts";
import { DefinitionError, type FileFault } from "../read/definition-file.ts";
import { addOverrides } from "./accept-overrides.ts";
import { applyOverrides } from "./apply-overrides.ts";
import { compareDefinitions, type DefinitionDifferences, type DefinitionObject } from "./compare-definitions.ts";
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
 * A request to apply accepted changes. Both definitions are JSON texts. `digest`: that of the differences which an approver has seen.
 * `options`: stored options of the source. `overrides`: those that the approver adds to them.
 */
export type MergeTask = AcceptedChanges & {
  readonly current: string;
  readonly next: string;
  readonly digest: string;
  readonly options: string;
  readonly overrides: readonly ImportOverride[];
};

/**
 * Result of `mergeChecked`: the new definition with the changes that wait further and the new options of the source, or the rules that it
 * would break. `isOutdated`: the
 * definitions are not those that the approver has seen. `fault`: an override is wrong.
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
