import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListAuditEventsRequestSchema } from "@svc/gen/admin";
import { listSearch, spanParams } from "../../frame/list-search.ts";
import { textParam } from "../../shell/search-params.ts";
import { spanRequest } from "../../words/spans.ts";

/**
 * The search parameters of the audit log. `who` is the actor whose actions are shown: `admin` (the administrator), `link` (a person who
 * opened a link), `service` (svc itself), or the id of a key or a job.
 */
export const auditSearch = listSearch(
  { project: textParam, who: textParam, action: textParam, ...spanParams },
  {},
  ({ project = "", who = "", action = "", ...span }, now): MessageInitShape<typeof ListAuditEventsRequestSchema> => ({
    ...{ pageSize: 200, projectId: project, actor: who, action },
    ...spanRequest(span, now),
  }),
);
