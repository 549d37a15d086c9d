import {
  type Id,
  type IdPrefix,
  idOfUuid,
  isoTime,
  operationalToolkitSlug,
  type ProjectId,
  timeOfId,
  uuidOfId,
} from "@svc/core";
import type { Executor } from "../connect.ts";
import { timeOfColumn } from "../schema/columns.ts";
import { jobStatuses } from "../schema/words.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/**
 * When a project first used each part of svc, in epoch milliseconds. Undefined if it never did, or if svc has deleted the rows that show
 * it.
 */
type FirstUses = {
  readonly eventAt: number | undefined;
  readonly callAt: number | undefined;
  readonly jobAt: number | undefined;
  /** Time of the first call by an agent over MCP. This time is never deleted. */
  readonly agentCallAt: number | undefined;
};

/**
 * Maximum number of events, at each end of a project's stored events, among which `readFirstUses` looks for one that an app sent or the
 * project published. Test events, questions and operational events are in the same table.
 */
const eventsMax = 100;

/** Oldest event of a project at one end of the key of `events`. */
const endOf = (order: "asc" | "desc") => `(select id, kind, toolkit_slug from events
  where (project_id, id) > ($1::uuid, '${firstUuid}'::uuid) and (project_id, id) <= ($1::uuid, '${lastUuid}'::uuid)
  order by project_id ${order}, id ${order} limit ${eventsMax})`;

type FirstRow = { event: string | null; call: string | null; job: string | null; agent: string | null };

/**
 * Reads the oldest event, call and job of a project, and the mark of its first agent. Each part reads the start of an index: events_key,
 * tool_calls_project, jobs_status (one row for each status) and the key of `projects`.
 */
const selectFirstUses = statement<FirstRow>(
  "read_first_uses",
  `select
     (select min(e.id::text) from (${endOf("asc")} union all ${endOf("desc")}) e
       where e.kind = 'event' and e.toolkit_slug <> $3::text) as event,
     (select id from tool_calls where (project_id, id) > ($1::uuid, '${firstUuid}'::uuid) and (project_id, id) <= ($1::uuid, '${lastUuid}'::uuid)
       and failure is null order by project_id, id limit 1) as call,
     (select min(j.id::text) from unnest($2::text[]) as s(status) cross join lateral (
       select id from jobs where (project_id, status, id) > ($1::uuid, s.status, '${firstUuid}'::uuid) and (project_id, status) <= ($1::uuid, s.status)
         and mode = 'live' and parent_job_id is null order by project_id, status, id limit 1) j) as job,
     (select first_agent_call_at from projects where id = $1::uuid) as agent`,
);

/** Returns when a project first received an event, called a tool, ran a job and was called by an agent. */
export async function readFirstUses(db: Executor, projectId: ProjectId): Promise<FirstUses> {
  const parameters = [uuidOfId(projectId), arrayLiteral(jobStatuses), operationalToolkitSlug];
  const [row] = await selectFirstUses(db, parameters);
  const timeOf = <Prefix extends IdPrefix>(prefix: Prefix, uuid: string | null | undefined) =>
    uuid ? timeOfId(idOfUuid(prefix, uuid) as Id<IdPrefix>) : undefined;
  return {
    eventAt: timeOf("evt", row?.event),
    callAt: timeOf("call", row?.call),
    jobAt: timeOf("job", row?.job),
    agentCallAt: row?.agent ? timeOfColumn(row.agent) : undefined,
  };
}

/** Stores the time of a project's first call by an agent. Does nothing if a time is stored. */
const markAgentCall = statement(
  "mark_agent_call",
  "update projects set first_agent_call_at = $2::timestamptz where id = $1::uuid and first_agent_call_at is null",
);

/** Records that an agent called a project over MCP. Only the first call of a project is recorded. */
export async function noteAgentCall(db: Executor, projectId: ProjectId, nowMs: number): Promise<void> {
  await markAgentCall(db, [uuidOfId(projectId), isoTime(nowMs)]);
}
