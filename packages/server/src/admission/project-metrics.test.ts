import { createId, type QuotaName } from "@svc/core";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { refusalsOf } from "./figures.ts";
import { registerProjects } from "./project-metrics.ts";

test("refusals of calls and posts are counted together, by project and quota, even if a project is always refused", async () => {
  const registry = new Registry();
  const projectId = createId("prj", 1);
  const refusals = refusalsOf(
    { refusals: new Map<QuotaName, number>([["pendingDeliveries", 2]]) },
    {
      refusals: new Map<QuotaName, number>([
        ["pendingDeliveries", 3],
        ["posts", 4],
      ]),
    },
  );
  registerProjects([registry], () => [{ projectId, calls: 0, posts: 0, refusals }]);
  const lines = (await registry.metrics()).split("\n");
  expect(lines).toContain(`svc_project_refusals_total{project="${projectId}",quota="pendingDeliveries"} 5`);
  expect(lines).toContain(`svc_project_refusals_total{project="${projectId}",quota="posts"} 4`);
});
