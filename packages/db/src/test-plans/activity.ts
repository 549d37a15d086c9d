import {
  countFailingEndpoints,
  countJobsByStatus,
  countWaitingForPeople,
  readPendingBacklog,
} from "../activity/backlog.ts";
import {
  readNewOfProject,
  readOpenOfProject,
  readWatchedAgain,
  readWatchedEvents,
  watchedKinds,
} from "../activity/changes.ts";
import { queryActivity } from "../activity/query.ts";
import { sweepActivity } from "../activity/sweep.ts";
import { addActivityHours, addActivityMinutes } from "../activity/write.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const query = { series: ["calls", "jobs"], subject: "", sinceMs: seededAt(1), untilMs: seededAt(500), stepMs: 60_000 };
const counts = Array.from({ length: 500 }, (_, n) => {
  return { projectId, series: "calls", subject: `desk.tool_${n}`, at: seededAt(1), outcome: "ok", count: 1 };
});
const watched = [
  { kind: "delivery", id: seededId("dlv", 1) },
  { kind: "call", id: seededId("call", 1) },
  { kind: "job", id: seededId("job", 1) },
  { kind: "ask", id: seededId("ask", 1) },
] as const;

/** Counters over time, what waits, and what is new. */
export const activityPlans: readonly Plan[] = [
  { name: "add_activity_minutes", run: (db) => addActivityMinutes(db, counts), reads: {} },
  { name: "add_activity_hours", run: (db) => addActivityHours(db, counts), reads: {} },
  {
    name: "query_activity_minutes",
    run: (db) => queryActivity(db, projectId, "minutes", query),
    reads: { activity_minutes: "activity_minutes_key(project_id, series, subject, at)" },
  },
  {
    name: "query_activity_hours",
    run: (db) => queryActivity(db, projectId, "hours", query),
    reads: { activity_hours: "activity_hours_key(project_id, series, subject, at)" },
  },
  ...(["minutes", "hours"] as const).map((of): Plan => {
    const table = `activity_${of}`;
    return {
      name: `sweep_${table}`,
      run: (db) => sweepActivity(db, of, seededAt(100), 50),
      reads: { [table]: [`${table}_at(at)`, `${table}_key(project_id, series, subject, at, outcome)`] },
    };
  }),
  {
    name: "read_pending_backlog",
    run: (db) => readPendingBacklog(db, projectId, nowMs),
    reads: {
      delivery_epoch: "delivery_epoch_pkey(id)",
      subscriptions: "subscriptions_project(project_id)",
      delivery_tasks: "delivery_tasks_lane(epoch, subscription_id)",
    },
    rowsMax: { delivery_tasks: 10_000 },
  },
  {
    name: "count_failing_endpoints",
    run: (db) => countFailingEndpoints(db, projectId),
    reads: { subscriptions: "subscriptions_project(project_id)" },
  },
  {
    name: "count_jobs_by_status",
    run: (db) => countJobsByStatus(db, projectId),
    reads: { jobs: ["jobs_status(project_id, status, id)", "jobs_simulations(project_id, status, id)"] },
  },
  {
    name: "count_waiting_for_people",
    run: (db) => countWaitingForPeople(db, projectId, nowMs),
    reads: {
      job_asks: "job_asks_state((state || ' '::text), project_id, id)",
      connected_accounts: [
        "connected_accounts_state((state || ' '::text), project_id, id)",
        "connected_accounts_run_out(project_id, expires_at)",
      ],
    },
  },
  {
    name: "read_new_of_project",
    run: (db) => readNewOfProject(db, projectId, watchedKinds, seededAt(19_000)),
    reads: {
      events: "events_key(project_id, id)",
      deliveries: "deliveries_pkey(id)",
      tool_calls: "tool_calls_pkey(id)",
      jobs: "jobs_pkey(id)",
      job_asks: "job_asks_pkey(id)",
    },
    rowsMax: { deliveries: 5_000, tool_calls: 5_000, jobs: 5_000, job_asks: 5_000, events: 1_000 },
  },
  {
    name: "read_watched_again",
    run: (db) => readWatchedAgain(db, watched),
    reads: {
      deliveries: "deliveries_pkey(id)",
      tool_calls: "tool_calls_pkey(id)",
      jobs: "jobs_pkey(id)",
      job_asks: "job_asks_pkey(id)",
    },
  },
  {
    name: "read_open_of_project",
    run: (db) => readOpenOfProject(db, projectId, ["queued", "running", "parked"]),
    reads: {
      jobs: ["jobs_status(project_id, status, id)", "jobs_pkey(id)"],
      job_asks: ["job_asks_state((state || ' '::text), project_id, id)", "job_asks_pkey(id)"],
    },
  },
  {
    name: "read_watched_events",
    run: (db) => readWatchedEvents(db, projectId, [seededId("evt", 1)]),
    reads: { events: "events_key(project_id, id)" },
  },
];
