import { type ProjectId, type QuotaName, quotaNames } from "@svc/core";
import { Counter } from "prom-client";
import type { Registers } from "../metrics/exemplars.ts";
import { type Figures, TopProjects } from "./top-projects.ts";

/** Numbers of a project's calls, webhook posts and refusals on this node since the node started. They never decrease. */
export type ProjectFigures = {
  readonly projectId: ProjectId;
  readonly calls: number;
  readonly posts: number;
  readonly refusals: ReadonlyMap<QuotaName, number>;
};

/** Registers the project metrics. Each scrape shows the most active projects by name; all other projects together are `other`. */
export function registerProjects(registers: Registers, projects: () => Iterable<ProjectFigures>): void {
  const top = new TopProjects();
  const calls: Counter<"project"> = new Counter({
    name: "svc_project_calls_total",
    help: "Calls of projects, by name: the twenty busiest.",
    labelNames: ["project"],
    registers,
    // All three metrics use the same count for one scrape. A registry collects its metrics in the order of their creation, so the count is
    // made for the metric that was created first.
    collect: () => {
      const before = top.named;
      const named = top.look(figuresOf(projects()));
      for (const id of before) if (!top.named.has(id)) forget(id);
      for (const [project, [, callCount = 0, postCount = 0, ...refused]] of named) {
        calls.inc({ project }, callCount);
        posts.inc({ project }, postCount);
        for (const [index, quota] of quotaNames.entries()) {
          const count = refused[index] ?? 0;
          if (count > 0) refusals.inc({ project, quota }, count);
        }
      }
    },
  });
  const posts = new Counter({
    name: "svc_project_posts_total",
    help: "Posts that projects received, by name: the twenty busiest.",
    labelNames: ["project"],
    registers,
  });
  const refusals = new Counter({
    name: "svc_project_refusals_total",
    help: "Refusals by a quota of a project, by name: the twenty busiest.",
    labelNames: ["project", "quota"],
    registers,
  });
  const forget = (project: ProjectId) => {
    calls.remove({ project });
    posts.remove({ project });
    for (const quota of quotaNames) refusals.remove({ project, quota });
  };
}

function* figuresOf(projects: Iterable<ProjectFigures>): Iterable<readonly [ProjectId, Figures]> {
  for (const { projectId, calls, posts, refusals } of projects) {
    const refused = quotaNames.map((name) => refusals.get(name) ?? 0);
    // Refusals count as activity, so that a project whose requests are all refused is shown by name too.
    const use = refused.reduce((sum, count) => sum + count, calls + posts);
    yield [projectId, [use, calls, posts, ...refused]];
  }
}
