import {
  countFailingEndpoints,
  countJobsByStatus,
  countWaitingForPeople,
  readPendingBacklog,
} from "../src/activity/backlog.ts";
import {
  readNewOfProject,
  readOpenOfProject,
  readWatchedAgain,
  readWatchedEvents,
  watchedKinds,
} from "../src/activity/changes.ts";
import { addFailureGroups, listFailureGroups, sweepFailureGroups } from "../src/activity/failures.ts";
import { readDeploymentHealth } from "../src/activity/health.ts";
import { queryActivity } from "../src/activity/query.ts";
import { noteAgentCall, readFirstUses } from "../src/activity/start.ts";
import { addActivityHours, addActivityMinutes, sweepActivity } from "../src/activity/write.ts";
import { takeSweepTurn } from "../src/sweep-turns/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const query = { series: ["calls", "jobs"], subject: "", sinceMs: seededAt(1), untilMs: seededAt(500), stepMs: 60_000 };
const counts = Array.from({ length: 500 }, (_, n) => {
  return { projectId, series: "calls", subject: `desk.tool_${n}`, at: seededAt(1), outcome: "ok", count: 1 };
});
const failures = Array.from({ length: 500 }, (_, n) => {
  const times = { firstAt: seededAt(1), lastAt: seededAt(2), hours: Array.from({ length: 24 }, () => 1) };
  const base = { fingerprint: `f${n}`, kind: "call", newestId: seededId("call", n), title: Buffer.from("t") } as const;
  return { ...base, ...times, remedies: ["retry_call"] as const };
});
const watched = [
  { kind: "delivery", id: seededId("dlv", 1) },
  { kind: "call", id: seededId("call", 1) },
  { kind: "job", id: seededId("job", 1) },
  { kind: "ask", id: seededId("ask", 1) },
] as const;

// Recorded query plans of statements on activity counters, pending work and new rows.
plan("add_activity_minutes", (db) => addActivityMinutes(db, counts));
plan("add_activity_hours", (db) => addActivityHours(db, counts));
plan("query_activity_minutes", (db) => queryActivity(db, projectId, "minutes", query));
plan("query_activity_hours", (db) => queryActivity(db, projectId, "hours", query));
plan("sweep_activity_minutes", (db) => sweepActivity(db, "minutes", seededAt(100), 50));
plan("sweep_activity_hours", (db) => sweepActivity(db, "hours", seededAt(100), 50));
plan("add_failure_groups", (db) => addFailureGroups(db, { projectId, dayMs: seededAt(1) }, failures));
plan("list_failure_groups", (db) => listFailureGroups(db, projectId, { sinceMs: seededAt(1), untilMs: seededAt(500) }));
plan("sweep_failure_groups", (db) => sweepFailureGroups(db, seededAt(100), 50));
plan("read_pending_backlog", (db) => readPendingBacklog(db, projectId, nowMs), {
  rowsMax: { delivery_tasks: 10_000 },
});
plan("take_sweep_turn", async (db) => {
  for (const everyMs of [0, 1]) await takeSweepTurn(db, "warnings", { nowMs, everyMs });
});
plan("count_failing_endpoints", (db) => countFailingEndpoints(db, projectId));
plan("read_deployment_health", (db) => readDeploymentHealth(db, nowMs));
plan("count_jobs_by_status", (db) => countJobsByStatus(db, projectId));
plan("count_waiting_for_people", (db) => countWaitingForPeople(db, projectId, nowMs));
plan("read_new_of_project", (db) => readNewOfProject(db, projectId, watchedKinds, seededAt(19_000)), {
  rowsMax: { deliveries: 5_000, tool_calls: 5_000, jobs: 5_000, job_asks: 5_000, events: 1_000 },
});
plan("read_first_uses", (db) => readFirstUses(db, projectId), { rowsMax: { events: 200 } });
plan("mark_agent_call", (db) => noteAgentCall(db, projectId, nowMs));
plan("read_watched_again", (db) => readWatchedAgain(db, watched));
plan("read_open_of_project", (db) => readOpenOfProject(db, projectId, ["queued", "running", "parked"]));
plan("read_watched_events", (db) => readWatchedEvents(db, projectId, [seededId("evt", 1)]));
