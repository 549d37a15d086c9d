import {
  firstUuidAt,
  type Id,
  idOfUuid,
  type ProjectId,
  type StandingRunId,
  type SubscriptionId,
  uuidOfId,
} from "@svc/core";
import { type AskRecord, askColumns } from "../asks/repo.ts";
import { callColumns, type ToolCallSummary } from "../calls/list-page.ts";
import type { Executor } from "../connect.ts";
import type { Event } from "../events/repo.ts";
import { type ListedJob, type ListedRow, listedOf, selectListedJobs } from "../jobs/find-listed.ts";
import { events, subscriptions } from "../schema/index.ts";
import { callFailures, jobStatuses } from "../schema/words.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { endOf, filterBy, scanOf, scanOrder } from "../sql/filter.ts";
import { lastUuid, newestIn } from "../sql/newest-in.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { runColumns, type StandingRunRecord } from "../standing/runs.ts";

/**
 * Maximum number of effects of one kind that a trace reads for each cause: the 20 that it shows, and one more that proves that there are
 * others.
 */
export const tracedMax = 21;
/** Maximum number of schedules for which a trace searches the run that an event started. */
const listenersMax = 50;
/**
 * Maximum number of calls that a trace scans for all its jobs together. Successful calls get half of it; failed calls share the other half.
 */
const scannedMax = 20_000;
/** Maximum number of parent jobs above a job that a trace reads. */
export const tracedParentsMax = 8;

/**
 * Finds the runs that an event started: by the index standing_runs_source for each schedule that listens to the trigger, and by the primary
 * key of standing_run_events for runs that collect events. Returns at least one row, which is empty if there is no run.
 */
const selectRuns = statement<RawRow<StandingRunRecord> & { isPartial: boolean }>(
  "trace_runs_of_event",
  `with listeners as materialized (
     select program_id from standing_listeners where project_id = $1::uuid and trigger_slug = $2::text
     order by from_version desc limit ${listenersMax}),
   collected as materialized (select run_id from standing_run_events where event_id = $3::uuid limit ${listenersMax}),
   found as (
     select s.id from (select distinct program_id from listeners) p
     cross join lateral (
       select id from standing_runs where program_id = p.program_id and source_key = $4::text offset 0) s
     union select run_id from collected)
   select f."isPartial", ${runColumns.text} from (
     select greatest((select count(*) from listeners), (select count(*) from collected)) = ${listenersMax} as "isPartial") f
   left join (
     select r.* from found cross join lateral (select * from standing_runs where id = found.id offset 0) r
     where ${filterBy("r.project_id", "$1::uuid")} order by r.id desc limit ${tracedMax}) r on true
   order by r.id desc`,
);

/** Runs that an event started. `isPartial`: true if more schedules listen to the event than svc searched. */
type RunsOfEvent = { readonly runs: readonly StandingRunRecord[]; readonly isPartial: boolean };

/** Returns the runs of schedules that an event started, newest first, at most 21. */
export async function readRunsOfEvent(
  db: Executor,
  projectId: ProjectId,
  { id, triggerSlug }: Pick<Event, "id" | "triggerSlug">,
): Promise<RunsOfEvent> {
  const rows = await selectRuns(db, [uuidOfId(projectId), triggerSlug, uuidOfId(id), `e:${id}`]);
  const runs = rows.filter((row) => row.id !== null).map((row) => runColumns.read(row));
  return { runs, isPartial: rows[0]?.isPartial ?? false };
}

const endpointNames = [
  "id",
  "kind",
  "endpointUrl",
  "active",
  "inactiveReason",
  "failingSince",
  "pausedAt",
  "createdAt",
] as const;

/** The columns of a subscription that say where its endpoint is and if it accepts deliveries. */
export type TracedEndpoint = Readonly<Row<typeof subscriptions, (typeof endpointNames)[number]>>;

const endpointColumns = selectList(subscriptions, endpointNames, "s");

/** Finds subscriptions by their primary key. */
const selectEndpoints = statement<RawRow<TracedEndpoint>>(
  "trace_endpoints",
  `select ${endpointColumns.text} from unnest($1::uuid[]) as w(id) cross join lateral (
     select * from subscriptions where id = w.id offset 0) s where ${filterBy("s.project_id", "$2::uuid")}`,
);

