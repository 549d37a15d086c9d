import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListDeliveriesRequestSchema } from "@svc/gen/triggers";
import { listParams, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { deliveryStates } from "../../words/deliveries.ts";
import { spanRequest } from "../../words/spans.ts";

/** The values of the filter: a state, or `failed` for deliveries that had an attempt and are not delivered. */
export const deliveryFilters = ["failed", ...deliveryStates] as const;

/** The search parameters of the list of deliveries. */
export const deliveriesSearch = listParams(
  { state: oneOfParam(deliveryFilters), ...spanParams },
  {
    /** Id of the subscription whose deliveries are shown. If unset and a state is set, those of every subscription. */
    subscription: textParam,
    /** Id of the delivery shown next to the list. */
    open: textParam,
  },
);

/** Search parameters of the list of deliveries, as they were read. */
export type DeliveriesSearch = ReturnType<typeof deliveriesSearch.read>;

/** True if the deliveries of every subscription can be listed: with a state or `failed`, for any time range. */
export function isOfAll({ state }: DeliveriesSearch): boolean {
  return state !== undefined;
}

/** Returns the id of the subscription whose deliveries are shown: `first` if the address names none. Empty means every subscription. */
export function subscriptionOf(search: DeliveriesSearch, first = ""): string {
  return search.subscription ?? (isOfAll(search) ? "" : first);
}

/** Earlier than anything that is kept: with a state, the service requires a start time. */
const ever = timestampFromMs(0);

/** Returns the request for these parameters; `now` in milliseconds. `first` is the subscription that is shown if the address names none. */
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
