import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { createQueryOptions, useQuery, useTransport } from "@connectrpc/connect-query";
import { type InfiniteData, type QueryKey, useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useLookMs } from "./live-state.ts";
import { type Rows, useRows } from "./rows.ts";

/** Rows of a list to which new rows are added. New rows stay in `fresh` until the page shows them. */
export type LiveRows<Row> = Rows<Row> & {
  fresh: { count: number; show: () => void };
  /**
   * Called with true when the reader comes to the top of the list, and with false when the reader leaves it. At the top, new rows are shown
   * immediately; elsewhere they wait.
   */
  onTop: (atTop: boolean) => void;
  /** Called with the indexes of the first and last row in view. The rows in view are updated in place. */
  onView: (first: number, last: number) => void;
};

/**
 * Reads a list that gets new rows at the top and whose rows may change. It reads the newest page and the pages in view again and again.
 * While `live`, it follows the project's stream, and polls every 5 s if the stream is not open. If the reader is at the top, new rows are
 * shown immediately; otherwise they wait, so that rows do not move while a person reads. `field` is the field of the answer that holds the
 * rows.
 */
export function useLiveRows<I extends DescMessage, O extends DescMessage, Row>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  field: keyof MessageShape<O> & string,
  idOf: (row: Row) => string,
  live: boolean,
): LiveRows<Row> {
  const rowsOf = (answer: MessageShape<O>) => answer[field] as readonly Row[];
  const list = useRows(method, input, rowsOf);
  const queries = useQueryClient();
  const atTop = useRef(true);
  const isOn = live && list.state === "ready";
  const head = useQuery(method, input, { refetchInterval: useLookMs(method), enabled: isOn, staleTime: 0 });
  const page = isOn && head.data !== undefined ? rowsOf(head.data) : [];
  const older = useViewed(method, input, { isOn, head: head.data, rowsOf, queryKey: list.queryKey });
  const { rows, gap } = page.length === 0 ? { rows: [], gap: false } : freshRows(page, list.rows, idOf);
  const show = () => {
    if (gap) return list.reload();
    queries.setQueryData<InfiniteData<MessageShape<O>, string>>(list.queryKey, (data) => withHead(data, field, rows));
  };
  useEffect(() => {
    if (rows.length > 0 && atTop.current) show();
  });
  return {
    ...list,
    rows: page.length === 0 ? list.rows : renewedRows([...page, ...older.rows], list.rows, idOf),
    onView: (first, last) => older.look({ first, last, covers: page.length - rows.length }),
    fresh: { count: rows.length, show },
    onTop: (value) => {
      atTop.current = value;
    },
  };
}

/**
 * Returns the visible rows that are not on the newest page of the list. The caller passes the indexes of the visible rows to `look`. Each
 * time the newest page of the list is read, the pages with these rows are read again.
 */
function useViewed<I extends DescMessage, O extends DescMessage, Row>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  {
    isOn,
    head,
    rowsOf,
    queryKey,
  }: {
    isOn: boolean;
    head: MessageShape<O> | undefined;
    rowsOf: (answer: MessageShape<O>) => readonly Row[];
    queryKey: QueryKey;
  },
) {
  const transport = useTransport();
  const queries = useQueryClient();
  const refetchInterval = useLookMs(method);
  const [tokens, setTokens] = useState<readonly string[]>([]);
  const read = useQueries({
    queries: tokens.map((pageToken) => ({
      ...createQueryOptions(method, { ...input, pageToken } as MessageInitShape<I>, { transport }),
      enabled: isOn,
      refetchInterval,
    })),
  });
  return {
    rows: read.flatMap(({ data }) => (data === undefined ? [] : rowsOf(data as MessageShape<O>))),
    look: ({ covers, ...view }: { first: number; last: number; covers: number }) => {
      const data = queries.getQueryData<InfiniteData<MessageShape<O>, string>>(queryKey);
      const pages =
        data?.pages.map((page, n) => ({ token: data.pageParams[n] ?? "", count: rowsOf(page).length })) ?? [];
      const nextToken = (head as { nextPageToken?: string } | undefined)?.nextPageToken ?? "";
      const wanted = head === undefined ? [] : tokensInView(pages, { covers, nextToken }, view);
      setTokens((before) => (before.join() === wanted.join() ? before : wanted));
    },
  };
}

function withHead<O extends object>(
  data: InfiniteData<O, string> | undefined,
  field: keyof O,
  rows: readonly unknown[],
): InfiniteData<O, string> | undefined {
  const [first, ...others] = data?.pages ?? [];
  if (data === undefined || first === undefined) return data;
  return { ...data, pages: [{ ...first, [field]: [...rows, ...(first[field] as readonly unknown[])] }, ...others] };
}

/**
 * Returns the rows of a newly read first page that are newer than the list, newest first. `gap` is true if there may be more new rows than
 * the page holds: the whole list must then be read again.
 */
export function freshRows<Row>(
  page: readonly Row[],
  shown: readonly Row[],
  idOf: (row: Row) => string,
): { rows: readonly Row[]; gap: boolean } {
  const top = shown[0];
  if (top === undefined) return { rows: page, gap: false };
  const known = page.findIndex((row) => idOf(row) === idOf(top));
  return known === -1 ? { rows: page, gap: page.length > 0 } : { rows: page.slice(0, known), gap: false };
}

/** Returns the rows `shown`. A row that is also in `page` is replaced by its newer version from `page`. */
export function renewedRows<Row>(
  page: readonly Row[],
  shown: readonly Row[],
  idOf: (row: Row) => string,
): readonly Row[] {
  const known = new Map(page.map((row) => [idOf(row), row]));
  return shown.map((row) => known.get(idOf(row)) ?? row);
}

/**
 * Returns the page tokens that are needed to read the list rows from `first` to `last` again. `pages`: the loaded pages. `head.covers`:
 * number of rows on the newest page, which needs no token. `head.nextToken`: token of the page after it.
 */
export function tokensInView(
  pages: readonly { token: string; count: number }[],
  head: { covers: number; nextToken: string },
  { first, last }: { first: number; last: number },
): readonly string[] {
  const tokens = new Set<string>();
  let begin = 0;
  for (const { token, count } of pages) {
    const from = Math.max(begin, head.covers);
    const isSeen = from < begin + count && from <= last && first < begin + count;
    // New rows push the last rows of the first loaded page to the page after the newest page.
    if (isSeen) tokens.add(begin === 0 ? head.nextToken : token);
    begin += count;
  }
  tokens.delete("");
  return [...tokens];
}
