import { durationMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type CatalogView, type CatalogViews, nearest } from "@svc/catalog";
import { type Clock, callLimitBounds, field, formatDuration, requireProject, text } from "@svc/core";
import { type CallLimitRow, callLimitsForProject } from "@svc/db/call-limits/repo";
import type { Database } from "@svc/db/connect";
import type { CallLimit, CallRate, ToolsService } from "@svc/gen/tools";
import { toCallLimit } from "../convert.ts";
import { toolFaults } from "../errors.ts";
import type { CallLimits } from "../limits/call-limits.ts";
import { compileKeyExpression } from "../limits/key-expression.ts";

const { concurrencyMax, rateMax } = callLimitBounds;
const perMs = { min: 1_000, max: 86_400_000 };

/**
 * Returns the database row of a limit in a request of PutCallLimit, or throws its first fault. `view`: the project's view of the catalog.
 */
function readCallLimit(view: CatalogView, given: CallLimit | undefined, nowMs: number): CallLimitRow {
  const { name = "", toolkitSlug = "", keyExpression = "", concurrency = 0, rate, paused = false } = given ?? {};
  if (!/^[a-z][a-z0-9_-]{0,59}$/.test(name)) throw toolFaults.CALL_LIMIT_NAME_INVALID(name);
  if (toolkitSlug !== "" && !view.toolkits.has(toolkitSlug)) {
    throw toolFaults.CALL_LIMIT_TOOLKIT_NOT_FOUND(toolkitSlug, nearest(toolkitSlug, view.toolkits.keys()));
  }
  const compiled = compileKeyExpression(keyExpression);
  if ("fault" in compiled) throw toolFaults.KEY_EXPRESSION_INVALID(compiled.fault);
  if (concurrency < 0 || concurrency > concurrencyMax)
    throw toolFaults.CALL_LIMIT_BOUND_INVALID("concurrency", `is ${concurrency}`);
  if (concurrency === 0 && rate === undefined && !paused) {
    throw toolFaults.CALL_LIMIT_BOUND_INVALID(
      "concurrency",
      text`and ${field("limit.rate")} are missing, and the limit is not paused`,
    );
  }
  const bounds = rate === undefined ? { rateMax: 0, ratePerMs: 0 } : readRate(rate);
  const times = { createdAt: nowMs, updatedAt: nowMs };
  return { name, toolkitSlug, keyExpression, concurrency, ...bounds, isPaused: paused, ...times };
}

function readRate({ max, per }: CallRate): Pick<CallLimitRow, "rateMax" | "ratePerMs"> {
  if (max < 1 || max > rateMax) throw toolFaults.CALL_LIMIT_BOUND_INVALID("rate.max", `is ${max}`);
  if (per === undefined) throw toolFaults.CALL_LIMIT_BOUND_INVALID("rate.per", "is missing");
  const ratePerMs = Math.round(durationMs(per));
  if (ratePerMs < perMs.min || ratePerMs > perMs.max) {
    throw toolFaults.CALL_LIMIT_BOUND_INVALID(
      "rate.per",
      `is ${ratePerMs < 0 ? "negative" : formatDuration(ratePerMs)}`,
    );
  }
  return { rateMax: max, ratePerMs };
}

/** Dependencies of the methods for call limits. */
export type CallLimitsContext = {
  readonly views: CatalogViews;
  /** This node's cache of call limits. Methods that change a limit call `forget`, so that this node applies the change at once. */
  readonly limits: Pick<CallLimits, "forget">;
  readonly clock: Clock;
  readonly db: Database;
};

/** Maximum number of call limits that a project may have. */
const limitsMax = 100;

/** Returns the methods of ToolsService for call limits. */
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
      // The database cannot store a name with U+0000, so no limit has such a name.
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
