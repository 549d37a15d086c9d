/** Reads every item of a paged list, page by page. `limit` ends it early. */
export async function collectPages<Item>(
  readPage: (pageToken: string) => Promise<{ items: readonly Item[]; nextPageToken: string }>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const found: Item[] = [];
  let pageToken = "";
  do {
    const page = await readPage(pageToken);
    found.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && found.length < limit);
  return found.slice(0, limit);
}
