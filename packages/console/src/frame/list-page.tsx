import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import {
  Link,
  type LinkProps,
  type NavigateOptions,
  useLocation,
  useNavigate,
  useParams,
  useSearch,
} from "@tanstack/react-router";
import { type ReactNode, Suspense, useState } from "react";
import { useLiveRows } from "../calls/live-rows.ts";
import { type Rows, useRows } from "../calls/rows.ts";
import { useNow } from "../clock.ts";
import type { SearchOf } from "../shell/search-params.ts";
import { laterPart } from "../ui/later-part.tsx";
import { Page } from "../ui/layout/page.tsx";
import { Split } from "../ui/layout/split.tsx";
import { useIsPhone } from "../ui/media.ts";
import { NoMatch } from "../ui/notice/empty.tsx";
import { Grid } from "../ui/rows/grid.tsx";
import type { Column } from "../ui/rows/grid-row.tsx";
import { ListStates } from "../ui/rows/list-states.tsx";
import { shortId } from "../ui/values/copy.tsx";
import type { TimeSpan } from "../words/spans.ts";
import { CountedTabs, countMax, type ListTab } from "./counted-tabs.tsx";
import type { ListHistogram } from "./histogram-data.ts";
import { type AnySearch, FilterRow, type ListFilters, type ListPart, type PagePart } from "./list-filters.tsx";
import type { ListParams, ListSearch, ParamReaders } from "./list-search.ts";

const SavedFilters = laterPart(() => import("./saved-filters.tsx"));
const Histogram = laterPart(() => import("./list-histogram.tsx"));

/** The rows of a list, as its page shows them. The fields below are set only if new rows appear in the list automatically. */
type ShownRows<Row> = Omit<Rows<Row>, "queryKey" | "isEarlier"> & {
  fresh?: { count: number; show: () => void };
  onTop?: (atTop: boolean) => void;
  onView?: (first: number, last: number) => void;
};

/** A column of a list page. `cell` draws the content for a row; `linked` draws a text that links to the page of the row. */
type ListColumn<Row> = Omit<Column<Row>, "cell"> &
  ({ cell: (row: Row) => ReactNode; linked?: never } | { linked: (row: Row) => ReactNode; cell?: never });

/** The declaration of a list page, without the way in which its rows are read. */
type ListView<Row, Readers extends ParamReaders, Search = SearchOf<Readers>> = {
  title: string;
  /** Accessible name of the list. Default: the title of the page. */
  label?: string;
  /** Functions that read the search parameters in the page's address. */
  params: ListParams<Readers>;
  /** The filters of the list, or one component that draws all of them. */
  filters?: ListFilters<Row, Search> | PagePart<ListPart<Row, Search>>;
  /** True (the default) if the page shows a button that clears all filters while a filter is set. */
  isClearable?: boolean;
  /** A component that is drawn after the filters, for example a button. */
  filterAction?: PagePart<ListPart<Row, Search>>;
  actions?: PagePart<ListPart<Row, Search>>;
  /** The bars above the list, for a list with a time range. A phone shows none. */
  histogram?: ListHistogram<Search>;
  /** A component that is drawn above the list, after the filters, for example with a note for the user. */
  notes?: PagePart<object>;
  /** The columns of the list, or a React hook that returns them. The column `"id"` shows a row's id as a link to the row's page. */
  columns: ListColumns<Row> | ((part: ListPart<Row, Search>) => ListColumns<Row>);
  /** Draws a row of the list on a narrow screen (a phone), where a table does not fit. */
  card: (row: Row) => ReactNode;
  rowId: (row: Row) => string;
  /** Returns the link to the page of a row; undefined if the row has no page. */
  open: (row: Row, projectId: string) => LinkProps | undefined;
  /** The panel of a row, which is drawn next to the list. The search parameter `open` holds the id of the row. */
  panel?: PagePart<ListPart<Row, Search> & { id: string; onClose: () => void }>;
  /** A component that acts on the rows that the user selects. With it, each row has a checkbox. `clear`: selects no row. */
  bulk?: PagePart<ListPart<Row, Search> & { selected: readonly string[]; clear: () => void }>;
  /** A component that draws the dialogs of the list page, such as the dialog that creates a row. */
  dialogs?: PagePart<ListPart<Row, Search>>;
  /**
   * Returns true if the search parameters of the page's address open one of the list page's dialogs. The page then keeps the focus in the
   * dialog.
   */
  isCovered?: (search: Search) => boolean;
  /** A component that is shown if there are no rows at all. It explains how to get the first row. */
  empty: PagePart<ListPart<Row, Search>>;
  /** Title that is shown if the list has rows but none of them matches the filters. */
  noMatch?: string;
};

