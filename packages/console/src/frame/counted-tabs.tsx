import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { callUnaryMethod, createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNow } from "../clock.ts";
import type { AnySearch } from "./list-filters.tsx";
import { ListTabs } from "./list-tabs.tsx";

/** A tab of a list. `sets`: the search parameters that the tab sets; undefined removes a parameter. */
export type ListTab<Search> = { readonly words: string; readonly sets: Search };

/** Highest number of rows that a tab shows exactly. With more rows, the tab shows `99+`. */
export const countMax = 99;

/** Interval at which the tabs that are not open count again, in milliseconds. */
const countMs = 5_000;
const minuteMs = 60_000;

/** How a tab is counted: the call of the list, its request, and the rows of an answer that the tab shows. */
type Counted<I extends DescMessage, O extends DescMessage, Search> = {
  method: DescMethodUnary<I, O>;
  request: (search: Search, now: number) => MessageInitShape<I>;
  rowsOf: (answer: MessageShape<O>, search: Search) => readonly unknown[];
};

/**
 * Draws the tabs of a list, each with the number of rows that it would show with the present filters. The open tab counts the rows of
 * `list`. Every other tab reads one page with the list's own call, so that its number agrees with its list.
 */
export function CountedTabs<I extends DescMessage, O extends DescMessage, Search extends AnySearch>({
  tabs,
  search,
  list: { rows, hasMore, state, isEarlier },
  ...counted
}: Counted<I, O, Search> & {
  tabs: readonly ListTab<Search>[];
  search: Search;
  list: { rows: readonly unknown[]; hasMore: boolean; state: string; isEarlier: boolean };
}) {
  return (
    <ListTabs
      label="State"
      tabs={tabs.map(({ words, sets }) => {
        const isHere = Object.entries(sets).every(([name, value]) => search[name] === value);
        const count =
          isHere && !isEarlier ? (
            countWords(rows.length, hasMore)
          ) : (
            // With another filter, the old number would be wrong, so it is not kept.
            <TabCount key={`${words} ${JSON.stringify(search)}`} {...counted} search={{ ...search, ...sets }} />
          );
        // The rows come first, because a browser makes few calls at once.
        return { words, sets, isHere, count: state === "ready" && count };
      })}
    />
  );
}

/** Draws the number of rows of a tab that is not open. A list that shows new rows at once would read the tabs too often. */
function TabCount<I extends DescMessage, O extends DescMessage, Search extends AnySearch>({
  method,
  request,
  rowsOf,
  search,
}: Counted<I, O, Search> & { search: Search }) {
  const transport = useTransport();
  const input = request(search, useNow(minuteMs));
  const { data } = useQuery({
    queryKey: ["tab", createConnectQueryKey({ schema: method, transport, input, cardinality: "finite" })],
    queryFn: ({ signal }) => callUnaryMethod(transport, method, input, { signal }),
    // A number with a plus hardly changes, and to count it again can be costly.
    refetchInterval: ({ state }) => (hasMoreOf(state.data) ? minuteMs : countMs),
    placeholderData: keepPreviousData,
  });
  if (data === undefined) return null;
  return countWords(rowsOf(data, search).length, hasMoreOf(data));
}

/** True if an answer of a list says that more rows follow. */
function hasMoreOf(answer: object | undefined): boolean {
  return answer !== undefined && "nextPageToken" in answer && answer.nextPageToken !== "";
}

/** Returns the number of a tab's rows as text, such as `12`. There may be more rows than a number with a plus, such as `99+`. */
function countWords(rows: number, hasMore: boolean): string {
  // The page has no row of the tab, but a later one may have some.
  if (rows === 0 && hasMore) return "";
  return hasMore || rows > countMax ? `${Math.min(rows, countMax)}+` : String(rows);
}
