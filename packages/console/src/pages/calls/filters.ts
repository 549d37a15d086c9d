import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListToolCallsRequestSchema } from "@svc/gen/tools";
import { listSearch, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { callOutcomes } from "../../words/calls.ts";
import { spanRequest } from "../../words/spans.ts";

/** Parameters in the address of the page that lists tool calls: its filters, and the open call. */
export const callsSearch = listSearch(
  {
    tool: textParam,
    entity: textParam,
    outcome: oneOfParam(callOutcomes),
    /** `failed` lists only failed calls. Unset: calls with every outcome are listed. */
    tab: oneOfParam(["failed"]),
    job: textParam,
    /** Id of the step of the job whose calls are listed. */
    step: textParam,
    account: textParam,
    ...spanParams,
  },
  {
    /** `off` stops new rows from appearing; otherwise the list is live. */
    live: oneOfParam(["off"]),
    /** Id of the call whose panel is open next to the list. Unset: the panel is closed. */
    open: textParam,
  },
  (
    { tool = "", entity = "", outcome = "", tab, job = "", step = "", account = "", ...span },
    now,
  ): MessageInitShape<typeof ListToolCallsRequestSchema> => ({
    pageSize: 200,
    toolSlug: tool,
    entityId: entity,
    outcome,
    failed: tab === "failed",
    jobId: job,
    stepId: step,
    connectedAccountId: account,
    ...spanRequest(span, now),
  }),
);
