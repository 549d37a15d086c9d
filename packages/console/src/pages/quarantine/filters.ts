import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListQuarantinedPostsRequestSchema } from "@svc/gen/admin";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";

/** The search parameters of the list of quarantined webhook posts (which svc could not turn into events). */
export const quarantineSearch = listSearch(
  { toolkit: textParam, reason: textParam },
  {
    /** `shown` includes those quarantined webhook posts in the list that were released (processed again). */
    released: oneOfParam(["shown"]),
  },
  ({ toolkit = "", reason = "", released }): MessageInitShape<typeof ListQuarantinedPostsRequestSchema> => ({
    ...{ pageSize: 200, toolkitSlug: toolkit, reason },
    includeReleased: released !== undefined,
  }),
);
