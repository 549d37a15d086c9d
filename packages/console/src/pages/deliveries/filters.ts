import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListDeliveriesRequestSchema } from "@svc/gen/triggers";
import { listParams, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { deliveryFilters } from "../../words/deliveries.ts";
import { spanRequest } from "../../words/spans.ts";

/** The search parameters of the list of deliveries. */
export const deliveriesSearch = listParams(
  { state: oneOfParam(deliveryFilters), ...spanParams },
  {
    /**
     * Id of the subscription whose deliveries the page shows. If only a state is set, the page shows the deliveries of all subscriptions in
     * this state. If neither is set, the page chooses a subscription itself.
     */
    subscription: textParam,
    /** Id of the delivery whose panel is open next to the list. Unset: the panel is closed. */
    open: textParam,
  },
);

/** Search parameters of the list of deliveries, as they were read. */
export type DeliveriesSearch = ReturnType<typeof deliveriesSearch.read>;

/** True if the page can list the deliveries of all subscriptions. The service allows this only if the request selects a state. */
export function isOfAll({ state }: DeliveriesSearch): boolean {
  return state !== undefined;
}

/**
 * Returns the id of the subscription whose deliveries the page shows. Empty if the page shows the deliveries of all subscriptions. `first`:
 * the id to return if `search` sets neither a subscription nor a state.
 */
export function subscriptionOf(search: DeliveriesSearch, first = ""): string {
  return search.subscription ?? (isOfAll(search) ? "" : first);
}

/**
 * The start of 1970, which is before all stored deliveries. A request that selects a state must have a start time. This one is sent if the
 * user has set none.
 */
const ever = timestampFromMs(0);

/**
 * Returns the request for the deliveries on the page. `search`: the query of the page's address. `first`: id of the subscription to use if
 * `search` names none. `now`: current time in milliseconds.
 */
export function deliveriesRequest(
  search: DeliveriesSearch,
  first: string | undefined,
  now: number,
): MessageInitShape<typeof ListDeliveriesRequestSchema> {
  return {
    subscriptionId: subscriptionOf(search, first),
    ...(search.state === "failed" ? { onlyFailed: true } : { state: search.state ?? "" }),
    ...(isOfAll(search) && { since: ever }),
    ...spanRequest(search, now),
    pageSize: 200,
  };
}
