import { listParams, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, type ParamReader, textParam } from "../../shell/search-params.ts";
import { deliveryFilters } from "../../words/delivery-filters.ts";

/** Reads an HTTP status from an address. Undefined for any other text. */
const statusParam: ParamReader = (value) => (/^[1-5]\d\d$/.test(value) ? value : undefined);

/** Parameters in the address of the page that lists deliveries: its filters, and the open delivery. */
export const deliveriesSearch = listParams(
  {
    state: oneOfParam(deliveryFilters),
    /** Trigger of the delivered events. */
    event: textParam,
    /** HTTP status of the latest failed attempt. */
    answer: statusParam,
    ...spanParams,
  },
  {
    /** Id of the subscription whose deliveries the page shows. Not set: those of all subscriptions. */
    subscription: textParam,
    /** Id of the delivery whose panel is open next to the list. Unset: the panel is closed. */
    open: textParam,
  },
);

/** Filters and other parameters from the address of the deliveries page, already checked and converted. */
export type DeliveriesSearch = ReturnType<typeof deliveriesSearch.read>;
