import { type Tool, ToolKind, type Toolkit } from "@svc/gen/catalog";
import { listParams } from "../../frame/list-search.ts";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { accessClasses } from "../../words/calls.ts";

/** The search parameters of the list of tools. */
export const toolsSearch = listParams(
  {
    /** The user's task, in plain words. */
    q: textParam,
    toolkit: textParam,
    category: textParam,
    class: oneOfParam(accessClasses),
  },
  {},
);

/** Search parameters of the list of tools, as they were read. */
export type ToolsSearch = ReturnType<typeof toolsSearch.read>;

/** Returns the tools that pass the filters and can be called or at least have a description. Triggers are events and not included. */
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
  /** Format of the arguments of "Try it"; the form by default. */
  args: oneOfParam(["json"]),
  /** Id of a call whose arguments fill the form. */
  from: textParam,
  /** Format in which the same call is shown. */
  as: oneOfParam(["curl", "typescript", "mcp"]),
};

/** The search parameters of the page of a tool. */
export type ToolPageSearch = SearchOf<typeof toolParams>;

/** Reads the search parameters of the page of a tool. */
export const readToolSearch: (raw: Record<string, unknown>) => ToolPageSearch = searchReader(toolParams);
