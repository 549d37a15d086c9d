import { oneOfParam, type SearchOf, searchReader } from "../../shell/search-params.ts";

const params = {
  /** The part of a project that is shown; its keys where it is not there. */
  tab: oneOfParam(["keys", "policy", "usage", "jobs"]),
};

/** The search parameters of a project's page of the administration. */
export type ProjectSearch = SearchOf<typeof params>;

/** Reads the search parameters of a project's page of the administration. */
export const readProjectSearch: (raw: Record<string, unknown>) => ProjectSearch = searchReader(params);
