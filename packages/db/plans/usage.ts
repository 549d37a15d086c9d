import { findQuotaReached, lockJobQuota } from "../src/projects/quotas.ts";
import { usageOfProject } from "../src/projects/usage.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);

// Quotas and usage of projects.
plan("read_quotas", (db) => findQuotaReached(db, { projectId, name: "jobs" }, async () => 0));
plan("lock_project_jobs", (db) => lockJobQuota(db, projectId));
plan("count_project_deliveries", (db) => usageOfProject(db, projectId).countDeliveries(1_000));
plan("count_project_jobs", (db) => usageOfProject(db, projectId).countJobs(1_000));
plan("count_project_subscriptions", (db) => usageOfProject(db, projectId).countSubscriptions());
plan("count_project_toolkits", (db) => usageOfProject(db, projectId).countToolkits());
// Runs on request, and for a quota every ten minutes. If a project has most of a table, the whole table is read.
plan("measure_project_storage", (db) => usageOfProject(db, projectId).measureStorage(), { statistics: ["fresh"] });
