import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListDeliveriesRequestSchema } from "@svc/gen/triggers";
import { listParams, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { deliveryStates } from "../../words/deliveries.ts";
import { spanRequest } from "../../words/spans.ts";

/** The values of the filter: a state, or `failed` for deliveries that were tried and have not arrived. */
export const deliveryFilters = ["failed", ...deliveryStates] as const;

/** The search parameters of the list of deliveries. */
export const deliveriesSearch = listParams(
  { state: oneOfParam(deliveryFilters), ...spanParams },
  {
    /** Id of the subscription whose deliveries are shown; of every one where it is not there, and a state is. */
    subscription: textParam,
    /** Id of the delivery beside the list. */
    open: textParam,
  },
);

/** Search parameters of the list of deliveries, as they were read. */
export type DeliveriesSearch = ReturnType<typeof deliveriesSearch.read>;

/** True if the deliveries of every subscription can be listed: with a state or those that failed, and whatever time is meant. */
export function isOfAll({ state }: DeliveriesSearch): boolean {
  return state !== undefined;
}

/** Returns the id of the subscription whose deliveries are shown, of `first` unless one is named; empty for every one. */
export function subscriptionOf(search: DeliveriesSearch, first = ""): string {
  return search.subscription ?? (isOfAll(search) ? "" : first);
}

/** Since before anything that is kept: with a state the service wants to be told since when. */
const ever = timestampFromMs(0);

/** Returns the request for these parameters, `now` in milliseconds. `first` is the subscription that is shown where none is named. */
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
