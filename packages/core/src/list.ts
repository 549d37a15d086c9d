import type { Binding } from "./access/binding.ts";
import { type CallContext, type ProjectPrincipal, requireProject } from "./access/principal.ts";
import type { Sealer } from "./crypto/seal.ts";
import { type Id, type IdPrefix, parseId } from "./ids/id.ts";
import { openPageToken, type PageScope, type PageSizeBounds, pageSizeOf, sealPageToken } from "./ids/page-token.ts";

/** Part of a list to read. `limit` is one more than `size`: an extra row means that another page follows. */
export type Page<Place> = { readonly after: Place | undefined; readonly size: number; readonly limit: number };

/** Order of a list: returns a row's position as text, for page tokens, and reads it. */
type ListOrder<Row, Place, Filter = unknown> = {
  readonly positionOf: (row: Row, filter: Filter) => string;
  readonly read: (text: string) => Place | undefined;
};

/** Orders a list by the ids of its rows. */
export function byId<P extends IdPrefix>(prefix: P): ListOrder<{ readonly id: string }, Id<P>> {
  return { positionOf: ({ id }) => id, read: (text) => parseId(prefix, text) };
}

/** Orders a list by a text of its rows, such as a name. */
export function byText<Row>(positionOf: (row: Row) => string): ListOrder<Row, string> {
  return { positionOf, read: (text) => text };
}

/**
 * Rows read for a page. `walkedTo`: the scan ended before the page was full, and the next page continues there. `size`: fewer rows are
 * shown than requested.
 */
type PageRows<Row> =
  | readonly Row[]
  | { readonly rows: readonly Row[]; readonly walkedTo?: string | undefined; readonly size?: number };

/** A call of a list. */
type ListCall<Request, Filter, Place, Caller> = {
  readonly request: Request;
  readonly caller: Caller;
  readonly filter: Filter;
  readonly page: Page<Place>;
};

/** Declaration of a list. */
type ListOptions<Request, Filter, Place, Row, Answer, Caller> = {
  /** Name of the call; its page tokens are valid only for it. */
  readonly call: string;
  readonly order: ListOrder<Row, Place, Filter>;
  readonly sizes?: PageSizeBounds;
  /** Filters of the request; its page tokens are valid only for them. The caller's own entity replaces `entityId`. Default: none. */
  readonly filter?: (request: Request, caller: Caller) => Filter | Promise<Filter>;
  /** Reads up to `limit` rows. */
  readonly rows: (call: ListCall<Request, Filter, Place, Caller>) => PageRows<Row> | Promise<PageRows<Row>>;
  /** True if a scoped caller may read the row. Other rows are omitted, and the page is shorter. Default: all. */
  readonly isInScope?: (row: Row, binding: Binding | undefined) => boolean;
  /** Returns the fields of the answer except the token. */
  readonly answer: (
    rows: readonly Row[],
    call: Pick<ListCall<Request, Filter, Place, Caller>, "request" | "caller" | "filter">,
  ) => Answer | Promise<Answer>;
};

type PageRequest = { readonly pageSize: number; readonly pageToken: string };
type NextPage = { readonly nextPageToken: string };
type Filters = PageScope["filters"];

/**
 * Returns the method for a list of a project's rows. Throws the errors of its declaration, and invalid_argument PAGE_SIZE_NEGATIVE and
 * PAGE_TOKEN_INVALID. For a caller scoped to an entity, lists of other entities are empty.
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

/** Returns the method for an administrator's list across projects. Throws like `projectList`. */
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

/** Returns the filter limited to the caller's entity; undefined if it names another entity, which finds nothing. */
function narrowed<Filter extends Filters>(filter: Filter, binding: Binding | undefined): Filter | undefined {
  const own = binding?.entityId ?? "";
  if (own === "" || !Object.hasOwn(filter, "entityId")) return filter;
  const isOther = (filter["entityId"] ?? "") !== "" && filter["entityId"] !== own;
  return isOther ? undefined : { ...filter, entityId: own };
}
