import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type Tool, type Toolkit, ToolView } from "@svc/gen/catalog";
import { ToolsService } from "@svc/gen/tools";
import { type Rows, useRows } from "../../calls/rows.ts";
import { matchingTools, type ToolsSearch } from "./filters.ts";

/** The toolkits that the project sees; empty until they are known. */
export function useToolkits(projectId: string): readonly Toolkit[] {
  return (
    useQuery(CatalogService.method.listToolkits, { projectId }, { staleTime: Number.POSITIVE_INFINITY }).data
      ?.toolkits ?? []
  );
}

const foundMax = 50;

/** The tools that pass the filters: by what is searched for, the best first, else all by name. */
export function useTools(projectId: string, search: ToolsSearch): Omit<Rows<Tool>, "queryKey"> {
  const toolkits = useToolkits(projectId);
  const isSearch = search.q !== undefined;
  const all = useRows(
    CatalogService.method.listTools,
    { projectId, view: ToolView.SUMMARY, toolkitSlug: search.toolkit ?? "" },
    ({ tools }) => tools,
    { enabled: !isSearch },
  );
  const found = useQuery(
    ToolsService.method.searchTools,
    { query: search.q ?? "", toolkitSlug: search.toolkit ?? "", accessClass: search.class ?? "", limit: foundMax },
    { enabled: isSearch },
  );
  if (!isSearch) return { ...all, rows: matchingTools(all.rows, search, toolkits) };
  const tools = found.data?.results.flatMap(({ tool }) => (tool === undefined ? [] : [tool])) ?? [];
  return {
    rows: matchingTools(tools, search, toolkits),
    state: found.data !== undefined ? "ready" : found.error === null ? "loading" : "failed",
    error: found.error,
    hasMore: false,
    loadingMore: false,
    loadMore: () => undefined,
    reload: () => void found.refetch(),
    limitedTo: found.data?.limitedTo ?? "",
  };
}
