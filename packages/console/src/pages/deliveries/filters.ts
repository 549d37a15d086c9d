import { type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

const params = {
  /** Id of the subscription whose deliveries are shown. */
  subscription: textParam,
  /** Id of the delivery beside the list. */
  open: textParam,
};

/** The search parameters of the list of deliveries. */
export type DeliveriesSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of deliveries. */
export const readDeliveriesSearch: (raw: Record<string, unknown>) => DeliveriesSearch = searchReader(params);
