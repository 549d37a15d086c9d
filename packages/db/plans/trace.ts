import {
  readAsksOfJobs,
  readCallsOfJobs,
  readChildJobIds,
  readEndpoints,
  readEventsOfRun,
  readLineage,
  readRunsOfEvent,
  readTracedJobs,
} from "../src/activity/trace.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const jobId = seededId("job", 1);
const jobs = Array.from({ length: 20 }, (_, index) => seededId("job", index + 1));
const event = { id: seededId("evt", 1), triggerSlug: "desk.trigger_1" };
const spans = jobs.map((id) => ({ id, sinceMs: seededAt(1), untilMs: seededAt(19_000) }));

// Recorded query plans of the statements of a trace: what an event, a run or a job caused, and what caused it.
plan("trace_runs_of_event", (db) => readRunsOfEvent(db, projectId, event));
plan("trace_endpoints", (db) => readEndpoints(db, projectId, [seededId("sub", 1), seededId("sub", 2)]));
plan("trace_events_of_run", (db) => readEventsOfRun(db, projectId, { runId: seededId("srn", 1), eventId: event.id }));
plan("trace_lineage", (db) => readLineage(db, projectId, jobId));
plan("trace_jobs", (db) => readTracedJobs(db, projectId, jobs));
plan("trace_child_jobs", (db) => readChildJobIds(db, projectId, jobs));
plan("trace_asks", (db) => readAsksOfJobs(db, projectId, jobs));
plan(["trace_calls", "trace_unscanned_jobs"], (db) => readCallsOfJobs(db, projectId, spans), {
  rowsMax: { tool_calls: 40_100 },
});
