import { getRouteApi, Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/button.tsx";
import { anyOf, anyOption, Choice } from "../../ui/choice.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { Split } from "../../ui/split.tsx";
import { TypedFilter } from "../../ui/typed-filter.tsx";
import { accessClasses } from "../../words/calls.ts";
import { useToolkits, useTools } from "./catalog.ts";
import { toolCard, toolColumns } from "./columns.tsx";
import { isFiltered, type ToolsSearch } from "./filters.ts";

const route = getRouteApi("/p/$projectId/tools");

/** The tools of the catalog, searched in plain words or browsed. */
export default function ToolsPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useTools(projectId, search);
  const change = (to: ToolsSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const clear = () => change({ q: undefined, toolkit: undefined, category: undefined, class: undefined });
  return (
    <Page
      title="Tools"
      fill
      actions={
        <Link to="/p/$projectId/tools/publish" params={{ projectId }} className={buttonClass()}>
          Publish a toolkit
        </Link>
      }
      filters={<ToolFilters projectId={projectId} search={search} onChange={change} onClear={clear} />}
    >
      <Split
        panel={null}
        list={
          <ListStates
            list={list}
            isFiltered={isFiltered(search)}
            empty={<NoTools />}
            noMatch={<NoMatch title="No tool matches" onClear={clear} />}
          >
            <Grid
              label="Tools"
              columns={toolColumns(projectId)}
              card={toolCard}
              rows={list.rows}
              rowId={({ slug }) => slug}
              onOpen={({ slug }) =>
                void navigate({ to: "/p/$projectId/tools/$toolSlug", params: { projectId, toolSlug: slug } })
              }
              hasMore={list.hasMore}
              loadMore={list.loadMore}
              loadingMore={list.loadingMore}
            />
          </ListStates>
        }
      />
    </Page>
  );
}

function ToolFilters({
  projectId,
  search,
  onChange,
  onClear,
}: {
  projectId: string;
  search: ToolsSearch;
  onChange: (change: ToolsSearch) => void;
  onClear: () => void;
}) {
  const toolkits = useToolkits(projectId);
  const categories = [...new Set(toolkits.map(({ category }) => category))].filter((name) => name !== "").sort();
  const ofCategory = toolkits.filter(({ category }) => search.category === undefined || category === search.category);
  return (
    <>
      <TypedFilter
        label="Search tools"
        placeholder="What to do, such as: post a message"
        value={search.q ?? ""}
        onChange={(q) => onChange({ q: q || undefined })}
      />
      <Choice
        label="Category"
        value={search.category ?? ""}
        options={[anyOption, ...categories.map((value) => ({ value, words: value.replaceAll("-", " ") }))]}
        onChange={(category) => onChange({ category: category || undefined, toolkit: undefined })}
      />
      <Choice
        label="Toolkit"
        value={search.toolkit ?? ""}
        options={[anyOption, ...ofCategory.map(({ slug, name }) => ({ value: slug, words: slug, note: name }))]}
        onChange={(toolkit) => onChange({ toolkit: toolkit || undefined })}
      />
      <Choice
        label="Class"
        value={search.class ?? ""}
        options={anyOf(accessClasses)}
        onChange={(value) => onChange({ class: accessClasses.find((known) => known === value) })}
      />
      {isFiltered(search) && <ClearFilters onPress={onClear} />}
    </>
  );
}

function NoTools() {
  return (
    <Empty icon="tool" title="No tools">
      <p>The service has no toolkit. SVC_TOOLKITS names the folders that it reads definitions from.</p>
    </Empty>
  );
}
