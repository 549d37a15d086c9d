import type { Action, CatalogView } from "@svc/catalog";
import { isObject, parseExactJson } from "@svc/core";
import { canonicalJson, type PinnedTools } from "@svc/program";
import { mask } from "@svc/tools";

/** A difference between the present definition of a tool and the definition that was stored with a program when the program was accepted. */
export type Drift = {
  readonly toolSlug: string;
  /**
   * Part of the tool's definition that has changed since a copy was stored with the program: `version`, `accessClass`, `inputSchema` or
   * `outputSchema`; or `gone` if the tool no longer exists.
   */
  readonly what: string;
  readonly before: string;
  readonly after: string;
};

/** Maximum length of a schema in a reported difference, in characters. */
const shownMax = 2_000;

/**
 * Returns the differences between the tool definitions that were stored with a program when it was accepted (pins) and the project's present
 * tools, ordered by the tool's slug.
 */
export function driftOf(pinned: PinnedTools, view: CatalogView): Drift[] {
  const slugs = [...pinned.keys()].toSorted();
  return slugs.flatMap((toolSlug) => {
    const tool = pinned.get(toolSlug);
    if (tool === undefined) return [];
    const now = view.tools.get(toolSlug);
    const toolkit = now && view.toolkits.get(now.toolkitSlug);
    if (now?.kind !== "action" || toolkit === undefined) {
      return [{ toolSlug, what: "gone", before: tool.toolkit.version, after: "" }];
    }
    const before = factsOf(tool.action, tool.toolkit.version);
    const after = factsOf(now, toolkit.version);
    return names.flatMap((what) => {
      return before[what] === after[what]
        ? []
        : [{ toolSlug, what, before: shown(before[what]), after: shown(after[what]) }];
    });
  });
}

const names = ["version", "accessClass", "inputSchema", "outputSchema"] as const;

function factsOf(action: Action, version: string): Readonly<Record<(typeof names)[number], string>> {
  return {
    version,
    accessClass: action.class,
    inputSchema: canonicalJson(action.inputSchema),
    outputSchema: canonicalJson(action.outputSchema ?? null),
  };
}

function shown(text: string): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax).toWellFormed()}...`;
}

/**
 * Returns the text of a program as people may see it. Input that the inputSchema marks as sensitive is replaced by `***`. If there is none,
 * the text is returned exactly as submitted.
 */
export function shownProgram(programJson: string): string {
  // The name `x-sensitive` may be written with backslash-u escapes. A program text with neither the name nor an escape marks no value as
  // sensitive.
  if (!programJson.includes("x-sensitive") && !programJson.includes("\\u")) return programJson;
  const document = parseExactJson(programJson) as Readonly<Record<string, unknown>>;
  const { input, inputSchema } = document;
  if (!isObject(inputSchema) || input === undefined) return programJson;
  const shown = mask(inputSchema, input);
  const isSame = JSON.stringify(shown) === JSON.stringify(input);
  return isSame ? programJson : JSON.stringify({ ...document, input: shown });
}
