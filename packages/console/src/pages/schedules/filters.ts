import { listParams } from "../../frame/list-search.ts";
import { oneOfParam } from "../../shell/search-params.ts";

/**
 * Filters in the address of the schedules page. The request is made in list.tsx, because this file is loaded when the console starts, and
 * the code for schedule calls should load only with the pages that need it.
 */
export const schedulesSearch = listParams({ state: oneOfParam(["pending_approval", "active", "paused", "ended"]) }, {});
