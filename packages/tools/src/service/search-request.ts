import { type AccessClass, type CatalogView, nearest } from "@svc/catalog";
import { type Binding, isToolGranted } from "@svc/core";
import { type Tool, ToolKind } from "@svc/gen/catalog";
import { toolFaults } from "../errors.ts";

const classes: readonly string[] = ["read", "write", "destructive"] satisfies AccessClass[];
const queryMax = 1000;
const limitMax = 50;
const limitDefault = 8;

/** A search request after it was checked. Undefined fields do not narrow the search. */
type SearchRequest = {
  readonly query: string;
  readonly toolkitSlug: string | undefined;
  readonly kind: "action" | "trigger" | "code" | undefined;
  readonly accessClass: AccessClass | undefined;
  readonly limit: number;
};

/** Fields that SearchToolsRequest and the MCP tool search_tools have in common. In addition `kinds`, which search_tools does not have. */
type AskedSearch = {
  readonly query: string;
  readonly toolkitSlug: string;
  readonly kind?: ToolKind;
  readonly accessClass: string;
  readonly limit: number;
};

/** Returns the search in a request of SearchTools. Throws the invalid_argument errors of SearchTools. */
export function readSearchRequest(request: AskedSearch): SearchRequest {
  const { query, toolkitSlug, kind = ToolKind.UNSPECIFIED, accessClass, limit } = request;
  if (query.trim() === "" || query.length > queryMax) throw toolFaults.QUERY_INVALID(query);
  if (limit < 0 || limit > limitMax) throw toolFaults.LIMIT_INVALID(limit);
  if (accessClass !== "" && !isAccessClass(accessClass)) throw toolFaults.ACCESS_CLASS_INVALID(accessClass);
  return {
    query,
    toolkitSlug: toolkitSlug === "" ? undefined : toolkitSlug,
    kind: kindOf(kind),
    accessClass: accessClass === "" ? undefined : accessClass,
    limit: limit === 0 ? limitDefault : limit,
  };
}

function isAccessClass(text: string): text is AccessClass {
  return classes.includes(text);
}

function kindOf(kind: ToolKind): SearchRequest["kind"] {
  switch (kind) {
    case ToolKind.ACTION:
      return "action";
    case ToolKind.TRIGGER:
      return "trigger";
    case ToolKind.CODE:
      return "code";
    case ToolKind.UNSPECIFIED:
      return undefined;
  }
}

/** Returns the tool to describe. Throws TOOL_NOT_FOUND if the tool does not exist or is outside the caller's scope. */
export function describedTool(view: CatalogView, binding: Binding | undefined, slug: string): Tool {
  const definition = view.tools.get(slug);
  const tool = view.messages.tools.get(slug)?.tool;
  if (definition !== undefined && tool !== undefined && isToolGranted(binding, definition)) return tool;
  const granted = [...view.tools.values()].filter((one) => isToolGranted(binding, one)).map((one) => one.slug);
  throw toolFaults.TOOL_NOT_FOUND("slug", slug, nearest(slug, granted));
}
