import { type ProjectId, type QuotaName, quotaNames } from "@svc/core";
import type { PostLoad, PostQuotas } from "@svc/node";
import type { Admission, ProjectLoad } from "./admission.ts";
import type { ProjectFigures } from "./project-metrics.ts";

/** Yields each project's activity on this node since its start: calls, and received webhook posts. */
export function* figuresOfProjects(
  admission: Pick<Admission, "loads" | "loadOf">,
  posts: Pick<PostQuotas, "loads" | "loadOf">,
): Iterable<ProjectFigures> {
  const ids = new Set<ProjectId>();
  for (const { projectId } of admission.loads()) ids.add(projectId);
  for (const { projectId } of posts.loads()) ids.add(projectId);
  for (const projectId of ids) {
    const load = admission.loadOf(projectId);
    const received = posts.loadOf(projectId);
    yield {
      projectId,
      calls: load?.callsTotal ?? 0,
      posts: received?.postsTotal ?? 0,
      refusals: refusalsOf(load, received),
    };
  }
}

/**
 * Returns how many requests of a project were refused on this node, by the quota that was reached. Each number is the sum of refused API
 * calls and refused webhook posts.
 */
export function refusalsOf(
  calls: Pick<ProjectLoad, "refusals"> | undefined,
  posts: Pick<PostLoad, "refusals"> | undefined,
): ReadonlyMap<QuotaName, number> {
  return new Map(quotaNames.map((name) => [name, (calls?.refusals.get(name) ?? 0) + (posts?.refusals.get(name) ?? 0)]));
}
