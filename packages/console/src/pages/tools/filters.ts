import { type Tool, ToolKind, type Toolkit } from "@svc/gen/catalog";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { accessClasses } from "../../words/calls.ts";

const params = {
  /** What somebody wants to do, in plain words. */
  q: textParam,
  toolkit: textParam,
  category: textParam,
  class: oneOfParam(accessClasses),
};

/** The search parameters of the list of tools. */
export type ToolsSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of tools. */
export const readToolsSearch: (raw: Record<string, unknown>) => ToolsSearch = searchReader(params);

/** Whether anything is searched or filtered. */
export function isFiltered({ q, toolkit, category, class: ofClass }: ToolsSearch): boolean {
  return [q, toolkit, category, ofClass].some((value) => value !== undefined);
}

/** Those of the tools that pass the filters, and can be called or are at least described; triggers are events. */
export function matchingTools(
  tools: readonly Tool[],
  { toolkit, category, class: ofClass }: ToolsSearch,
  toolkits: readonly Toolkit[],
): readonly Tool[] {
  const ofCategory = new Set(toolkits.filter((kit) => kit.category === category).map(({ slug }) => slug));
  return tools.filter(
    (tool) =>
      tool.kind !== ToolKind.TRIGGER &&
      (toolkit === undefined || tool.toolkitSlug === toolkit) &&
      (ofClass === undefined || tool.accessClass === ofClass) &&
      (category === undefined || ofCategory.has(tool.toolkitSlug)),
  );
}

const toolParams = {
  /** How the arguments of "Try it" are written; in the form unless it says so. */
  args: oneOfParam(["json"]),
  /** Id of a call of the ledger that the form is filled from. */
  from: textParam,
  /** In which way the same call is shown. */
  as: oneOfParam(["curl", "typescript", "mcp"]),
};

/** The search parameters of the page of a tool. */
export type ToolSearch = SearchOf<typeof toolParams>;

/** Reads the search parameters of the page of a tool. */
export const readToolSearch: (raw: Record<string, unknown>) => ToolSearch = searchReader(toolParams);
