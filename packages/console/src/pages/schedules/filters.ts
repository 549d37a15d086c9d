import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ListStandingProgramsRequestSchema, StandingState } from "@svc/gen/standing";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam } from "../../shell/search-params.ts";
import { standingStates, standingWord } from "../../words/standing.ts";

const stateWords = standingStates.map((state) => standingWord(state).word);

/** The search parameters of the list of schedules. */
export const schedulesSearch = listSearch(
  { state: oneOfParam(stateWords) },
  {},
  ({ state }): MessageInitShape<typeof ListStandingProgramsRequestSchema> => ({
    state: standingStates.find((known) => standingWord(known).word === state) ?? StandingState.UNSPECIFIED,
    pageSize: 100,
  }),
);
