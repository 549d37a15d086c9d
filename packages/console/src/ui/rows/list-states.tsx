import type { ReactNode } from "react";
import { Button } from "../buttons/button.tsx";
import { Skeleton } from "../notice/empty.tsx";
import { FaultNotice } from "../notice/fault.tsx";
import { Limited } from "../notice/notice.tsx";

/** How a list stands: its rows, or what is in their place while there are none. Loading, failed, empty and filtered to nothing differ. */
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
    /** What the key may read of the list, where it may not read all of it. */
    limitedTo?: string;
  };
  isFiltered?: boolean;
  /** What stands there while there is nothing at all: how to get the first. */
  empty: ReactNode;
  /** What stands there when nothing passes the filters, with a way to clear them. */
  noMatch?: ReactNode;
  /** How much room the first rows take while they load; that of a page unless stated. */
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

/** The button below the rows of a list that has more; nothing where these are all. */
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

/** Takes every filter of a list away; to be shown while there is one. */
export function ClearFilters({ onPress }: { onPress: () => void }) {
  return (
    <Button kind="quiet" icon="cross" onPress={onPress}>
      Clear filters
    </Button>
  );
}
