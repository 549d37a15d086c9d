import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam } from "../../shell/search-params.ts";

/** The search parameters of the list of subscriptions. `state`: only endpoints that fail, or that are paused or off. */
export const subscriptionsSearch = listSearch({ state: oneOfParam(["failing", "paused"]) }, {}, () => ({}));
