import { type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

const params = {
  /** Number of the version that is shown; the newest where it is not there. */
  version: textParam,
};

/** The search parameters of the page of a skill. */
export type SkillSearch = SearchOf<typeof params>;

/** Reads the search parameters of the page of a skill. */
export const readSkillSearch: (raw: Record<string, unknown>) => SkillSearch = searchReader(params);
