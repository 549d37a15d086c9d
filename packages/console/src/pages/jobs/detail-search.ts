import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

const params = {
  /** Id of the step whose log is shown; that of all steps where it is not there. */
  step: textParam,
  /** Which entry of the log is first; the oldest unless stated. */
  order: oneOfParam(["newest"]),
  /** What is shown below the steps: the log unless stated. */
  tab: oneOfParam(["program", "simulation"]),
};

/** The search parameters of the page of a job. */
export type JobSearch = SearchOf<typeof params>;

/** Reads the search parameters of the page of a job. */
export const readJobSearch: (raw: Record<string, unknown>) => JobSearch = searchReader(params);
