import type { ServiceImpl } from "@connectrpc/connect";
import type { CatalogViews } from "@svc/catalog";
import { type Clock, requireProject } from "@svc/core";
import { callLimitsForProject } from "@svc/db/call-limits/repo";
import type { Database } from "@svc/db/connect";
import type { ToolsService } from "@svc/gen/tools";
import { toCallLimit } from "../convert.ts";
import { toolFaults } from "../errors.ts";
import type { CallLimits } from "../limits/call-limits.ts";
import { readCallLimit } from "./call-limit.ts";

/** What the methods for call limits work with. */
export type CallLimitsContext = {
  readonly views: CatalogViews;
  /** Told of a change, so that this node holds to it at once. */
  readonly limits: Pick<CallLimits, "forget">;
  readonly clock: Clock;
  readonly db: Database;
};

/** The most call limits of one project: each is looked at for each of its calls. */
const limitsMax = 100;

/** The methods of ToolsService for call limits. */
export function callLimitMethods({
  views,
  limits,
  clock,
  db,
}: CallLimitsContext): Pick<ServiceImpl<typeof ToolsService>, "putCallLimit" | "deleteCallLimit" | "listCallLimits"> {
  return {
    async putCallLimit(request, ctx) {
      const { projectId } = requireProject(ctx);
      const limit = readCallLimit(await views.forProject(projectId), request.limit, clock.now());
      const put = await callLimitsForProject(db, projectId).put(limit, limitsMax);
      if (put === undefined) throw toolFaults.CALL_LIMITS_TOO_MANY(limitsMax);
      limits.forget(projectId);
      return { limit: toCallLimit(put) };
    },
    async deleteCallLimit({ name }, ctx) {
      const { projectId } = requireProject(ctx);
      // No limit has a name that the store cannot hold.
      const isDeleted = !name.includes("\0") && (await callLimitsForProject(db, projectId).delete(name));
      if (!isDeleted) throw toolFaults.CALL_LIMIT_NOT_FOUND(name);
      limits.forget(projectId);
      return {};
    },
    async listCallLimits(_request, ctx) {
      const rows = await callLimitsForProject(db, requireProject(ctx).projectId).list();
      return { limits: rows.map(toCallLimit) };
    },
  };
}
