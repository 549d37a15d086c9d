import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type Tool, ToolView } from "@svc/gen/catalog";
import { ToolsService } from "@svc/gen/tools";
import { Link, useParams } from "@tanstack/react-router";
import { type Rows, useRows } from "../../calls/rows.ts";
import type { ListPart } from "../../frame/list-filters.tsx";
import { listView, ShownList, useListSearch } from "../../frame/list-page.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { anyOf, anyOption } from "../../ui/fields/choice.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { AppNamed } from "../../ui/marks/tiles.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { accessClasses, classWord } from "../../words/calls.ts";
import { useToolkits } from "./catalog.ts";
import { matchingTools, type ToolsSearch, toolsSearch } from "./filters.ts";

const foundMax = 50;

const tools = listView({
  title: "Tools",
  params: toolsSearch,
  actions: ({ projectId }) => (
    <Link to="/p/$projectId/toolkits/from-source" params={{ projectId }} className={buttonClass()}>
      Add an app
    </Link>
  ),
  filters: {
    q: { typed: "Search tools", placeholder: "What do you want to do? For example: post a message" },
    category: { choice: "Category", options: useCategories, also: { toolkit: undefined } },
    toolkit: { choice: "App", options: useToolkitsOfCategory },
    class: { choice: "Effect", options: anyOf(accessClasses.map(classWord)) },
  },
  columns: [
    {
      id: "tool",
      title: "Tool",
      width: "minmax(220px, 2fr)",
      linked: ({ slug }) => <AppNamed slug={slug}>{slug}</AppNamed>,
    },
    {
      id: "class",
      title: "Effect",
      width: "120px",
      cell: ({ accessClass }) => <State word={classWord(accessClass)} />,
    },
    {
      id: "description",
      title: "Description",
      width: "minmax(200px, 5fr)",
      cell: ({ description }) => <span title={description}>{description}</span>,
    },
  ],
  card: ({ slug, accessClass, description }: Tool) => (
    <>
      <Line apart>
        <b>{slug}</b>
        <State word={classWord(accessClass)} />
      </Line>
      <span>{firstSentence(description)}</span>
    </>
  ),
  rowId: ({ slug }) => slug,
  open: ({ slug }, projectId) => ({ to: "/p/$projectId/tools/$toolSlug", params: { projectId, toolSlug: slug } }),
  empty: () => (
    <Empty icon="tool" title="No tools">
      <p>The service has no apps. Set SVC_TOOLKITS to the folders of their definitions.</p>
    </Empty>
  ),
  noMatch: "No tool matches",
});

/** Draws the page of the catalog's tools, with a search in plain words and a list of all tools. */
export default function ToolsPage() {
  const { projectId = "" } = useParams({ strict: false });
  return <ShownList of={tools} list={useTools(projectId, useListSearch(toolsSearch))} />;
}

function useCategories({ projectId }: ListPart<Tool, ToolsSearch>) {
  const names = new Set(useToolkits(projectId).map(({ category }) => category));
  const categories = [...names].filter((name) => name !== "").sort();
  return [anyOption, ...categories.map((value) => ({ value, words: value.replaceAll("-", " ") }))];
}

function useToolkitsOfCategory({ projectId, search }: ListPart<Tool, ToolsSearch>) {
  const toolkits = useToolkits(projectId).filter(
    ({ category }) => search.category === undefined || category === search.category,
  );
  return [anyOption, ...toolkits.map(({ slug, name }) => ({ value: slug, words: slug, note: name }))];
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

/** Returns the tools that pass the filters. With a search, the best match is first; otherwise the tools are sorted by name. */
function useTools(projectId: string, search: ToolsSearch): Omit<Rows<Tool>, "queryKey" | "isEarlier"> {
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
