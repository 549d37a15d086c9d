import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  QuarantineRelease,
  ReleaseQuarantinedPostsRequestSchema,
  ReleaseQuarantinedPostsResponse,
} from "@svc/gen/admin";

/**
 * The posts to release. With `ids`: the posts with these ids. With `toolkitSlug` and `untilMs`: all posts to this toolkit (empty: to any
 * toolkit) that were received before this time.
 */
export type ReleasedPosts = { ids: readonly string[] } | { toolkitSlug: string; untilMs: number };

/**
 * Results so far of releasing quarantined webhook posts (processing them again), or of a dry run of this. `outcomes`: number of posts by
 * outcome. `stays`: the reasons of posts that remain in quarantine.
 */
export type ReleaseTally = { tried: number; outcomes: Readonly<Record<string, number>>; stays: readonly string[] };

/** Results of releasing quarantined webhook posts before the first post is released. */
export const emptyTally: ReleaseTally = { tried: 0, outcomes: {}, stays: [] };

const pageSize = 100;

/** Returns the totals of a release (processing again) of quarantined webhook posts, with the results of one more page of posts added. */
function addResults(tally: ReleaseTally, results: readonly QuarantineRelease[]): ReleaseTally {
  const outcomes = { ...tally.outcomes };
  for (const { outcome } of results) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const stays = [...new Set([...tally.stays, ...results.map(({ reason }) => reason).filter(Boolean)])];
  return { tried: tally.tried + results.length, outcomes, stays };
}

/**
 * Releases quarantined webhook posts (processes them again) page by page, oldest first, and calls `onPage` with the results so far. If
 * `isStopped` returns true, it stops; posts that were already released stay released. Rejects if a call fails.
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
