import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { callUnaryMethod, createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { keepPreviousData, type QueryKey, useInfiniteQuery } from "@tanstack/react-query";

/** What a list page shows of a list: the rows so far, and how it stands. */
export type Rows<Row> = {
  rows: readonly Row[];
  /** `loading` until the first answer, `failed` only where there is nothing to show. */
  state: "loading" | "failed" | "ready";
  /** What the last try failed with; rows of before are still there. */
  error: unknown;
  /** Whether the service has more than was loaded. */
  hasMore: boolean;
  loadingMore: boolean;
  loadMore: () => void;
  /** Reads what was loaded again. */
  reload: () => void;
  /** What the key may read of the list, where it may not read all of it; empty where it may. */
  limitedTo: string;
  /** Under which the pages are cached. */
  queryKey: QueryKey;
};

/** A list call: it takes a pageToken and answers a nextPageToken. */
type Paged<O extends DescMessage> = MessageShape<O> & { nextPageToken: string };

/** A page may be short or empty and have a token all the same, where a filter let little through. So many are read at once. */
const emptyPagesMax = 5;

/**
 * Reads a list page after page. While another filter loads, the rows of the one before stay. `rowsOf` takes the rows out of an
 * answer; `refetchMs` reads all that was loaded again that often.
 */
export function useRows<I extends DescMessage, O extends DescMessage, Row>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  rowsOf: (answer: MessageShape<O>) => readonly Row[],
  options: { refetchMs?: number; enabled?: boolean } = {},
): Rows<Row> {
  const transport = useTransport();
  const queryKey = createConnectQueryKey({ schema: method, transport, input, cardinality: "infinite" });
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      let answer = await readPage(pageParam);
      for (let n = 1; n < emptyPagesMax && rowsOf(answer).length === 0 && answer.nextPageToken !== ""; n += 1) {
        answer = await readPage(answer.nextPageToken);
      }
      return answer;
      async function readPage(pageToken: string) {
        return (await callUnaryMethod(transport, method, { ...input, pageToken } as MessageInitShape<I>, {
          signal,
        })) as Paged<O>;
      }
    },
    getNextPageParam: (answer) => (answer.nextPageToken === "" ? undefined : answer.nextPageToken),
    placeholderData: keepPreviousData,
    enabled: options.enabled ?? true,
    ...(options.refetchMs !== undefined && { refetchInterval: options.refetchMs }),
  });
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query;
  return {
    rows: data?.pages.flatMap((page) => [...rowsOf(page)]) ?? [],
    state: data !== undefined ? "ready" : error === null ? "loading" : "failed",
    error,
    hasMore: hasNextPage,
    loadingMore: isFetchingNextPage,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    },
    reload: () => void refetch(),
    limitedTo: limitOf(data?.pages[0]),
    queryKey,
  };
}

function limitOf(answer: object | undefined): string {
  return answer !== undefined && "limitedTo" in answer ? String(answer.limitedTo) : "";
}
