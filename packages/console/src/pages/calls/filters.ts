import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListToolCallsRequestSchema } from "@svc/gen/tools";
import { listSearch, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { callOutcomes } from "../../words/calls.ts";
import { spanRequest } from "../../words/spans.ts";

/** The search parameters of the ledger. */
export const callsSearch = listSearch(
  {
    tool: textParam,
    entity: textParam,
    outcome: oneOfParam(callOutcomes),
    job: textParam,
    account: textParam,
    ...spanParams,
  },
  {
    /** `off` holds the list still; else what comes in is shown. */
    live: oneOfParam(["off"]),
    /** Id of the call beside the list. */
    open: textParam,
  },
  (
    { tool = "", entity = "", outcome = "", job = "", account = "", ...span },
    now,
  ): MessageInitShape<typeof ListToolCallsRequestSchema> => ({
    pageSize: 200,
    toolSlug: tool,
    entityId: entity,
    outcome,
    jobId: job,
    connectedAccountId: account,
    ...spanRequest(span, now),
  }),
);
