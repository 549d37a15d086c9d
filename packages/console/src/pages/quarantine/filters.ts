import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListQuarantinedPostsRequestSchema } from "@svc/gen/admin";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";

/** The search parameters of the list of quarantined posts. */
export const quarantineSearch = listSearch(
  { toolkit: textParam, reason: textParam },
  {
    /** `shown` includes released posts in the list. */
    released: oneOfParam(["shown"]),
  },
  ({ toolkit = "", reason = "", released }): MessageInitShape<typeof ListQuarantinedPostsRequestSchema> => ({
    ...{ pageSize: 200, toolkitSlug: toolkit, reason },
    includeReleased: released !== undefined,
  }),
);
