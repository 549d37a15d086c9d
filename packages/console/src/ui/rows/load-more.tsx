import { Button } from "../buttons/button.tsx";

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