/** Returns the endpoint data of subscriptions of a project. A subscription that does not exist is absent from the result. */
export async function readEndpoints(
  db: Executor,
  projectId: ProjectId,
  ids: readonly SubscriptionId[],
): Promise<TracedEndpoint[]> {
  if (ids.length === 0) return [];
  const rows = await selectEndpoints(db, [arrayLiteral([...new Set(ids)].map(uuidOfId)), uuidOfId(projectId)]);
  return rows.map((row) => endpointColumns.read(row));
}

const eventColumns = selectList(events, namesBut(events, "payload"), "e");

/** Finds the events that started a run: the event of its source, and the events that it collected. Reads each by its primary key. */
const selectEvents = statement<RawRow<Omit<Event, "payload">>>(
  "trace_events_of_run",
  `select ${eventColumns.text} from (
     select $3::uuid as id where $3::uuid is not null
     union (select event_id from standing_run_events where run_id = $2::uuid order by event_id desc limit ${tracedMax})) w
   cross join lateral (select * from events where project_id = $1::uuid and id = w.id offset 0) e
   order by e.id desc limit ${tracedMax}`,
);

/**
 * Returns the events that started a run of a schedule, newest first, at most 21, without their payloads. `eventId`: the event that is stored
 * in the run itself.
 */
export async function readEventsOfRun(
  db: Executor,
  projectId: ProjectId,
  { runId, eventId }: { readonly runId: StandingRunId; readonly eventId: Id<"evt"> | undefined },
): Promise<Omit<Event, "payload">[]> {
  const rows = await selectEvents(db, [uuidOfId(projectId), uuidOfId(runId), eventId ? uuidOfId(eventId) : null]);
  return rows.map((row) => eventColumns.read(row));
}

/** Finds the parent jobs of a job by the primary key of jobs, one after another. */
const selectLineage = statement<{ id: string }>(
  "trace_lineage",
  `with recursive lineage(id, parent_job_id, depth) as (
     select id, parent_job_id, 0 from jobs where id = $1::uuid and ${filterBy("project_id", "$2::uuid")}
     union all
     select p.id, p.parent_job_id, l.depth + 1 from lineage l
     cross join lateral (select id, parent_job_id from jobs where jobs.id = l.parent_job_id offset 0) p
     where l.depth < ${tracedParentsMax})
   select id from lineage order by depth`,
);

/** Returns the ids of a job and of its parent jobs, from the job up to the topmost parent. Empty if the project has no such job. */
export async function readLineage(db: Executor, projectId: ProjectId, id: Id<"job">): Promise<Id<"job">[]> {
  return (await selectLineage(db, [uuidOfId(id), uuidOfId(projectId)])).map((row) => idOfUuid("job", row.id));
}

/** Finds jobs by the primary key of jobs, with their programs. */
const selectJobs = statement<ListedRow>(
  "trace_jobs",
  `${selectListedJobs("unnest($1::uuid[]) as w(id) cross join lateral (select * from jobs where id = w.id offset 0) j")}
   where ${filterBy("j.project_id", "$2::uuid")}`,
);

/** Returns jobs of a project with their programs, in no particular order. A job that does not exist is absent. */
export async function readTracedJobs(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"job">[],
): Promise<ListedJob[]> {
  if (ids.length === 0) return [];
  return (await selectJobs(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)])).map(listedOf);
}

/** Finds the newest child jobs of each job by the index jobs_children, for each status. */
const selectChildren = statement<{ id: string }>(
  "trace_child_jobs",
  `select c.id from unnest($1::uuid[]) as w(id) cross join lateral (
     select f.id from unnest($5::text[]) as s(status) cross join lateral (${newestIn("jobs", {
       key: { status: "s.status", project_id: "$4::uuid", parent_job_id: "w.id" },
       condition: "parent_job_id is not null",
     })}) f order by f.id desc limit $3::int4) c order by c.id desc limit $3::int4`,
);

/** Returns the ids of the newest child jobs of these jobs, at most 21 together. */
export async function readChildJobIds(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"job">[],
): Promise<Id<"job">[]> {
  if (ids.length === 0) return [];
  const parents = arrayLiteral(ids.map(uuidOfId));
  const given = [parents, lastUuid, tracedMax, uuidOfId(projectId), arrayLiteral(jobStatuses)];
  return (await selectChildren(db, given)).map(({ id }) => idOfUuid("job", id));
}

