import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { isoTime, type QuarantineId, sealPageToken } from "@svc/core";
import { listHeldPosts } from "@svc/db";
import type { AdminService, ReleaseQuarantinedPostsRequest } from "@svc/gen/admin";
import type { AdminContext } from "./context.ts";
import { quarantinedPostMessage } from "./convert.ts";
import { quarantinedPostNotFound, releaseFilterRequired, timeRangeInvalid, tooManyIds } from "./errors.ts";
import { adminScope, type PageRequest, pageOf, pageRows, requireId } from "./request.ts";

const idsMax = 500;

/** The methods of AdminService about quarantined posts. */
export function quarantineMethods({
  db,
  sealer,
  quarantine,
}: AdminContext): Pick<ServiceImpl<typeof AdminService>, "listQuarantinedPosts" | "getQuarantinedPost" | "releaseQuarantinedPosts"> {
  return {
    async listQuarantinedPosts(request) {
      const { toolkitSlug, reason, includeReleased } = request;
      const filter = { toolkitSlug, reason, includeReleased };
      const scope = adminScope("ListQuarantinedPosts", filter);
      const page = pageOf(sealer, scope, request, "qrn");
      const posts = await quarantine.list({ ...filter, sinceMs: undefined, untilMs: undefined }, page);
      const { rows, nextPageToken } = pageRows(sealer, scope, posts, page.size);
      return { posts: rows.map(quarantinedPostMessage), nextPageToken };
    },
    async getQuarantinedPost(request) {
      const id = requireId("qrn", "id", request.id);
      const found = await quarantine.find(id);
      if (found === undefined) throw quarantinedPostNotFound(id);
      return { post: quarantinedPostMessage(found.post), body: found.body };
    },
    async releaseQuarantinedPosts(request) {
      const filter = releaseFilter(request);
      const { sinceMs, untilMs, ids, toolkitSlug } = filter;
      const scope = adminScope("ReleaseQuarantinedPosts", { ids, toolkitSlug, sinceMs, untilMs });
      const page = releasePage(pageOf(sealer, scope, request, "qrn"), request);
      const held = await listHeldPosts(db, filter, page);
      const posts = held.slice(0, page.size);
      const results = [];
      for (const id of posts) results.push(await quarantine.release(id, { dryRun: request.dryRun }));
      const last = posts.at(-1);
      const hasMore = held.length > page.size && last !== undefined;
      return { results, nextPageToken: hasMore ? sealPageToken(sealer, scope, last) : "" };
    },
  };
}
