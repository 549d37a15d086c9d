import { firstUuidAt, type Id, type IdPrefix, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Kinds of rows whose changes a client can follow in the stream of its project. */
export const watchedKinds = ["event", "delivery", "call", "job", "ask"] as const;
export type WatchedKind = (typeof watchedKinds)[number];

/** The current state of one row (for example a job) whose changes a client follows in the stream of its project. */
export type WatchedRow = {
  readonly kind: WatchedKind;
  readonly id: Id<IdPrefix>;
  /** State of the changed resource (a delivery, call, job or question); empty for events, which do not change. */
  readonly state: string;
  /**
   * Counter of changes that are not visible in `state`. It counts the attempts of a delivery or a job, or the hops (stages of the
   * escalation) of an ask (a question to a person).
   */
  readonly turn: number;
  /** True if this row (for example a delivery or a job) is in its last state and will not change any more. */
  readonly isFinal: boolean;
};

type ChangedRow = { kind: WatchedKind; id: string; state: string; turn: number; final: boolean };

const prefixes = { event: "evt", delivery: "dlv", call: "call", job: "job", ask: "ask" } as const satisfies Record<
  WatchedKind,
  IdPrefix
>;

const states: Readonly<
  Record<Exclude<WatchedKind, "event">, { table: string; state: string; turn: string; final: string }>
> = {
  delivery: { table: "deliveries", state: "r.state", turn: "r.attempts", final: "r.state <> 'pending'" },
  call: { table: "tool_calls", state: "r.outcome", turn: "0", final: "r.outcome <> 'running'" },
  job: { table: "jobs", state: "r.status", turn: "r.attempt", final: "r.finished_at is not null" },
  ask: { table: "job_asks", state: "r.state", turn: "r.hop_index", final: "r.state <> 'pending'" },
};

function listOf(kind: keyof typeof states): string {
  const { state, turn, final } = states[kind];
  return `'${kind}' as kind, r.id, ${state} as state, ${turn} as turn, ${final} as final`;
}

/**
 * Returns the query for a project's newest rows of a table. It scans the newest rows of all projects by the primary key, and keeps the rows
 * of the project.
 */
function newestOf(kind: keyof typeof states): string {
  const { table } = states[kind];
  return `select * from (select ${listOf(kind)} from (
      select * from ${table} where id >= $2::uuid order by id desc limit $4::int4) r
    where '${kind}' = any($3::text[]) and r.project_id = $1::uuid order by r.id desc limit $5::int4) ${kind}s`;
}

/**
 * Finds the newest events, deliveries, calls, jobs and questions of a project, for a stream of changes. Reads the rows by primary key,
 * newest first, down to the id `$2`.
 */
const selectNew = statement<ChangedRow>(
  "read_new_of_project",
  `select * from (select 'event' as kind, id, '' as state, 0 as turn, true as final from events
      where (project_id, id) >= ($1::uuid, $2::uuid) and (project_id, id) <= ($1::uuid, '${lastUuid}'::uuid)
        and kind = 'event' and 'event' = any($3::text[])
      order by project_id desc, id desc limit $5::int4) events
    union all ${newestOf("delivery")} union all ${newestOf("call")} union all ${newestOf("job")} union all ${newestOf("ask")}`,
);

/** Maximum rows of one kind that one read returns. If there are more, the newest are returned. */
const newRowsMax = 1_000;
/** Maximum rows that one read scans to find the new rows of one project. The scanned rows belong to all projects. */
const scannedRowsMax = 5_000;

/**
 * Returns the rows that were created in a project since the given time, in their current state: of each requested kind, the newest 1,000.
 */
export async function readNewOfProject(
  db: Executor,
  projectId: ProjectId,
  kinds: readonly WatchedKind[],
  sinceMs: number,
): Promise<WatchedRow[]> {
  const since = sinceMs <= 0 ? firstUuid : firstUuidAt(sinceMs);
  const place = [uuidOfId(projectId), since, arrayLiteral(kinds), scannedRowsMax, newRowsMax];
  return (await selectNew(db, place)).map(read);
}

function againOf(kind: keyof typeof states, parameter: string): string {
  return `select ${listOf(kind)} from unnest(${parameter}::uuid[]) as k(id)
    cross join lateral (select * from ${states[kind].table} where id = k.id offset 0) r`;
}

/**
 * Reads the current states of rows that were read before. The statement finds them by the primary keys of deliveries, calls, jobs and asks
 * (questions to people).
 */
const selectAgain = statement<ChangedRow>(
  "read_watched_again",
  `${againOf("delivery", "$1")} union all ${againOf("call", "$2")} union all ${againOf("job", "$3")} union all ${againOf("ask", "$4")}`,
);

/** Returns the current states of rows that the caller has read before, to find changes. Deleted rows are absent from the result. */
export async function readWatchedAgain(
  db: Executor,
  rows: readonly Pick<WatchedRow, "kind" | "id">[],
): Promise<WatchedRow[]> {
  const of = (kind: WatchedKind) => {
    const ids = rows.filter((row) => row.kind === kind).map(({ id }) => uuidOfId(id));
    return arrayLiteral(ids);
  };
  return (await selectAgain(db, [of("delivery"), of("call"), of("job"), of("ask")])).map(read);
}

/**
 * Finds a project's newest unfinished jobs by the index jobs_status, and its newest pending asks (questions to people) by job_asks_state.
 */
const selectOpen = statement<ChangedRow>(
  "read_open_of_project",
  `select ${listOf("job")} from (select j.id from unnest($2::text[]) as s(status) cross join lateral (
       select id from jobs where mode = 'live' and parent_job_id is null
         and (project_id, status, id) >= ($1::uuid, s.status, '${firstUuid}'::uuid)
         and (project_id, status, id) <= ($1::uuid, s.status, '${lastUuid}'::uuid)
       order by project_id desc, status desc, id desc limit $3::int4) j order by j.id desc limit $3::int4) k
     cross join lateral (select * from jobs where id = k.id offset 0) r
   union all
   select ${listOf("ask")} from (select id from job_asks
       where ((state || ' '), project_id, id) >= ('pending ', $1::uuid, '${firstUuid}'::uuid)
         and ((state || ' '), project_id, id) <= ('pending ', $1::uuid, '${lastUuid}'::uuid)
       order by (state || ' ') desc, project_id desc, id desc limit $3::int4) k
     cross join lateral (select * from job_asks where id = k.id offset 0) r`,
);

/** Returns the newest 500 unfinished jobs and the newest 500 unanswered questions of a project. */
export async function readOpenOfProject(
  db: Executor,
  projectId: ProjectId,
  statuses: readonly string[],
): Promise<WatchedRow[]> {
  return (await selectOpen(db, [uuidOfId(projectId), arrayLiteral(statuses), openMax])).map(read);
}

const openMax = 500;

const columns = selectList(events, namesBut(events), "e");

/** Reads whole events by their ids. Finds each event by the primary key of events. */
const selectEvents = statement<RawRow<Row<typeof events>>>(
  "read_watched_events",
  `select ${columns.text} from unnest($2::uuid[]) as k(id)
   cross join lateral (select * from events where project_id = $1::uuid and id = k.id offset 0) e`,
);

/** Returns the project's events with these ids, including their payloads. For clients that watch the project's events. */
export async function readWatchedEvents(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<IdPrefix>[],
): Promise<Row<typeof events>[]> {
  const uuids = ids.map((id) => uuidOfId(id));
  return (await selectEvents(db, [uuidOfId(projectId), arrayLiteral(uuids)])).map((row) => columns.read(row));
}

function read({ kind, id, state, turn, final }: ChangedRow): WatchedRow {
  return { kind, id: idOfUuid(prefixes[kind], id), state, turn, isFinal: final };
}
