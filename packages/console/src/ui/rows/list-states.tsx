import type { ReactNode } from "react";
import { Button } from "../buttons/button.tsx";
import { Skeleton } from "../notice/empty.tsx";
import { FaultNotice } from "../notice/fault.tsx";
import { Limited } from "../notice/notice.tsx";

/** A list's rows, or its state if it has none: loading, failed, empty and no match look different. */
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
    /** The part of the list that the key may read; empty or undefined if it may read all of it. */
    limitedTo?: string;
  };
  isFiltered?: boolean;
  /** Shown while there are no rows at all: explains how to get the first one. */
  empty: ReactNode;
  /** Shown if no row passes the filters, with a button that clears them. */
  noMatch?: ReactNode;
  /** Number of placeholder rows while the first rows load; those of a page by default. */
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

/** The button below the rows of a list that loads more; draws nothing if there are no more. */
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

/** A button that clears every filter of a list; shown while a filter is set. */
export function ClearFilters({ onPress }: { onPress: () => void }) {
  return (
    <Button kind="quiet" icon="cross" onPress={onPress}>
      Clear filters
    </Button>
  );
}
