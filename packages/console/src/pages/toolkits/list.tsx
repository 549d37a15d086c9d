import { CatalogService, type Toolkit } from "@svc/gen/catalog";
import { Link, useParams } from "@tanstack/react-router";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRows } from "../../calls/rows.ts";
import { listView, ShownList, useListSearch } from "../../frame/list-page.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { anyOption } from "../../ui/fields/choice.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { AppNamed } from "../../ui/marks/tiles.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { visible } from "../../words/text.ts";
import { changesWord, sourceKinds, sourceWords } from "../../words/toolkits.ts";
import { matchingToolkits, toolkitsSearch } from "./filters.ts";

const toolkits = listView({
  title: "Apps",
  params: toolkitsSearch,
  actions: Actions,
  filters: {
    q: { typed: "Search apps", placeholder: "Name, such as calendar" },
    source: {
      choice: "Source",
      options: [anyOption, ...sourceKinds.map((value) => ({ value, words: sourceWords(value) }))],
    },
    changes: { choice: "Changes", options: [anyOption, { value: "waiting", words: "waiting" }] },
  },
  columns: [
    {
      id: "name",
      title: "App",
      width: "minmax(140px, 2fr)",
      linked: ({ name, slug }) => <AppNamed slug={slug}>{visible(name)}</AppNamed>,
    },
    { id: "slug", title: "Slug", width: "minmax(120px, 2fr)", drop: 1, cell: ({ slug }) => <code>{slug}</code> },
    { id: "source", title: "Source", width: "168px", drop: 2, cell: ({ sourceKind }) => sourceWords(sourceKind) },
    { id: "changes", title: "Changes", width: "128px", cell: (toolkit) => <Waiting toolkit={toolkit} /> },
    {
      id: "description",
      title: "What it is",
      width: "minmax(160px, 5fr)",
      cell: ({ description }) => <span title={visible(description)}>{visible(description)}</span>,
    },
  ],
  card: (toolkit: Toolkit) => (
    <>
      <Line apart>
        <b>{visible(toolkit.name)}</b>
        <Waiting toolkit={toolkit} />
      </Line>
      <span>{sourceWords(toolkit.sourceKind)}</span>
    </>
  ),
  rowId: ({ slug }) => slug,
  open: ({ slug }, projectId) => ({
    to: "/p/$projectId/toolkits/$toolkitSlug",
    params: { projectId, toolkitSlug: slug },
  }),
  empty: () => (
    <Empty icon="project" title="No apps">
      <p>Add an app from the address of an OpenAPI document or of an MCP server.</p>
    </Empty>
  ),
  noMatch: "No app matches",
});

/** Draws the page of the toolkits (each has the tools of one app), with a button that adds one. */
export default function ToolkitsPage() {
  const { projectId = "" } = useParams({ strict: false });
  const search = useListSearch(toolkitsSearch);
  const list = useRows(CatalogService.method.listToolkits, { projectId }, (answer) => answer.toolkits);
  return <ShownList of={toolkits} list={{ ...list, rows: matchingToolkits(list.rows, search) }} />;
}

function Actions({ projectId }: { projectId: string }) {
  if (useApproverWhy(projectId) !== undefined) return null;
  return (
    <Link to="/p/$projectId/toolkits/from-source" params={{ projectId }} className={buttonClass("primary")}>
      Add an app
    </Link>
  );
}

function Waiting({ toolkit: { changesWaiting } }: { toolkit: Toolkit }) {
  return changesWaiting > 0 && <State word={changesWord(changesWaiting)} />;
}
