import { type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

const params = {
  /** Id of the job whose program is begun with; an example where it is not there. */
  from: textParam,
};

/** The search parameters of the page of a new program. */
export type ProgramSearch = SearchOf<typeof params>;

/** Reads the search parameters of the page of a new program. */
export const readProgramSearch: (raw: Record<string, unknown>) => ProgramSearch = searchReader(params);
