import { type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

const params = {
  /** Since when events were not delivered, of a subscription that was just re-enabled: a time as RFC 3339 writes it. */
  missedSince: textParam,
};

/** The search parameters of the page of a subscription. */
export type SubscriptionSearch = SearchOf<typeof params>;

/** Reads the search parameters of the page of a subscription. */
export const readSubscriptionSearch: (raw: Record<string, unknown>) => SubscriptionSearch = searchReader(params);
