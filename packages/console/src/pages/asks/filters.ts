import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Ask, AskState, type ListAsksRequestSchema } from "@svc/gen/jobs";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

const params = {
  /** `settled` shows what was decided; else what waits. */
  show: oneOfParam(["settled"]),
  /** Contact whose questions are shown; of every contact where it is not there. */
  of: textParam,
  /** Id of the schedule whose questions are shown. */
  schedule: textParam,
};

/** The search parameters of the inbox. */
export type AsksSearch = SearchOf<typeof params>;

/** Reads the search parameters of the inbox. */
export const readAsksSearch: (raw: Record<string, unknown>) => AsksSearch = searchReader(params);

/** What is asked of the service for these parameters. */
export function asksRequest({ show, of, schedule }: AsksSearch): MessageInitShape<typeof ListAsksRequestSchema> {
  return {
    pageSize: 100,
    state: show === "settled" ? AskState.UNSPECIFIED : AskState.PENDING,
    principalId: of ?? "",
    standingProgramId: schedule ?? "",
  };
}

/** Whether an ask of the answer belongs to the list. */
export function isListed({ show }: AsksSearch, { state }: Pick<Ask, "state">): boolean {
  return show !== "settled" || state !== AskState.PENDING;
}
