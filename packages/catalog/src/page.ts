import { openPageToken, type PageScope, pageSizeOf, type Sealer, sealPageToken } from "@svc/core";

/** Lists of the catalog are short: a page of 1,000 holds the whole of most, and is the most there is. */
export const catalogPageMax = 1000;
const pageSizeBounds = { fallback: catalogPageMax, max: catalogPageMax };

/**
 * One page of a list ordered by slug. The token names the last slug of the page before, so a catalog that changed in between
 * skips and repeats nothing. Throws PAGE_SIZE_NEGATIVE, PAGE_TOKEN_INVALID.
 */
export function pageOf<T extends { slug: string }>(
  items: readonly T[],
  request: { readonly pageSize: number; readonly pageToken: string },
  { sealer, scope }: { sealer: Sealer; scope: PageScope },
): { items: T[]; nextPageToken: string } {
  const size = pageSizeOf(request.pageSize, pageSizeBounds);
  const start = request.pageToken === "" ? 0 : firstAfter(items, openPageToken(sealer, scope, request.pageToken));
  const page = items.slice(start, start + size);
  const last = page.at(-1);
  const isLastPage = last === undefined || start + size >= items.length;
  return { items: page, nextPageToken: isLastPage ? "" : sealPageToken(sealer, scope, last.slug) };
}

/** Index of the first item whose slug is greater (by code units, as the order is); binary search. */
function firstAfter(items: readonly { slug: string }[], slug: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.slug ?? "") > slug) high = middle;
    else low = middle + 1;
  }
  return low;
}