/** The columns of a list page, in the order in which they are drawn. `id` is the standard column with the row's id. */
export type ListColumns<Row> = readonly (ListColumn<Row> | "id")[];

type RowOf<
  O extends DescMessage,
  Field extends keyof MessageShape<O>,
> = MessageShape<O>[Field] extends readonly (infer Row)[] ? Row : never;

/** Declaration of a list page whose rows are read by a call of the API. */
type ListCall<
  I extends DescMessage,
  O extends DescMessage,
  Field extends keyof MessageShape<O>,
  Readers extends ParamReaders,
  Search = SearchOf<Readers>,
> = ListView<RowOf<O, Field>, Readers> & {
  params: ListSearch<Readers, MessageInitShape<I>>;
  method: DescMethodUnary<I, O>;
  /** Name of the field in the API's answer that contains the rows of the list. */
  rows: Field;
  /** Interval in milliseconds after which the rows are read again. By default the rows are not read again. */
  everyMs?: number;
  /** Returns true if new rows appear at the top of the list automatically. If absent, new rows appear only when the list is read again. */
  isLive?: (search: Search) => boolean;
  /** Returns true if the page shows this row of the service's answer. By default the page shows every row. */
  keep?: (search: Search, row: RowOf<O, Field>) => boolean;
  /** The tabs of the list, for its most used filters. Each shows the number of its rows. */
  tabs?: readonly ListTab<Search>[];
  /** Fields of the request with which a tab that is not open is counted, such as those that leave out details of the rows. */
  counts?: MessageInitShape<I>;
};

const minuteMs = 60_000;

/** Declares a list page whose rows one API method returns. Returns the declaration unchanged; the function only checks its types. */
export function listPage<
  I extends DescMessage,
  O extends DescMessage,
  Field extends keyof MessageShape<O> & string,
  Readers extends ParamReaders,
>(declared: ListCall<I, O, Field, Readers>): ListCall<I, O, Field, Readers> {
  return declared;
}

/** Declares a list page of the console whose rows do not come from a single API call. Returns the declaration unchanged. */
export function listView<Row, Readers extends ParamReaders>(declared: ListView<Row, Readers>): ListView<Row, Readers> {
  return declared;
}

/** Draws the page of a list that was declared with its API method, columns and filters. */
export function ListPage<
  I extends DescMessage,
  O extends DescMessage,
  Field extends keyof MessageShape<O> & string,
  Readers extends ParamReaders,
>({ of }: { of: ListCall<I, O, Field, Readers> }) {
  return of.isLive === undefined ? <CalledList of={of} /> : <LiveList of={of} isLive={of.isLive} />;
}

function CalledList<
  I extends DescMessage,
  O extends DescMessage,
  Field extends keyof MessageShape<O> & string,
  Readers extends ParamReaders,
>({ of }: { of: ListCall<I, O, Field, Readers> }) {
  const { method, params, everyMs } = of;
  const search = useListSearch(params);
  const request = params.request(search, useNow(minuteMs));
  const rowsOf = (answer: MessageShape<O>) => keptRows(of, answer, search);
  const list = useRows(method, request, rowsOf, everyMs === undefined ? {} : { refetchMs: everyMs });
  return <ShownList of={of} list={list} tabs={of.tabs && <Tabs of={of} tabs={of.tabs} list={list} />} />;
}

function LiveList<
  I extends DescMessage,
  O extends DescMessage,
  Field extends keyof MessageShape<O> & string,
  Readers extends ParamReaders,
>({ of, isLive }: { of: ListCall<I, O, Field, Readers>; isLive: (search: SearchOf<Readers>) => boolean }) {
  const { method, rows: field, params, rowId } = of;
  const search = useListSearch(params);
  const list = useLiveRows(method, params.request(search, useNow(minuteMs)), field, rowId, isLive(search));
  return <ShownList of={of} list={list} tabs={of.tabs && <Tabs of={of} tabs={of.tabs} list={list} />} />;
}

