import type { ServiceImpl } from "@connectrpc/connect";
import { adminList, byId, requireId } from "@svc/core";
import type { AdminService } from "@svc/gen/admin";
import type { AdminContext } from "./context.ts";
import { quarantinedPostMessage } from "./convert.ts";
import { adminFaults } from "./errors.ts";
import { findCandidates } from "./release.ts";

type Methods = "listQuarantinedPosts" | "getQuarantinedPost" | "releaseQuarantinedPosts";

/** The methods of AdminService about quarantined posts. */
export function quarantineMethods(context: AdminContext): Pick<ServiceImpl<typeof AdminService>, Methods> {
  const { sealer, quarantine } = context;
  return {
    listQuarantinedPosts: adminList(sealer, {
      call: "ListQuarantinedPosts",
      order: byId("qrn"),
      filter: ({ toolkitSlug, reason, includeReleased }) => ({ toolkitSlug, reason, includeReleased }),
      rows: ({ filter, page }) => quarantine.list({ ...filter, sinceMs: undefined, untilMs: undefined }, page),
      answer: (rows) => ({ posts: rows.map(quarantinedPostMessage) }),
    }),
    async getQuarantinedPost(request) {
      const id = requireId("qrn", "id", request.id);
      const found = await quarantine.find(id);
      if (found === undefined) throw adminFaults.QUARANTINED_POST_NOT_FOUND(id);
      return { post: quarantinedPostMessage(found.post), body: found.body };
    },
    async releaseQuarantinedPosts(request) {
      const { candidates, nextPageToken } = await findCandidates(context, request);
      const results = [];
      // One after the other: the oldest first, each in a transaction of its own.
      for (const { id, isMissing } of candidates) {
        if (isMissing) results.push({ id, outcome: "missing", accepted: 0, reason: "" });
        else results.push(await quarantine.release(id, { dryRun: request.dryRun }));
      }
      return { results, nextPageToken };
    },
  };
}
