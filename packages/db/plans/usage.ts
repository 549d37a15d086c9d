import { findQuotaReached, lockJobQuota } from "../src/projects/quotas.ts";
import { usageOfProject } from "../src/projects/usage.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);

// Recorded query plans of statements on quotas and usage of projects.
plan("read_quotas", (db) => findQuotaReached(db, { projectId, name: "jobs" }, async () => 0));
plan("lock_project_jobs", (db) => lockJobQuota(db, projectId));
plan("count_project_deliveries", (db) => usageOfProject(db, projectId).countDeliveries(1_000));
plan("count_project_jobs", (db) => usageOfProject(db, projectId).countJobs(1_000));
plan("count_project_subscriptions", (db) => usageOfProject(db, projectId).countSubscriptions());
plan("count_project_entity_subscriptions", (db) => usageOfProject(db, projectId).countEntitySubscriptions());
plan("measure_project_toolkits", (db) => usageOfProject(db, projectId).measureToolkits({ definition: "desk_5" }));
plan("count_project_toolkits", (db) => usageOfProject(db, projectId).countToolkits());
// Measures the storage of a project, on request, and every ten minutes if the project has a quota. If a project owns most of a table, the
// query reads the whole table.
plan("measure_project_storage", (db) => usageOfProject(db, projectId).measureStorage(), { statistics: ["fresh"] });
