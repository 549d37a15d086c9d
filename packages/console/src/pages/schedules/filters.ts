import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ListStandingProgramsRequestSchema, StandingState } from "@svc/gen/standing";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { standingStates, standingWord } from "../../words/standing.ts";

/** The states of schedules, in words. */
export const stateWords = standingStates.map((state) => standingWord(state).word);

/** The search parameters of the list of schedules. */
export const schedulesSearch = listSearch(
  { state: oneOfParam(stateWords) },
  {},
  ({ state }): MessageInitShape<typeof ListStandingProgramsRequestSchema> => ({
    state: standingStates.find((known) => standingWord(known).word === state) ?? StandingState.UNSPECIFIED,
    pageSize: 100,
  }),
);

const runParams = {
  /** Why a run was not started; of every reason where it is not there. */
  reason: textParam,
};

/** The search parameters of the page of a schedule. */
export type ScheduleSearch = SearchOf<typeof runParams>;

/** Reads the search parameters of the page of a schedule. */
export const readScheduleSearch: (raw: Record<string, unknown>) => ScheduleSearch = searchReader(runParams);

const newParams = {
  /** Slug of the skill that it runs; a program that is written where it is not there. */
  skill: textParam,
};

/** The search parameters of the page of a new schedule. */
export type NewScheduleSearch = SearchOf<typeof newParams>;

/** Reads the search parameters of the page of a new schedule. */
export const readNewScheduleSearch: (raw: Record<string, unknown>) => NewScheduleSearch = searchReader(newParams);
