import type { ReactNode } from "react";
import { Grid, type GridProps } from "./grid.tsx";
import { ListStates } from "./list-states.tsx";
import { Page } from "./page.tsx";
import { Split } from "./split.tsx";

/** A list as its page reads it, and what came in since where it goes on. */
type ListedRows<Row> = {
  rows: readonly Row[];
  state: "loading" | "failed" | "ready";
  error: unknown;
  hasMore: boolean;
  loadingMore: boolean;
  loadMore: () => void;
  reload: () => void;
  limitedTo?: string;
  fresh?: { count: number; show: () => void };
  onTop?: (atTop: boolean) => void;
  onView?: (first: number, last: number) => void;
};

/** A page with a list that fills it, its filters above, and beside it what is open of it. */
export function ListPage<Row>({
  title,
  filters,
  list,
  isFiltered,
  empty,
  noMatch,
  panel,
  ...grid
}: Pick<GridProps<Row>, "columns" | "card" | "rowId" | "onOpen" | "onPanel" | "openId"> & {
  /** Of the page, and of its list. */
  title: string;
  filters: ReactNode;
  list: ListedRows<Row>;
  isFiltered: boolean;
  /** What stands there while there is nothing at all: how to get the first. */
  empty: ReactNode;
  /** What stands there when nothing passes the filters, with a way to clear them. */
  noMatch: ReactNode;
  panel: ReactNode;
}) {
  const { rows, hasMore, loadMore, loadingMore, fresh, onTop, onView } = list;
  return (
    <Page title={title} fill filters={filters}>
      <Split
        panel={panel}
        list={
          <ListStates list={list} isFiltered={isFiltered} empty={empty} noMatch={noMatch}>
            <Grid
              {...grid}
              {...{ rows, hasMore, loadMore, loadingMore }}
              label={title}
              {...(fresh && { fresh })}
              {...(onTop && { onTop })}
              {...(onView && { onView })}
            />
          </ListStates>
        }
      />
    </Page>
  );
}
