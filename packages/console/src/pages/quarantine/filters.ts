import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListQuarantinedPostsRequestSchema } from "@svc/gen/admin";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";

/** Parameters in the address of the page that lists quarantined webhook posts (which svc could not turn into events). */
export const quarantineSearch = listSearch(
  { toolkit: textParam, reason: textParam },
  {
    /**
     * `shown` adds the quarantined webhook posts that were already released (processed again) to the list. Unset: the list leaves these
     * posts out.
     */
    released: oneOfParam(["shown"]),
  },
  ({ toolkit = "", reason = "", released }): MessageInitShape<typeof ListQuarantinedPostsRequestSchema> => ({
    ...{ pageSize: 200, toolkitSlug: toolkit, reason },
    includeReleased: released !== undefined,
  }),
);
