import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { callUnaryMethod, createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { keepPreviousData, type QueryKey, useInfiniteQuery } from "@tanstack/react-query";

/** The rows of a list that are loaded so far, with its loading state and a function to load more. */
export type Rows<Row> = {
  rows: readonly Row[];
  /** `loading`: no answer arrived yet. `failed`: a read failed and there are no rows to show. `ready`: all other cases. */
  state: "loading" | "failed" | "ready";
  /** Error of the last read. The rows that were read earlier are kept. */
  error: unknown;
  /** True while the rows are those of the request before, because the rows of this one are still read. */
  isEarlier: boolean;
  /** True if the service has more rows than were loaded. */
  hasMore: boolean;
  loadingMore: boolean;
  loadMore: () => void;
  /** Reads again all pages of the list that were loaded so far. */
  reload: () => void;
  /** The part of the list to which the user's key is limited; empty if the key may read all rows. */
  limitedTo: string;
  /** Key under which the loaded pages are in the console's cache of answers. Pages use the key to change or read again the cached rows. */
  queryKey: QueryKey;
};

/** The answer of a list call. The call takes a `pageToken`, and its answer has a `nextPageToken`. */
type Paged<O extends DescMessage> = MessageShape<O> & { nextPageToken: string };

/**
 * Maximum number of consecutive empty pages that the list reads automatically. An empty page may still have a next page, because a filter
 * removed its rows.
 */
const emptyPagesMax = 5;

/**
 * Reads a list page by page. While a new filter loads, the rows of the previous filter are still shown. `rowsOf`: returns the rows of an
 * answer. `refetchMs` is the interval in milliseconds at which all loaded pages are read again.
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
    isEarlier: query.isPlaceholderData,
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
