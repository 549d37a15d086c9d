import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListQuarantinedPostsRequestSchema } from "@svc/gen/admin";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

const params = {
  toolkit: textParam,
  reason: textParam,
  /** `shown` where released posts are listed, too. */
  released: oneOfParam(["shown"]),
};

/** The search parameters of the list of quarantined posts. */
export type QuarantineSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of quarantined posts. */
export const readQuarantineSearch: (raw: Record<string, unknown>) => QuarantineSearch = searchReader(params);

const postParams = {
  /** How the body is shown; as text where it is text and nothing stands here. */
  body: oneOfParam(["text", "hex"]),
};

/** The search parameters of the page of a quarantined post. */
export type QuarantinedSearch = SearchOf<typeof postParams>;

/** Reads the search parameters of the page of a quarantined post. */
export const readQuarantinedSearch: (raw: Record<string, unknown>) => QuarantinedSearch = searchReader(postParams);

/** What is asked of the service for these parameters. */
export function quarantineRequest({
  toolkit,
  reason,
  released,
}: QuarantineSearch): MessageInitShape<typeof ListQuarantinedPostsRequestSchema> {
  return {
    ...{ pageSize: 200, toolkitSlug: toolkit ?? "", reason: reason ?? "" },
    includeReleased: released !== undefined,
  };
}

/** Whether posts that are still held are left out. */
export function isFiltered({ toolkit, reason }: QuarantineSearch): boolean {
  return toolkit !== undefined || reason !== undefined;
}