/** Returns the rows of an answer that the page shows for these search parameters. */
function keptRows<
  I extends DescMessage,
  O extends DescMessage,
  Field extends keyof MessageShape<O> & string,
  Readers extends ParamReaders,
>(
  { rows: field, keep }: ListCall<I, O, Field, Readers>,
  answer: MessageShape<O>,
  search: SearchOf<Readers>,
): readonly RowOf<O, Field>[] {
  const rows = answer[field] as readonly RowOf<O, Field>[];
  return keep === undefined ? rows : rows.filter((row) => keep(search, row));
}

function Tabs<
  I extends DescMessage,
  O extends DescMessage,
  Field extends keyof MessageShape<O> & string,
  Readers extends ParamReaders,
>({
  of,
  tabs,
  list,
}: {
  of: ListCall<I, O, Field, Readers>;
  tabs: readonly ListTab<SearchOf<Readers>>[];
  list: Rows<RowOf<O, Field>>;
}) {
  const { method, params, counts, keep } = of;
  const search = useListSearch(params);
  return (
    <CountedTabs
      tabs={tabs as readonly ListTab<AnySearch>[]}
      search={search as AnySearch}
      list={list}
      method={method}
      request={(asked, now) => ({
        ...params.request(asked as SearchOf<Readers>, now),
        ...counts,
        // Of a page of which not every row is shown, the whole page is counted.
        ...(keep === undefined && { pageSize: countMax }),
      })}
      rowsOf={(answer, asked) => keptRows(of, answer, asked as SearchOf<Readers>)}
    />
  );
}

/** Returns the search parameters in the address of the current page, converted by the functions in `params`. */
export function useListSearch<Readers extends ParamReaders>(params: ListParams<Readers>): SearchOf<Readers> {
  return params.read(useSearch({ strict: false }));
}

/** Draws the page of a list whose rows the caller has already read. */
export function ShownList<Row, Readers extends ParamReaders>({
  of,
  list,
  tabs,
}: {
  of: ListView<Row, Readers>;
  list: ShownRows<Row>;
  /** The tabs of the list, above its filters. */
  tabs?: ReactNode;
}) {
  const { title, params, rowId, open, columns, histogram } = of;
  const { panel: Panel, actions: Actions, notes: Notes, dialogs: Dialogs, empty: Nothing, bulk: Bulk } = of;
  const { projectId = "" } = useParams({ strict: false });
  const search = useListSearch(params);
  const navigate = useNavigate();
  const { rows, reload, hasMore, loadMore, loadingMore, fresh, onTop, onView } = list;
  const change = (to: SearchOf<Readers>) =>
    void navigate({ to: ".", search: (old: AnySearch) => ({ ...old, ...to }), replace: true });
  const part = { projectId, search, change, rows, reload };
  const openId = (search as AnySearch)["open"];
  const showBeside = (id: string | undefined) => change({ open: id } as SearchOf<Readers>);
  const linkTo = (row: Row, words: ReactNode, hover?: string) => (
    <Link {...open(row, projectId)} title={hover}>
      {words}
    </Link>
  );
  const shownColumns = (typeof columns === "function" ? columns(part) : columns).map((column): Column<Row> => {
    if (column === "id") return idColumn((row) => linkTo(row, <code>{shortId(rowId(row))}</code>, rowId(row)));
    const { linked, cell, ...head } = column;
    return { ...head, cell: linked === undefined ? cell : (row) => linkTo(row, linked(row), rowId(row)) };
  });
  const bulk = useSelection(rows.map(rowId), list.reload);
  const grid = (
    <ListStates
      list={list}
      isFiltered={params.isFiltered(search)}
      empty={<Nothing {...part} />}
      noMatch={<NoMatch title={of.noMatch ?? ""} onClear={() => change(params.noFilters)} />}
    >
      <Grid
        label={of.label ?? title}
        columns={Bulk === undefined ? shownColumns : [checkColumn(rowId, bulk), ...shownColumns]}
        {...(Bulk && { onSelect: (row: Row) => bulk.toggle(rowId(row)) })}
        card={of.card}
        {...{ rows, rowId, hasMore, loadMore, loadingMore }}
        {...(fresh && { fresh })}
        {...(onTop && { onTop })}
        {...(onView && { onView })}
        {...(Panel && { onPanel: (row: Row | undefined) => showBeside(row && rowId(row)) })}
        openId={openId}
        onOpen={(row) => {
          const page = open(row, projectId);
          if (page !== undefined) void navigate(page as NavigateOptions);
        }}
      />
    </ListStates>
  );
  return (
    <Page
      title={title}
      fill
      isCovered={of.isCovered?.(search) ?? false}
      {...(Actions && { actions: <Actions {...part} /> })}
      {...((Notes ?? histogram) && {
        notes: (
          <>
            {histogram && <OverTime of={histogram} part={part} />}
            {Notes && <Notes />}
          </>
        ),
      })}
      {...((of.filters !== undefined || tabs !== undefined) && {
        filters: (
          <>
            {tabs}
            <Filters of={of} part={part} />
            <Saved of={of} part={part} />
          </>
        ),
      })}
    >
      {Panel === undefined ? (
        grid
      ) : (
        <Split
          panel={openId !== undefined && <Panel {...part} id={openId} onClose={() => showBeside(undefined)} />}
          list={grid}
        />
      )}
      {Bulk && (
        <Suspense>
          <Bulk {...part} selected={bulk.selected} clear={bulk.clear} />
        </Suspense>
      )}
      {Dialogs && <Dialogs {...part} />}
    </Page>
  );
}

