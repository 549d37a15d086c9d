import { idOfUuid, isoTime, type ProjectId, uuidOfId } from "@svc/core";
import { deploymentProject } from "../audit/list.ts";
import type { Executor } from "../connect.ts";
import { firstUuid } from "../sql/newest-in.ts";
import { statement } from "../sql/statement.ts";

/**
 * A project's chain of audit entries of which a stream to an external system has not sent all. `after`: position of the last sent entry.
 * `length`: position of the chain's last entry.
 */
export type UnsentChain = { readonly projectId: ProjectId; readonly after: number; readonly length: number };

/** Finds the chains that are longer than their position in a stream, of the project $2 and those after it in the order of their ids. */
const selectUnsent = statement<{ id: string; after: number; length: number }>(
  "find_unsent_audit_chains",
  `select c.project_id as id, coalesce(p.position, 0)::float8 as after, c.length
   from audit_chains c left join export_positions p on p.stream = $1::text and p.project_id = c.project_id
   where c.length > coalesce(p.position, 0) and c.project_id >= $2::uuid order by c.project_id limit $3::int4`,
);

/** Maximum number of chains that one search returns. */
const chainsMax = 1_000;

/**
 * Returns at most 1,000 audit chains (one per project) with entries that the stream has not sent. They are sorted by project, from the
 * project after `after` around to `after` itself, so that each project gets its turn.
 */
export async function findUnsentChains(
  db: Executor,
  stream: string,
  after: ProjectId = deploymentProject,
): Promise<UnsentChain[]> {
  const from = uuidOfId(after);
  const found = await selectUnsent(db, [stream, from, chainsMax]);
  const last = found.filter(({ id }) => id === from);
  const next = found.filter(({ id }) => id !== from);
  const room = chainsMax - found.length;
  const first = after === deploymentProject || room <= 0 ? [] : await selectUnsent(db, [stream, firstUuid, room]);
  const all = [...next, ...first.filter(({ id }) => id < from), ...last];
  return all.map(({ id, ...chain }) => ({ projectId: idOfUuid("prj", id), ...chain }));
}

const putPosition = statement<{ one: number }>(
  "put_export_position",
  `insert into export_positions as p (stream, project_id, position) values ($1::text, $2::uuid, $3::int8)
   on conflict (stream, project_id) do update set position = greatest(p.position, excluded.position) returning 1 as one`,
);

/** Stores the position up to which a stream has sent all entries. A lower position than the stored one is ignored. */
export async function putExportPosition(
  db: Executor,
  stream: string,
  { projectId = deploymentProject, position }: { readonly projectId?: ProjectId; readonly position: number },
): Promise<void> {
  await putPosition(db, [stream, uuidOfId(projectId), position]);
}

const selectPosition = statement<{ position: number }>(
  "find_export_position",
  "select position::float8 as position from export_positions where stream = $1::text and project_id = $2::uuid",
);

/**
 * Returns the position up to which a stream has sent, for a stream with one position for all projects. Undefined if nothing was sent yet.
 */
export async function findExportPosition(db: Executor, stream: string): Promise<number | undefined> {
  const [row] = await selectPosition(db, [stream, uuidOfId(deploymentProject)]);
  return row?.position;
}

/** Number of a project's activities (such as calls) in one hour that belong to one series and had one outcome. */
export type HourlyUsage = {
  readonly projectId: ProjectId;
  readonly series: string;
  readonly outcome: string;
  readonly count: number;
};

/** Reads the counts of one hour by the index activity_hours_at, without latencies and without counts of single subscriptions and tools. */
const selectUsage = statement<{ id: string; series: string; outcome: string; count: number }>(
  "read_hourly_usage",
  `select project_id as id, series, outcome, count::float8 as count from activity_hours
   where at = $1::timestamptz and subject = '' and series <> all('{delivery_latency,call_latency}') order by project_id, series, outcome`,
);

/** Returns the activity of all projects in the hour that begins at `atMs`, ordered by project. */
export async function readHourlyUsage(db: Executor, atMs: number): Promise<HourlyUsage[]> {
  const found = await selectUsage(db, [isoTime(atMs)]);
  return found.map(({ id, ...row }) => ({ projectId: idOfUuid("prj", id), ...row }));
}