/** Finds the newest asks (questions to people) of each job by the index job_asks_job. */
const selectAsks = statement<RawRow<AskRecord>>(
  "trace_asks",
  `select ${askColumns.text} from unnest($1::uuid[]) as w(id) cross join lateral (
     select * from job_asks where job_id = w.id order by job_id desc, id desc limit ${tracedMax}) a
   where ${filterBy("a.project_id", "$2::uuid")} order by a.id`,
);

/** Returns the newest asks (questions to people) of jobs, at most 21 of each job, in the order in which they were asked. */
export async function readAsksOfJobs(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"job">[],
): Promise<AskRecord[]> {
  if (ids.length === 0) return [];
  const rows = await selectAsks(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)]);
  return rows.map((row) => askColumns.read(row));
}

const bounds = { from: "j.first", before: "j.last" };
const ofProject = { project_id: "$4::uuid" };
const ofFailure = { failure: "f.failure", ...ofProject };
const well = { key: ofProject, condition: "failure is null", ...bounds, max: "$5::int4" };
const failed = { key: ofFailure, condition: "failure is not null", ...bounds, max: "$6::int4" };
const jobSpans = "unnest($1::uuid[], $2::uuid[], $3::uuid[]) as j(id, first, last)";
const failures = "unnest($7::text[]) as f(failure)";

/**
 * Finds the newest calls of each job: those that failed, and the others. tool_calls has no index by job, so the statement scans the
 * project's calls during the job, by the indexes tool_calls_project and tool_calls_failure.
 */
const selectCalls = statement<RawRow<ToolCallSummary>>(
  "trace_calls",
  `select ${callColumns.text} from ${jobSpans} cross join lateral (
     select x.id from (
       (select w.id from (${scanOf("tool_calls", "project_id, id, job_id", well)}) w where w.job_id = j.id
         order by ${scanOrder(ofProject)} limit ${tracedMax})
       union all
       (select e.id from ${failures} cross join lateral (
         select w.id from (${scanOf("tool_calls", "failure, project_id, id, job_id", failed)}) w where w.job_id = j.id
         order by ${scanOrder(ofFailure)} limit ${tracedMax}) e
         order by e.id desc limit ${tracedMax})) x) p
   cross join lateral (select * from tool_calls where id = p.id offset 0) c order by c.id`,
);

/** Finds the jobs for which `trace_calls` did not scan all calls. */
const selectUnscanned = statement<{ id: string }>(
  "trace_unscanned_jobs",
  `select j.id from ${jobSpans} where exists (select from (${endOf("tool_calls", well)}) e)
     or exists (select from ${failures} cross join lateral (${endOf("tool_calls", failed)}) e)`,
);

/** Time in which the calls of a job are searched, in epoch milliseconds. */
type JobSpan = { readonly id: Id<"job">; readonly sinceMs: number; readonly untilMs: number };

/** Calls of jobs. `unscanned`: the jobs of which more calls may exist, because the search ended at its limit. */
type CallsOfJobs = { readonly calls: readonly ToolCallSummary[]; readonly unscanned: ReadonlySet<Id<"job">> };

/**
 * Returns the newest calls of jobs in the order in which they began: at most 21 failed calls and 21 other calls of each job. Reads at most
 * 20,000 calls.
 */
export async function readCallsOfJobs(
  db: Executor,
  projectId: ProjectId,
  spans: readonly JobSpan[],
): Promise<CallsOfJobs> {
  if (spans.length === 0) return { calls: [], unscanned: new Set() };
  const each = Math.floor(scannedMax / 2 / spans.length);
  const given = [
    arrayLiteral(spans.map(({ id }) => uuidOfId(id))),
    arrayLiteral(spans.map(({ sinceMs }) => firstUuidAt(sinceMs))),
    arrayLiteral(spans.map(({ untilMs }) => firstUuidAt(untilMs))),
    ...[uuidOfId(projectId), each, Math.max(1, Math.floor(each / callFailures.length)), arrayLiteral(callFailures)],
  ];
  const [rows, ends] = await Promise.all([selectCalls(db, given), selectUnscanned(db, given)]);
  const unscanned = new Set(ends.map(({ id }) => idOfUuid("job", id)));
  return { calls: rows.map((row) => callColumns.read(row)), unscanned };
}
