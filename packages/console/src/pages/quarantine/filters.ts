import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListQuarantinedPostsRequestSchema } from "@svc/gen/admin";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";

/** The search parameters of the list of quarantined posts. */
export const quarantineSearch = listSearch(
  { toolkit: textParam, reason: textParam },
  {
    /** `shown` where released posts are listed, too. */
    released: oneOfParam(["shown"]),
  },
  ({ toolkit = "", reason = "", released }): MessageInitShape<typeof ListQuarantinedPostsRequestSchema> => ({
    ...{ pageSize: 200, toolkitSlug: toolkit, reason },
    includeReleased: released !== undefined,
  }),
);
