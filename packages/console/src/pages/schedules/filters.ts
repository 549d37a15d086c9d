import { listParams } from "../../frame/list-search.ts";
import { oneOfParam } from "../../shell/search-params.ts";

/**
 * The search parameters of the list of schedules: the word of a state, as in `standingWord`. The request is made in list.tsx, because the
 * console loads this file at its start, and the code of the service's schedules only with their pages.
 */
export const schedulesSearch = listParams({ state: oneOfParam(["pending_approval", "active", "paused", "ended"]) }, {});
