import { findQuotaReached, lockJobQuota } from "../projects/quotas.ts";
import { usageOfProject } from "../projects/usage.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const projectId = seededId("prj", 1);

/** What projects may use, and what they do. */
export const usagePlans: readonly Plan[] = [
  {
    name: "read_quotas",
    run: (db) => findQuotaReached(db, { projectId, name: "jobs" }, async () => 0),
    reads: { project_policies: "project_policies_pkey(project_id)" },
  },
  { name: "lock_project_jobs", run: (db) => lockJobQuota(db, projectId), reads: {} },
  {
    name: "count_project_deliveries",
    run: (db) => usageOfProject(db, projectId).countDeliveries(1_000),
    reads: {
      subscriptions: "subscriptions_project(project_id)",
      delivery_tasks: "delivery_tasks_lane(epoch, subscription_id)",
      delivery_epoch: "delivery_epoch_pkey(id)",
    },
  },
  {
    name: "count_project_jobs",
    run: (db) => usageOfProject(db, projectId).countJobs(1_000),
    reads: { jobs: ["jobs_status(project_id, status)", "jobs_other_status(project_id, status)"] },
  },
  {
    name: "count_project_subscriptions",
    run: (db) => usageOfProject(db, projectId).countSubscriptions(),
    reads: { subscriptions: "subscriptions_project(project_id)" },
  },
  {
    name: "count_project_toolkits",
    run: (db) => usageOfProject(db, projectId).countToolkits(),
    reads: { private_toolkits: "private_toolkits_key(project_id)" },
  },
  {
    // Asked for by people, or every ten minutes where a quota is set; of a project that has most of a table, the whole is read.
    name: "measure_project_storage",
    statistics: ["fresh"],
    run: (db) => usageOfProject(db, projectId).measureStorage(),
    reads: {
      events: ["Seq Scan", "events_key(project_id)"],
      // Those that went wrong are few, of all projects together.
      tool_calls: [
        "Seq Scan",
        "tool_calls_project(project_id)",
        "tool_calls_failure(project_id)",
        "tool_calls_tool_failure(project_id)",
        "tool_calls_entity_failure(project_id)",
      ],
      jobs: ["Seq Scan", "jobs_status(project_id)", "jobs_other_status(project_id)"],
      job_rows: "job_rows_key(job_id)",
    },
  },
];
