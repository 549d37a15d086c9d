import { oneOfParam, type ParamReader, type SearchOf, searchReader, timeParam } from "../shell/search-params.ts";
import { dayNames, rangeNames } from "../words/spans.ts";

/** Functions that read the search parameters in a page's address. The key is the name of the parameter. */
export type ParamReaders = Record<string, ParamReader>;

/** How a list page reads the search parameters in its address, and which of them are filters. */
export type ListParams<Readers extends ParamReaders> = {
  /** Reads the search parameters from the address. It is the option `validateSearch` of the page's route. */
  read: (raw: Record<string, unknown>) => SearchOf<Readers>;
  /** The values that clear every filter when they are set as search parameters. */
  noFilters: SearchOf<Readers>;
  /** Returns true if a filter is set. An empty list then means that no row matches. */
  isFiltered: (search: SearchOf<Readers>) => boolean;
};

/** The search parameters of a list page, with a function that makes the API request from them. */
export type ListSearch<Readers extends ParamReaders, Request> = ListParams<Readers> & {
  /** Returns the request for these parameters. `now`: current time in milliseconds. */
  request: (search: SearchOf<Readers>, now: number) => Request;
};

/**
 * The parameters of a time range. `range`: name of a range that ends now. `since` and `until`: start and end; if they are set, `range` is
 * ignored.
 */
export const spanParams = { range: oneOfParam([...rangeNames, ...dayNames]), since: timeParam, until: timeParam };

/**
 * Declares the parameters of a list page. `filters`: parameters that remove rows from the list. `others`: parameters that do not, such as
 * the open row. This function must not use React, because the console calls it at the start, before it loads its pages.
 */
export function listParams<Filters extends ParamReaders, Others extends ParamReaders>(
  filters: Filters,
  others: Others,
): ListParams<Filters & Others> {
  const names: readonly string[] = Object.keys(filters);
  return {
    read: searchReader({ ...filters, ...others }),
    noFilters: Object.fromEntries(names.map((name) => [name, undefined])) as SearchOf<Filters & Others>,
    isFiltered: (search: Record<string, unknown>) => names.some((name) => search[name] !== undefined),
  };
}

/** Declares the URL parameters of a list page in the console, and the request that is made from them. */
export function listSearch<Filters extends ParamReaders, Others extends ParamReaders, Request>(
  filters: Filters,
  others: Others,
  request: (search: SearchOf<Filters & Others>, now: number) => Request,
): ListSearch<Filters & Others, Request> {
  return { ...listParams(filters, others), request };
}
