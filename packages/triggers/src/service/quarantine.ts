import type { ServiceImpl } from "@connectrpc/connect";
import { byId, projectList, requireId, requireProject } from "@svc/core";
import type { TriggersService } from "@svc/gen/triggers";
import { quarantinedPostMessage } from "../convert.ts";
import { quarantineFaults } from "../errors.ts";
import type { TriggersContext } from "./context.ts";
import { releasePosts } from "./release.ts";

type Methods = Pick<
  ServiceImpl<typeof TriggersService>,
  "listQuarantinedPosts" | "getQuarantinedPost" | "releaseQuarantinedPosts"
>;

/**
 * Returns the methods of TriggersService for quarantined webhook posts (which svc could not turn into events) to the project's private
 * toolkits (apps that a project defined for itself).
 */
export function quarantineMethods(context: TriggersContext): Methods {
  const { sealer, quarantine, views } = context;
  return {
    listQuarantinedPosts: projectList(sealer, {
      call: "ListQuarantinedPosts",
      order: byId("qrn"),
      filter: ({ toolkitSlug, reason, includeReleased }) => ({ toolkitSlug, reason, includeReleased }),
      rows: ({ filter, page, caller: { projectId } }) =>
        quarantine.list({ ...filter, owner: projectId, sinceMs: undefined, untilMs: undefined }, page),
      answer: (rows) => ({ posts: rows.map(quarantinedPostMessage) }),
    }),

    async getQuarantinedPost(request, ctx) {
      const { projectId } = requireProject(ctx);
      const id = requireId("qrn", "id", request.id);
      const found = await quarantine.find(id, projectId);
      if (found === undefined) throw quarantineFaults.QUARANTINED_POST_NOT_FOUND(id);
      return { post: quarantinedPostMessage(found.post), body: found.body };
    },

    async releaseQuarantinedPosts(request, ctx) {
      const { projectId } = requireProject(ctx);
      const { toolkits } = await views.forProject(projectId);
      return releasePosts(context, { owner: projectId, toolkits }, request);
    },
  };
}
