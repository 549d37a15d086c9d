import type { ReactNode } from "react";
import { Button } from "../buttons/button.tsx";
import { Skeleton } from "../notice/empty.tsx";
import { FaultNotice } from "../notice/fault.tsx";
import { Limited } from "../notice/notice.tsx";

/**
 * Shows the rows of a list. If there are none, shows why: the rows are loading, loading failed, the list is empty, or no row passes the
 * filters.
 */
export function ListStates({
  list,
  isFiltered = false,
  empty,
  noMatch = null,
  skeletonRows,
  children,
}: {
  list: {
    rows: readonly unknown[];
    state: "loading" | "failed" | "ready";
    error: unknown;
    hasMore: boolean;
    reload: () => void;
    /** The part of the list that the key may read. Empty or undefined if the key may read the whole list. */
    limitedTo?: string;
  };
  isFiltered?: boolean;
  /** Shown if the list has no rows at all. It explains how to get the first row. */
  empty: ReactNode;
  /** Shown if no row passes the filters. It has a button that clears the filters. */
  noMatch?: ReactNode;
  /** Number of placeholder rows while the first rows load. Default: the rows of one page. */
  skeletonRows?: number;
  children: ReactNode;
}) {
  if (list.state === "loading") return <Skeleton {...(skeletonRows !== undefined && { rows: skeletonRows })} />;
  if (list.state === "failed") return <FaultNotice error={list.error} onRetry={list.reload} />;
  const isFilled = list.rows.length > 0 || list.hasMore;
  const shown = isFilled ? children : isFiltered ? noMatch : empty;
  const { limitedTo = "" } = list;
  return limitedTo === "" ? shown : <Limited to={limitedTo}>{shown}</Limited>;
}

/** The button below a list that loads more rows. Draws nothing if there are no more rows. */
export function LoadMore({
  list: { hasMore, loadMore, loadingMore },
}: {
  list: { hasMore: boolean; loadMore: () => void; loadingMore: boolean };
}) {
  if (!hasMore) return null;
  return (
    <Button onPress={loadMore} busy={loadingMore ? "Loading" : undefined}>
      Load more
    </Button>
  );
}

/** A button that clears every filter of a list. The list shows it while a filter is set. */
export function ClearFilters({ onPress }: { onPress: () => void }) {
  return (
    <Button kind="quiet" icon="cross" onPress={onPress}>
      Clear filters
    </Button>
  );
}
