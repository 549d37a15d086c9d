import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListToolCallsRequestSchema } from "@svc/gen/tools";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { callOutcomes } from "../../words/calls.ts";
import { rangeNames, ranges } from "../../words/ranges.ts";

const params = {
  tool: textParam,
  entity: textParam,
  outcome: oneOfParam(callOutcomes),
  job: textParam,
  account: textParam,
  range: oneOfParam(rangeNames),
  /** `off` holds the list still; else what comes in is shown. */
  live: oneOfParam(["off"]),
  /** Id of the call beside the list. */
  open: textParam,
};

/** The search parameters of the ledger. */
export type CallsSearch = SearchOf<typeof params>;

/** Reads the search parameters of the ledger. */
export const readCallsSearch: (raw: Record<string, unknown>) => CallsSearch = searchReader(params);

/** What filters the ledger, all taken away. */
export const noFilters: CallsSearch = {
  tool: undefined,
  entity: undefined,
  outcome: undefined,
  job: undefined,
  account: undefined,
  range: undefined,
};

/** A range begins at a whole minute, so that the same list is the same request for that long. */
const stepMs = 60_000;

/** What is asked of the service for these parameters, `now` in milliseconds. */
export function callsRequest(search: CallsSearch, now: number): MessageInitShape<typeof ListToolCallsRequestSchema> {
  const { tool, entity, outcome, job, account, range } = search;
  const since = range === undefined ? undefined : Math.floor((now - ranges[range]) / stepMs) * stepMs;
  return {
    pageSize: 200,
    toolSlug: tool ?? "",
    entityId: entity ?? "",
    outcome: outcome ?? "",
    jobId: job ?? "",
    connectedAccountId: account ?? "",
    ...(since !== undefined && { since: timestampFromMs(since) }),
  };
}

/** Whether anything is filtered, so that an empty list means no match rather than no call. */
export function isFiltered(search: CallsSearch): boolean {
  return Object.keys(noFilters).some((name) => search[name as keyof CallsSearch] !== undefined);
}