/** Draws the saved filters of the list. The administrator's lists have none, because filters are saved for a project. */
function Saved<Row, Readers extends ParamReaders>({
  of: { params },
  part: { projectId, search },
}: {
  of: ListView<Row, Readers>;
  part: ListPart<Row, SearchOf<Readers>>;
}) {
  const page = useLocation({ select: ({ pathname }) => pathname.split("/").slice(3).join("/") });
  if (projectId === "") return null;
  const isFiltered = params.isFiltered(search);
  return (
    <Suspense>
      <SavedFilters projectId={projectId} page={page} search={search as AnySearch} isFiltered={isFiltered} />
    </Suspense>
  );
}

/** Height of the bars above a list, with their margin. The list is below them from the start, so that it does not move. */
const barsHeight = "96px";

/** Draws the bars above the list. A phone has no room for them. */
function OverTime<Row, Search>({
  of,
  part: { search, change },
}: {
  of: ListHistogram<Search>;
  part: ListPart<Row, Search>;
}) {
  if (useIsPhone()) return null;
  return (
    <Suspense fallback={<div style={{ height: barsHeight }} />}>
      <Histogram
        of={of as ListHistogram<TimeSpan>}
        search={search as TimeSpan}
        change={(span) => change(span as Search)}
      />
    </Suspense>
  );
}

type Selection = { selected: readonly string[]; toggle: (id: string) => void; clear: () => void };

/** Keeps the ids of the selected rows. A row that is not in the list any more is not selected. */
function useSelection(ids: readonly string[], reload: () => void): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return {
    selected: ids.filter((id) => chosen.has(id)),
    toggle: (id) => setChosen((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id])),
    clear: () => {
      setChosen(new Set());
      reload();
    },
  };
}

function checkColumn<Row>(rowId: (row: Row) => string, { selected, toggle }: Selection): Column<Row> {
  return {
    id: "check",
    title: "Select",
    width: "20px",
    cell: (row) => (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select ${rowId(row)}`}
        checked={selected.includes(rowId(row))}
        onChange={() => toggle(rowId(row))}
      />
    ),
  };
}

function idColumn<Row>(cell: (row: Row) => ReactNode): Column<Row> {
  return { id: "id", title: "Id", width: "136px", drop: 1, cell };
}

function Filters<Row, Readers extends ParamReaders>({
  of: { filters, isClearable = true, filterAction: Action },
  part,
}: {
  of: ListView<Row, Readers>;
  part: ListPart<Row, SearchOf<Readers>>;
}) {
  if (typeof filters === "function") {
    const All = filters;
    return <All {...part} />;
  }
  return (
    <>
      <FilterRow
        filters={(filters ?? {}) as ListFilters<Row, AnySearch>}
        isClearable={isClearable}
        part={part as ListPart<Row, AnySearch>}
      />
      {Action && <Action {...part} />}
    </>
  );
}
