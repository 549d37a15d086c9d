import type { Binding } from "./access/binding.ts";
import { type CallContext, type ProjectPrincipal, requireProject } from "./access/principal.ts";
import type { Sealer } from "./crypto/seal.ts";
import { type Id, type IdPrefix, parseId } from "./ids/id.ts";
import { openPageToken, type PageScope, type PageSizeBounds, pageSizeOf, sealPageToken } from "./ids/page-token.ts";

/** Part of a list to read. `limit` is one more than `size`: another row means another page. */
export type Page<Place> = { readonly after: Place | undefined; readonly size: number; readonly limit: number };

/** Order of a list: the text of a row's place, which page tokens hold, and its reader. */
type ListOrder<Row, Place, Filter = unknown> = {
  readonly placeOf: (row: Row, filter: Filter) => string;
  readonly read: (text: string) => Place | undefined;
};

/** Order of a list by the ids of its rows. */
export function byId<P extends IdPrefix>(prefix: P): ListOrder<{ readonly id: string }, Id<P>> {
  return { placeOf: ({ id }) => id, read: (text) => parseId(prefix, text) };
}

/** Order of a list by a text of its rows, such as a name. */
export function byText<Row>(placeOf: (row: Row) => string): ListOrder<Row, string> {
  return { placeOf, read: (text) => text };
}

/**
 * Rows that were read for a page. `walkedTo`: the search ended before the page was full, and the next page continues from there. `size`:
 * fewer rows are shown than the request asked for.
 */
type PageRows<Row> =
  | readonly Row[]
  | { readonly rows: readonly Row[]; readonly walkedTo?: string | undefined; readonly size?: number };

/** Call of a list. */
type ListCall<Request, Filter, Place, Caller> = {
  readonly request: Request;
  readonly caller: Caller;
  readonly filter: Filter;
  readonly page: Page<Place>;
};

/** Declaration of a list. */
type ListOptions<Request, Filter, Place, Row, Answer, Caller> = {
  /** Name of the call, for which alone its page tokens are good. */
  readonly call: string;
  readonly order: ListOrder<Row, Place, Filter>;
  readonly sizes?: PageSizeBounds;
  /** Conditions of the request, for which alone its page tokens are good. The caller's own entity replaces `entityId`. Default: none. */
  readonly filter?: (request: Request, caller: Caller) => Filter | Promise<Filter>;
  /** Reads up to `limit` rows. */
  readonly rows: (call: ListCall<Request, Filter, Place, Caller>) => PageRows<Row> | Promise<PageRows<Row>>;
  /** True if a bound caller may read the row. Rows that it may not read are left out, and the page is shorter. Default: all. */
  readonly isReached?: (row: Row, binding: Binding | undefined) => boolean;
  /** Returns the fields of the answer but the token. */
  readonly answer: (
    rows: readonly Row[],
    call: Pick<ListCall<Request, Filter, Place, Caller>, "request" | "caller" | "filter">,
  ) => Answer | Promise<Answer>;
};

type PageRequest = { readonly pageSize: number; readonly pageToken: string };
type NextPage = { readonly nextPageToken: string };
type Filters = PageScope["filters"];

/**
 * Returns the method of a list of a project's rows. Throws what its declaration throws, invalid_argument PAGE_SIZE_NEGATIVE and
 * PAGE_TOKEN_INVALID. For a caller that is bound to an entity, the list of every other entity is empty.
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

/** Returns the method of a list of the administrator, which spans projects. Throws as `projectList`. */
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
  const { call, order, sizes, isReached } = options;
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
  const next = rows.length > shownMax && last !== undefined ? order.placeOf(last, filter) : walkedTo;
  const reached = isReached === undefined ? shown : shown.filter((row) => isReached(row, binding));
  const answer = await options.answer(reached, { request, caller, filter });
  return { ...answer, nextPageToken: next === undefined ? "" : sealPageToken(sealer, scope, next) };
}

/** A filter by the entity that a caller is bound to; undefined for one of another entity, which finds nothing. */
function narrowed<Filter extends Filters>(filter: Filter, binding: Binding | undefined): Filter | undefined {
  const own = binding?.entityId ?? "";
  if (own === "" || !Object.hasOwn(filter, "entityId")) return filter;
  const isOther = (filter["entityId"] ?? "") !== "" && filter["entityId"] !== own;
  return isOther ? undefined : { ...filter, entityId: own };
}
