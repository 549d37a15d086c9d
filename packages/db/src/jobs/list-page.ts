import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import type { JobStatus } from "../schema/words.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";
import { type ListedJob, type ListedRow, listedOf, selectListedJobs } from "./find-listed.ts";

/** Kinds of jobs that nobody else runs: what was submitted to be run, what to be simulated, and simulations made for a job. */
export type ListedKind = "live" | "simulation" | "twin";

/** Which page of a project's jobs. */
export type JobPage = {
  readonly kinds: readonly ListedKind[];
  readonly statuses: readonly JobStatus[];
  /** From this UUID on, and below that one. */
  readonly fromUuid: string;
  readonly beforeUuid: string;
  readonly limit: number;
};

/** The newest of one kind in each of some statuses. Rows are compared as the index orders them: nothing else fits. */
function newestOf(condition: string, statuses: string): string {
  return `select j.id from unnest(${statuses}::text[]) as s(status) cross join lateral (
    select id from jobs
    where ${condition} and (project_id, status, id) >= ($1::uuid, s.status, $7::uuid)
      and (project_id, status, id) < ($1::uuid, s.status, $2::uuid)
    order by project_id desc, status desc, id desc limit $3::int4) j`;
}

/**
 * A backward scan of an index for each status of each kind, none longer than the page, and their merge: an index of a project's jobs in
 * their order would cost each job two entries more, one at its beginning and one at its end. By jobs_status, jobs_simulations and
 * jobs_twins; the page itself by primary keys.
 */
const selectPage = statement<ListedRow>(
  "list_jobs",
  `with found as (
    ${newestOf("mode = 'live' and parent_job_id is null", "$4")}
    union all ${newestOf("mode = 'simulate' and parent_job_id is null and simulated_from is null", "$5")}
    union all ${newestOf("simulated_from is not null", "$6")}
  ), page as materialized (
    select id from found order by id desc limit $3::int4
  )
  ${selectListedJobs("page cross join lateral (select * from jobs where id = page.id offset 0) j")}
  order by page.id desc`,
);

/** Jobs of one project, newest first. */
export async function listJobPage(
  db: Executor,
  projectId: ProjectId,
  { kinds, statuses, fromUuid, beforeUuid, limit }: JobPage,
): Promise<ListedJob[]> {
  const of = (kind: ListedKind) => arrayLiteral(kinds.includes(kind) ? statuses : []);
  const lists = [of("live"), of("simulation"), of("twin")];
  const rows = await selectPage(db, [uuidOfId(projectId), beforeUuid, limit, ...lists, fromUuid]);
  return rows.map(listedOf);
}
