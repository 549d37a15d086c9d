import type { Binding } from "./access/binding.ts";
import { type CallContext, type ProjectPrincipal, requireProject } from "./access/principal.ts";
import type { Sealer } from "./crypto/seal.ts";
import { type Id, type IdPrefix, parseId } from "./ids/id.ts";
import { openPageToken, type PageScope, type PageSizeBounds, pageSizeOf, sealPageToken } from "./ids/page-token.ts";

/**
 * The part of a list to read. `after`: position of the row before the page; undefined for the first page. `size`: number of rows of the
 * page. `limit`: number of rows to read, one more than `size`, which shows if another page follows.
 */
export type Page<Place> = { readonly after: Place | undefined; readonly size: number; readonly limit: number };

/**
 * The order of the rows of a list. `positionOf`: returns the position of a row as a text, which is put into page tokens. `read`: converts
 * such a text back into a position; undefined if the text is not a valid position.
 */
type ListOrder<Row, Place, Filter = unknown> = {
  readonly positionOf: (row: Row, filter: Filter) => string;
  readonly read: (text: string) => Place | undefined;
};

/** Returns the order of an API list that is sorted by the ids of its rows. */
export function byId<P extends IdPrefix>(prefix: P): ListOrder<{ readonly id: string }, Id<P>> {
  return { positionOf: ({ id }) => id, read: (text) => parseId(prefix, text) };
}

/** Returns the order of an API list that is sorted by a text of its rows, such as a name. */
export function byText<Row>(positionOf: (row: Row) => string): ListOrder<Row, string> {
  return { positionOf, read: (text) => text };
}

/**
 * Rows that were read for a page. `walkedTo`: set if the search for rows stopped before the page was full; the next page continues at this
 * position. `size`: number of rows to show, if fewer than requested.
 */
type PageRows<Row> =
  | readonly Row[]
  | { readonly rows: readonly Row[]; readonly walkedTo?: string | undefined; readonly size?: number };

/** A request for a list, with its caller, filters and page. */
type ListCall<Request, Filter, Place, Caller> = {
  readonly request: Request;
  readonly caller: Caller;
  readonly filter: Filter;
  readonly page: Page<Place>;
};

/** Declaration of an API call that returns a list (for example ListJobs): its name, order, page sizes and filters. */
type ListOptions<Request, Filter, Place, Row, Answer, Caller> = {
  /** Name of the call. A page token is valid only for the call that returned it. */
  readonly call: string;
  readonly order: ListOrder<Row, Place, Filter>;
  readonly sizes?: PageSizeBounds;
  /**
   * Returns the filters of a request. A page token is valid only for the same filters. If the caller's scope has an entity (customer or
   * user), that entity replaces the filter `entityId`. Default: no filters.
   */
  readonly filter?: (request: Request, caller: Caller) => Filter | Promise<Filter>;
  /** Reads the rows of the list that the page needs, at most `page.limit`. */
  readonly rows: (call: ListCall<Request, Filter, Place, Caller>) => PageRows<Row> | Promise<PageRows<Row>>;
  /**
   * True if a caller with this scope may read the row. False if not; the list then leaves it out, so the page has fewer rows. Default: true
   * for all rows.
   */
  readonly isInScope?: (row: Row, binding: Binding | undefined) => boolean;
  /** Returns the fields of a list call's response, without the page token. */
  readonly answer: (
    rows: readonly Row[],
    call: Pick<ListCall<Request, Filter, Place, Caller>, "request" | "caller" | "filter">,
  ) => Answer | Promise<Answer>;
};

type PageRequest = { readonly pageSize: number; readonly pageToken: string };
type NextPage = { readonly nextPageToken: string };
type Filters = PageScope["filters"];

/**
 * Returns the service method for a list of a project's rows. The method throws the errors of the functions in `options` that read the list,
 * and invalid_argument PAGE_SIZE_NEGATIVE and PAGE_TOKEN_INVALID. If the caller's key is limited to one entity (customer or user), lists of
 * all other entities are empty.
 */
export function projectList<Request extends PageRequest, Place, Row, Answer, Filter extends Filters = Filters>(
  sealer: Sealer,
  options: ListOptions<Request, Filter, Place, Row, Answer, ProjectPrincipal>,
): (request: Request, ctx: CallContext) => Promise<Answer & NextPage> {
  return (request, ctx) => {
    const caller = requireProject(ctx);
    return readList(sealer, options, request, { caller, projectId: caller.projectId, binding: caller.binding });
  };
}

/**
 * Returns the service method for an administrator's list over all projects. The method throws INVALID_ARGUMENT with PAGE_SIZE_NEGATIVE or
 * PAGE_TOKEN_INVALID for a request with an invalid page.
 */
export function adminList<Request extends PageRequest, Place, Row, Answer, Filter extends Filters = Filters>(
  sealer: Sealer,
  options: ListOptions<Request, Filter, Place, Row, Answer, undefined>,
): (request: Request) => Promise<Answer & NextPage> {
  return (request) => readList(sealer, options, request, { caller: undefined, projectId: "", binding: undefined });
}

async function readList<Request extends PageRequest, Place, Row, Answer, Filter extends Filters, Caller>(
  sealer: Sealer,
  options: ListOptions<Request, Filter, Place, Row, Answer, Caller>,
  request: Request,
  { caller, projectId, binding }: { caller: Caller; projectId: string; binding: Binding | undefined },
): Promise<Answer & NextPage> {
  const { call, order, sizes, isInScope } = options;
  const asked = (await options.filter?.(request, caller)) ?? ({} as Filter);
  const filter = narrowed(asked, binding);
  if (filter === undefined) {
    return { ...(await options.answer([], { request, caller, filter: asked })), nextPageToken: "" };
  }
  const scope = { call, projectId, filters: filter };
  const size = pageSizeOf(request.pageSize, sizes);
  const after = request.pageToken === "" ? undefined : order.read(openPageToken(sealer, scope, request.pageToken));
  const found = await options.rows({ request, caller, filter, page: { after, size, limit: size + 1 } });
  const { rows, walkedTo, size: shownMax = size } = "rows" in found ? found : { rows: found };
  const shown = rows.slice(0, shownMax);
  const last = shown.at(-1);
  const next = rows.length > shownMax && last !== undefined ? order.positionOf(last, filter) : walkedTo;
  const reached = isInScope === undefined ? shown : shown.filter((row) => isInScope(row, binding));
  const answer = await options.answer(reached, { request, caller, filter });
  return { ...answer, nextPageToken: next === undefined ? "" : sealPageToken(sealer, scope, next) };
}

/**
 * Returns the filter with the caller's entity (customer or user). Returns undefined if the filter names another entity; the list is then
 * empty.
 */
function narrowed<Filter extends Filters>(filter: Filter, binding: Binding | undefined): Filter | undefined {
  const own = binding?.entityId ?? "";
  if (own === "" || !Object.hasOwn(filter, "entityId")) return filter;
  const isOther = (filter["entityId"] ?? "") !== "" && filter["entityId"] !== own;
  return isOther ? undefined : { ...filter, entityId: own };
}
