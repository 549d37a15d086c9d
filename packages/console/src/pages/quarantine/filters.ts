import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListQuarantinedPostsRequestSchema } from "@svc/gen/admin";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

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

const postParams = {
  /** How the body is shown; as text where it is text and nothing stands here. */
  body: oneOfParam(["text", "hex"]),
};

/** The search parameters of the page of a quarantined post. */
export type QuarantinedSearch = SearchOf<typeof postParams>;

/** Reads the search parameters of the page of a quarantined post. */
export const readQuarantinedSearch: (raw: Record<string, unknown>) => QuarantinedSearch = searchReader(postParams);
