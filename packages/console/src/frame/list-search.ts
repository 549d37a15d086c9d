import { oneOfParam, type ParamReader, type SearchOf, searchReader, timeParam } from "../shell/search-params.ts";
import { rangeNames } from "../words/spans.ts";

/** Readers of search parameters, by their names. */
export type ParamReaders = Record<string, ParamReader>;

/** Search parameters of a list page. */
export type ListParams<Readers extends ParamReaders> = {
  /** Reads the parameters of the page: `validateSearch` of its route. */
  read: (raw: Record<string, unknown>) => SearchOf<Readers>;
  /** The change that clears every filter. */
  noFilters: SearchOf<Readers>;
  /** True if a filter is set, so that an empty list means no match. */
  isFiltered: (search: SearchOf<Readers>) => boolean;
};

/** Search parameters of a list page, and the request that they make. */
export type ListSearch<Readers extends ParamReaders, Request> = ListParams<Readers> & {
  /** Returns the request for these parameters; `now` in milliseconds. */
  request: (search: SearchOf<Readers>, now: number) => Request;
};

/** Parameters of a time range: a range back from now, or two times that replace it. */
export const spanParams = { range: oneOfParam(rangeNames), since: timeParam, until: timeParam };

/**
 * Declares the parameters of a list page. `filters` remove rows from the list; `others`, such as the open row, do not. It does not use
 * React: the console loads it at start, to read addresses before their page is loaded.
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

/** Like `listParams`, and also declares the request that the parameters make. */
export function listSearch<Filters extends ParamReaders, Others extends ParamReaders, Request>(
  filters: Filters,
  others: Others,
  request: (search: SearchOf<Filters & Others>, now: number) => Request,
): ListSearch<Filters & Others, Request> {
  return { ...listParams(filters, others), request };
}
