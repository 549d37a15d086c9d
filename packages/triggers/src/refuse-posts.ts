import type { NewEvent } from "@svc/db/events/record";
import type { PostQuotas, PostRefusal } from "./post-quotas.ts";
import type { RoutedPost, RoutingView } from "./routing.ts";

/** Posts that every receiver is over a quota for, and why. */
export type RefusedPosts = ReadonlyMap<RoutedPost, PostRefusal>;

/** The posts of a batch that no receiver has room for. The others are charged to their receivers, and added to `admitted`. */
export function refusePosts(
  quotas: PostQuotas | undefined,
  routing: RoutingView,
  { posts, admitted }: { readonly posts: readonly RoutedPost[]; readonly admitted: Set<RoutedPost> },
): RefusedPosts {
  const refused = new Map<RoutedPost, PostRefusal>();
  if (quotas === undefined) return refused;
  for (const post of posts) {
    if (admitted.has(post)) continue;
    const receivers = routing
      .receivers(post)
      .map(({ projectId }) => ({ projectId, quotas: routing.quotasOf(projectId) }));
    const refusal = quotas.admit(receivers);
    if (refusal === undefined) admitted.add(post);
    else refused.set(post, refusal);
  }
  return refused;
}

/** Counts the posts of a batch that were refused in the end. */
export function noteRefused(quotas: PostQuotas | undefined, refused: RefusedPosts): void {
  for (const refusal of refused.values()) quotas?.refused(refusal);
}

/** Notes what was stored of a batch. */
export function noteStored(
  quotas: PostQuotas | undefined,
  events: readonly NewEvent[],
  duplicates: ReadonlySet<string>,
): void {
  if (quotas === undefined) return;
  for (const { id, projectId, deliveries, payload } of events) {
    if (!duplicates.has(id)) quotas.stored(projectId, { deliveries: deliveries.length, bytes: payload.length });
  }
}
