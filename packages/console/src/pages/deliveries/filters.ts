import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListDeliveriesRequestSchema } from "@svc/gen/triggers";
import { oneOfParam, type SearchOf, searchReader, textParam, timeParam } from "../../shell/search-params.ts";
import { deliveryStates } from "../../words/deliveries.ts";
import { rangeNames } from "../../words/ranges.ts";
import { isSpan, noSpan, spanRequest } from "../../words/spans.ts";

/** The values of the filter: a state, or `failed` for deliveries that were tried and have not arrived. */
export const deliveryFilters = ["failed", ...deliveryStates] as const;

const params = {
  /** Id of the subscription whose deliveries are shown; of every one where it is not there, and a state is. */
  subscription: textParam,
  state: oneOfParam(deliveryFilters),
  /** How far back they were queued; all that is kept where it is not there. */
  range: oneOfParam(rangeNames),
  /** From one time to another, in place of a range. */
  since: timeParam,
  until: timeParam,
  /** Id of the delivery beside the list. */
  open: textParam,
};

/** The search parameters of the list of deliveries. */
export type DeliveriesSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of deliveries. */
export const readDeliveriesSearch: (raw: Record<string, unknown>) => DeliveriesSearch = searchReader(params);

/** True if the deliveries of every subscription can be listed: with a state or those that failed, and whatever time is meant. */
export function isOfAll({ state }: DeliveriesSearch): boolean {
  return state !== undefined;
}

/** Since before anything that is kept: with a state the service wants to be told since when. */
const ever = timestampFromMs(0);

/** What is asked of the service for these parameters, `now` in milliseconds. `first` is the subscription that is shown where none is named. */
export function deliveriesRequest(
  search: DeliveriesSearch,
  first: string,
  now: number,
): MessageInitShape<typeof ListDeliveriesRequestSchema> {
  return {
    subscriptionId: search.subscription ?? (isOfAll(search) ? "" : first),
    ...(search.state === "failed" ? { onlyFailed: true } : { state: search.state ?? "" }),
    ...(isOfAll(search) && { since: ever }),
    ...spanRequest(search, now),
    pageSize: 200,
  };
}

/** What filters the list, all taken away. */
export const noFilters: DeliveriesSearch = { state: undefined, ...noSpan };

/** Whether anything is filtered, so that an empty list means no match rather than no delivery. */
export function isFiltered(search: DeliveriesSearch): boolean {
  return search.state !== undefined || isSpan(search);
}
