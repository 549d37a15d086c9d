import { oneOfParam, type SearchOf, searchReader } from "../../shell/search-params.ts";

const params = {
  /** What is shown: the contacts unless stated. */
  tab: oneOfParam(["endpoints"]),
};

/** The search parameters of the page of contacts. */
export type ContactsSearch = SearchOf<typeof params>;

/** Reads the search parameters of the page of contacts. */
export const readContactsSearch: (raw: Record<string, unknown>) => ContactsSearch = searchReader(params);
