import { type Tool, ToolKind, type Toolkit } from "@svc/gen/catalog";
import { listParams } from "../../frame/list-search.ts";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { accessClasses } from "../../words/calls.ts";

/** Filters in the address of the page that lists tools. */
export const toolsSearch = listParams(
  {
    /** The user's task in plain words, for the search. */
    q: textParam,
    toolkit: textParam,
    category: textParam,
    class: oneOfParam(accessClasses),
  },
  {},
);

/** The search parameters of the tool list. */
export type ToolsSearch = ReturnType<typeof toolsSearch.read>;

/**
 * Returns the tools that pass the filters, also tools that have only a description and cannot be called. Leaves out triggers, because
 * triggers are events.
 */
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
  /** Format in which the user writes the arguments of "Try it": `json`, or a form with one field per argument (the default). */
  args: oneOfParam(["json"]),
  /** Id of a stored call whose arguments fill the form. */
  from: textParam,
  /** Format in which the page also shows the call (for example `curl`). */
  as: oneOfParam(["curl", "typescript", "mcp"]),
};

/** The search parameters of a tool's page. */
export type ToolPageSearch = SearchOf<typeof toolParams>;

/** Reads the parameters in the address of a tool's page, and leaves out those that are invalid. */
export const readToolSearch: (raw: Record<string, unknown>) => ToolPageSearch = searchReader(toolParams);
