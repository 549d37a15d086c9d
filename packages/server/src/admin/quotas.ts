import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type ProjectId,
  type QuotaName,
  type Quotas,
  quotaNames,
  quotaOf,
  quotas,
  requireId,
  unlimited,
} from "@svc/core";
import { findProject } from "@svc/db/projects/repo";
import { usageOfProject } from "@svc/db/projects/usage";
import {
  type AdminService,
  type ProjectQuotas,
  ProjectQuotasSchema,
  type QuotaUsage,
  QuotaUsageSchema,
} from "@svc/gen/admin";
import { refusalsOf } from "../admission/figures.ts";
import type { AdminContext } from "./context.ts";
import { adminFaults } from "./errors.ts";

/** Returns the method of AdminService for a project's usage. */
export function usageMethods(context: AdminContext): Pick<ServiceImpl<typeof AdminService>, "getProjectUsage"> {
  const { db, nodeId } = context;
  return {
    async getProjectUsage(request) {
      const id = requireId("prj", "projectId", request.projectId);
      const project = await findProject(db, id);
      if (project === undefined) throw adminFaults.PROJECT_NOT_FOUND(id);
      const used = await usedOf(context, id);
      const { calls, posts } = loadsOf(context, id);
      const refusals = refusalsOf(calls, posts);
      return {
        quotas: quotaNames.map((name) => quotaUsage(name, project.quotas, used[name], refusals.get(name) ?? 0)),
        calls: calls?.callsTotal ?? 0,
        posts: posts?.postsTotal ?? 0,
        postsBeyond: posts?.postsBeyond ?? 0,
        nodeId,
      };
    },
  };
}

function loadsOf({ admission, posts }: AdminContext, id: ProjectId) {
  return { calls: admission.loadOf(id), posts: posts.loadOf(id) };
}

/** Number that is returned for the usage of a quota if the usage is not known. */
const unknown = -1;

/** Returns the usage of each quota. Usage that can only be found by counting is counted now. */
async function usedOf(context: AdminContext, id: ProjectId): Promise<Readonly<Record<QuotaName, number>>> {
  const nowMs = context.clock.now();
  const { calls, posts } = loadsOf(context, id);
  const usage = usageOfProject(context.db, id);
  const [
    subscriptions,
    entitySubscriptions,
    pendingDeliveries,
    jobs,
    privateToolkits,
    privateToolkitBytes,
    storedBytes,
  ] = await Promise.all([
    usage.countSubscriptions(),
    usage.countEntitySubscriptions(),
    usage.countDeliveries(),
    usage.countJobs(),
    usage.countToolkits(),
    usage.measureToolkits(),
    // If a project has very much data, counting takes longer than a statement may run. The number is then unknown.
    usage.measureStorage().catch(() => unknown),
  ]);
  return {
    calls: calls?.calls.used(nowMs) ?? 0,
    concurrentCalls: calls?.concurrentCalls ?? 0,
    posts: posts?.posts.used(nowMs) ?? 0,
    openStreams: calls?.openStreams ?? 0,
    ...{
      subscriptions,
      entitySubscriptions,
      pendingDeliveries,
      jobs,
      privateToolkits,
      privateToolkitBytes,
      storedBytes,
    },
  };
}

function quotaUsage(name: QuotaName, set: Quotas, used: number, refused: number): QuotaUsage {
  const most = quotaOf(set, name);
  return create(QuotaUsageSchema, {
    name,
    used,
    most: most === Number.POSITIVE_INFINITY ? unlimited : most,
    isDefault: set[name] === undefined,
    scope: quotas[name].scope,
    refused,
  });
}

/**
 * Returns the quotas that a request sets. A quota of 0 is left out, because 0 means not set. Returns undefined if the request contains no
 * quotas, so that the project's quotas stay unchanged. Throws QUOTA_INVALID.
 */
export function readQuotas(sent: ProjectQuotas | undefined): Quotas | undefined {
  if (sent === undefined) return undefined;
  const set: { -readonly [Name in keyof Quotas]: Quotas[Name] } = {};
  for (const name of quotaNames) {
    const value = sent[name];
    if (!Number.isSafeInteger(value) || value < unlimited) throw adminFaults.QUOTA_INVALID(name, value);
    if (value !== 0) set[name] = value;
  }
  return set;
}

/** Returns the quotas of a project as the API message that the administrator gets. A quota of 0 means that it is not set. */
export function quotasMessage(set: Quotas): ProjectQuotas {
  return create(ProjectQuotasSchema, { ...set });
}
