import type { MessageInitShape } from "@bufbuild/protobuf";
import { AskState, type ListAsksRequestSchema } from "@svc/gen/jobs";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";

const search = listSearch(
  {
    /** `settled` shows the settled questions; unset shows the pending ones. */
    show: oneOfParam(["settled"]),
    /** Id of the contact whose questions are shown. Unset means every contact. */
    of: textParam,
    /** Id of the schedule whose questions are shown. Unset means the questions of all jobs. */
    schedule: textParam,
  },
  {},
  ({ show, of = "", schedule = "" }): MessageInitShape<typeof ListAsksRequestSchema> => ({
    pageSize: 100,
    state: show === "settled" ? AskState.UNSPECIFIED : AskState.PENDING,
    principalId: of,
    standingProgramId: schedule,
  }),
);

/**
 * The search parameters of the list of questions. The parameter `show` chooses between two lists, the pending and the settled questions. So
 * it does not count as a filter, and clearing the filters does not change it.
 */
export const asksSearch: typeof search = {
  ...search,
  isFiltered: ({ of, schedule }) => of !== undefined || schedule !== undefined,
};
