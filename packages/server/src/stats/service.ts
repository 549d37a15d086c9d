import type { ServiceImpl } from "@connectrpc/connect";
import { requireProject } from "@svc/core";
import type { StatsService } from "@svc/gen/stats";
import { readBacklog } from "./backlog.ts";
import { querySeries } from "./query.ts";
import { type WatchContext, watchProject } from "./watch-project.ts";

/** StatsService over one store; every method takes its project from the calling key. */
export function createStatsService(context: WatchContext): ServiceImpl<typeof StatsService> {
  return {
    getBacklog: (_request, ctx) => readBacklog(context, requireProject(ctx).projectId),
    querySeries: (request, ctx) => querySeries(context, requireProject(ctx).projectId, request),
    watchProject: (request, ctx) => watchProject(context, request, ctx),
  };
}
