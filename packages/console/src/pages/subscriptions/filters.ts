import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam } from "../../shell/search-params.ts";

/**
 * Filter in the address of the subscriptions page. `state`: lists only subscriptions whose endpoints fail, or those that are paused or
 * switched off.
 */
export const subscriptionsSearch = listSearch({ state: oneOfParam(["failing", "paused"]) }, {}, () => ({}));
