/**
 * What of a newly read first page is newer than what a list shows, newest first. `gap` says that there may be more between the two than
 * the page holds, so that the list has to be read anew to be whole.
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

/** The rows that a list shows, each as a newly read first page has it, where it is there. */
export function renewedRows<Row>(
  page: readonly Row[],
  shown: readonly Row[],
  idOf: (row: Row) => string,
): readonly Row[] {
  const known = new Map(page.map((row) => [idOf(row), row]));
  return shown.map((row) => known.get(idOf(row)) ?? row);
}

/**
 * The tokens that read again what is in view of a list of many pages: rows `first` to `last` of those that are shown. None for rows that the
 * newest page has, the first `head.covers`. What came in since was put into the first page, whose end only the token after the newest reads.
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
    if (isSeen) tokens.add(begin === 0 ? head.nextToken : token);
    begin += count;
  }
  tokens.delete("");
  return [...tokens];
}
