import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  QuarantineRelease,
  ReleaseQuarantinedPostsRequestSchema,
  ReleaseQuarantinedPostsResponse,
} from "@svc/gen/admin";

/** Which posts a release takes: these, or all to a toolkit (empty: to any) that were received before a time. */
export type ReleasedPosts = { ids: readonly string[] } | { toolkitSlug: string; untilMs: number };

/** What became of the posts so far, or would: how many by outcome, and which reasons those have that stay. */
export type ReleaseTally = { tried: number; outcomes: Readonly<Record<string, number>>; stays: readonly string[] };

/** Before any was tried. */
export const emptyTally: ReleaseTally = { tried: 0, outcomes: {}, stays: [] };

const pageSize = 100;

/** Adds a page of results. */
function addResults(tally: ReleaseTally, results: readonly QuarantineRelease[]): ReleaseTally {
  const outcomes = { ...tally.outcomes };
  for (const { outcome } of results) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const stays = [...new Set([...tally.stays, ...results.map(({ reason }) => reason).filter(Boolean)])];
  return { tried: tally.tried + results.length, outcomes, stays };
}

/**
 * Goes through the posts page after page, the oldest first, and tells `onPage` what became of all so far. Ends early once `isStopped`; what a
 * page did is done. Rejects with what a call rejects with.
 */
export async function releasePages(
  filter: ReleasedPosts,
  {
    isDryRun,
    send,
    onPage,
    isStopped,
  }: {
    isDryRun: boolean;
    send: (
      request: MessageInitShape<typeof ReleaseQuarantinedPostsRequestSchema>,
    ) => Promise<Pick<ReleaseQuarantinedPostsResponse, "results" | "nextPageToken">>;
    onPage: (tally: ReleaseTally) => void;
    isStopped: () => boolean;
  },
): Promise<void> {
  const wanted =
    "ids" in filter
      ? { ids: [...filter.ids] }
      : { toolkitSlug: filter.toolkitSlug, until: timestampFromMs(filter.untilMs), pageSize };
  let [tally, pageToken] = [emptyTally, ""];
  do {
    const answer = await send({ ...wanted, pageToken, dryRun: isDryRun });
    tally = addResults(tally, answer.results);
    onPage(tally);
    pageToken = answer.nextPageToken;
  } while (pageToken !== "" && !isStopped());
}
