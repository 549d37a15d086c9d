import { type Tool, ToolKind, type Toolkit } from "@svc/gen/catalog";
import { listParams } from "../../frame/list-search.ts";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { accessClasses } from "../../words/calls.ts";

/** The search parameters of the list of tools. */
export const toolsSearch = listParams(
  {
    /** What somebody wants to do, in plain words. */
    q: textParam,
    toolkit: textParam,
    category: textParam,
    class: oneOfParam(accessClasses),
  },
  {},
);

/** Search parameters of the list of tools, as they were read. */
export type ToolsSearch = ReturnType<typeof toolsSearch.read>;

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
export type ToolPageSearch = SearchOf<typeof toolParams>;

/** Reads the search parameters of the page of a tool. */
export const readToolSearch: (raw: Record<string, unknown>) => ToolPageSearch = searchReader(toolParams);
