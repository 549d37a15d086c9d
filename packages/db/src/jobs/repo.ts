import { type Id, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type JobMode, type JobStatus, jobModes, jobStatuses } from "../schema/words.ts";
import { filterBy } from "../sql/filter.ts";
import { idBounds, newestIn } from "../sql/newest-in.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { type ListedJob, type ListedRow, listedOf, selectListedJobs } from "./find-listed.ts";
import type { JobFilter } from "./list-filter.ts";
import { type StepRow, stepColumns, stepOfRow } from "./load.ts";
import { readJobLog } from "./log.ts";
import type { JobEventRecord, JobStepRecord } from "./record.ts";

/** Position and size of a page of jobs: at most `limit` jobs, beginning after the id `after`. */
type JobPosition = { after: Id<"job"> | undefined; limit: number };

const statuses = "unnest($4::text[]) as s(status)";
const from = "$5::uuid";
const modes = "unnest($6::text[]) as m(mode)";
/**
 * SQL condition for lists of jobs. It leaves out the simulation run that svc made before a job because of the option `simulateFirst`. If
 * `$7` is true, as in lists of simulations, it leaves out nothing.
 */
const notSimulationRun = "($7::bool or simulated_from is null)";
const ofSkill = "($8::text = '' or skill_slug = $8::text)";

/** Returns the SQL query for a page of jobs with their programs. `found`: a subquery that selects the ids of the jobs. */
function pageText(found: string): string {
  return `with found as (${found}), page as materialized (select id from found order by id desc limit $3::int4)
    ${selectListedJobs("page cross join lateral (select * from jobs where id = page.id offset 0) j")} order by page.id desc`;
}

/** Lists the jobs of a schedule by the index jobs_standing, for each requested mode and status. */
const selectOfProgram = statement<ListedRow>(
  "list_jobs_of_standing_program",
  pageText(
    `select f.id from ${statuses} cross join ${modes} cross join lateral (${newestIn("jobs", {
      key: { project_id: "$1::uuid", standing_program_id: "$9::text", mode: "m.mode", status: "s.status" },
      condition: "standing_program_id <> ''",
      from,
      filter: `parent_job_id is null and ${notSimulationRun} and ${ofSkill}`,
    })}) f`,
  ),
);

/** Reads jobs of a skill by the index jobs_skill, for each requested mode and status. Child jobs are included. */
const selectOfSkill = statement<ListedRow>(
  "list_jobs_of_skill",
  pageText(
    `select f.id from ${statuses} cross join ${modes} cross join lateral (${newestIn("jobs", {
      key: { project_id: "$1::uuid", skill_slug: "$8::text", mode: "m.mode", status: "s.status" },
      condition: "skill_slug <> ''",
      from,
      filter: notSimulationRun,
    })}) f`,
  ),
);

/**
 * Lists the child jobs of a job. Reads one range of the index jobs_children for each requested status. This index does not contain the mode
 * and the skill, so these filters are checked in each row. This is enough, because all child jobs of one job have the same mode, and mostly
 * the same skill.
 */
const selectOfParent = statement<ListedRow>(
  "list_jobs_of_parent",
  pageText(
    `select f.id from ${statuses} cross join lateral (${newestIn("jobs", {
      key: { status: "s.status", project_id: "$1::uuid", parent_job_id: "$9::uuid" },
      condition: "parent_job_id is not null",
      from,
      filter: `mode = any($6::text[]) and ${notSimulationRun} and ${ofSkill}`,
    })}) f`,
  ),
);

/**
 * Reads approval dry runs by the index jobs_rehearsals, for each requested status. Such a job asks people to approve a schedule and shows
 * them a simulation of it.
 */
const selectApprovalDryRuns = statement<ListedRow>(
  "list_rehearsals",
  pageText(
    `select f.id from ${statuses} cross join lateral (${newestIn("jobs", {
      key: { project_id: "$1::uuid", status: "s.status" },
      condition: "mode = 'rehearse'",
      from,
      filter: "parent_job_id is null and simulated_from is null",
    })}) f`,
  ),
);

/**
 * Returns a page of jobs, newest first. The filter selects the jobs of one standing program (a schedule), of one skill or of one parent
 * job. It may also select the approval dry runs (simulation runs that a person sees before approving a schedule) of all schedules.
 */
async function listNarrowedJobs(
  db: Executor,
  projectId: ProjectId,
  filter: JobFilter,
  { after, limit }: JobPosition,
): Promise<ListedJob[]> {
  const { statuses = jobStatuses, mode, skillSlug = "", parentJobId, standingProgramId } = filter;
  const { fromUuid, beforeUuid } = idBounds(filter, after);
  const place = [uuidOfId(projectId), beforeUuid, limit, arrayLiteral(statuses), fromUuid];
  const given = [...place, arrayLiteral(modesOf(filter)), mode === "simulate", skillSlug];
  if (parentJobId !== undefined) return read(await selectOfParent(db, [...given, uuidOfId(parentJobId)]));
  if (standingProgramId !== undefined) return read(await selectOfProgram(db, [...given, standingProgramId]));
  if (skillSlug !== "") return read(await selectOfSkill(db, given));
  return read(await selectApprovalDryRuns(db, place));
}

/**
 * Returns the modes that a list contains. If the filter has no mode, only the list of the jobs of one standing program (a schedule)
 * contains approval dry runs.
 */
function modesOf({ mode, standingProgramId }: JobFilter): readonly JobMode[] {
  if (mode !== undefined) return [mode];
  return standingProgramId === undefined ? ["live", "simulate"] : jobModes;
}

function read(rows: readonly ListedRow[]): ListedJob[] {
  return rows.map(listedOf);
}

/** Reads the steps of several jobs of a project. Finds the jobs and their steps by primary keys. */
const selectSteps = statement<StepRow>(
  "list_job_steps",
  `select s.* from jobs j cross join lateral (
     select job_id, ${stepColumns.text} from job_steps where job_id = j.id offset 0) s
   where j.id = any($1::uuid[]) and ${filterBy("j.project_id", "$2::uuid")}
   order by s.job_id, s.ordinal`,
);

/**
 * Finds the simulation run that was made for a job, with its program. Uses the index jobs_simulated_from, and the primary key of programs.
 */
const selectSimulationRun = statement<ListedRow>(
  "find_listed_twin",
  `${selectListedJobs("jobs j")} where j.simulated_from = $1::uuid and ${filterBy("j.project_id", "$2::uuid")} order by j.id limit 1`,
);

/** Finds a job by its primary key. It runs for every submission of a job and every read of one. */
const selectListed = statement<ListedRow>(
  "find_job",
  `${selectListedJobs("jobs j")} where j.id = $1::uuid and ${filterBy("j.project_id", "$2::uuid")}`,
);

/**
 * Kinds of jobs without a parent. `live`: submitted to run. `simulation`: submitted to simulate. `twin`: a simulation run that svc made for
 * a job.
 */
type JobListKind = "live" | "simulation" | "twin";

/** Filters of a page of a project's jobs, the range of ids on the page, and the maximum number of jobs. */
type JobPage = {
  readonly kinds: readonly JobListKind[];
  readonly statuses: readonly JobStatus[];
  /** Lower bound of the job ids on the page, inclusive. The next field is the upper bound, exclusive. */
  readonly fromUuid: string;
  readonly beforeUuid: string;
  readonly limit: number;
};

/** Returns the query for the newest jobs of one kind in each of these statuses. */
function newestOf(condition: string, statuses: string): string {
  // The conditions compare all columns of the intended index, so that PostgreSQL uses no other index.
  return `select j.id from unnest(${statuses}::text[]) as s(status) cross join lateral (
    select id from jobs
    where ${condition} and (project_id, status, id) >= ($1::uuid, s.status, $7::uuid)
      and (project_id, status, id) < ($1::uuid, s.status, $2::uuid)
    order by project_id desc, status desc, id desc limit $3::int4) j`;
}

/** Reads a page of a project's jobs, newest first. It merges the newest jobs of each kind and status. */
const selectPage = statement<ListedRow>(
  "list_jobs",
  // An index of a project's jobs by time would be faster to read. But each job would need two more index entries.
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

/** Returns a page of one project's jobs, newest first. */
async function listJobPage(
  db: Executor,
  projectId: ProjectId,
  { kinds, statuses, fromUuid, beforeUuid, limit }: JobPage,
): Promise<ListedJob[]> {
  const of = (kind: JobListKind) => arrayLiteral(kinds.includes(kind) ? statuses : []);
  const lists = [of("live"), of("simulation"), of("twin")];
  const rows = await selectPage(db, [uuidOfId(projectId), beforeUuid, limit, ...lists, fromUuid]);
  return rows.map(listedOf);
}

/** Functions that store and find the jobs of one project, with their steps and logs. */
export type JobRepository = {
  find(id: Id<"job">): Promise<ListedJob | undefined>;
  /** Returns the simulation run that was made before a job, because its submission had set `simulateFirst`. */
  findSimulationRun(id: Id<"job">): Promise<ListedJob | undefined>;
  /** Returns the jobs that match, newest first, beginning after the id `after`. */
  list(filter: JobFilter, page: JobPosition): Promise<ListedJob[]>;
  /** Returns the steps of several jobs, in the order in which the steps began. */
  listSteps(ids: readonly Id<"job">[]): Promise<Map<Id<"job">, JobStepRecord[]>>;
  /** Returns entries of a job's log by ascending `seq`, after `afterSeq`. Returns none for a job of another project. */
  listEvents(id: Id<"job">, page: { afterSeq: number; limit: number }): Promise<JobEventRecord[]>;
};

/** Returns the repository of one project's jobs. Lists are in the order of ids, which is the order of time. */
export function jobsForProject(db: Executor, projectId: ProjectId): JobRepository {
  return {
    find: (id) => findListedJob(db, projectId, id),
    findSimulationRun: (id) => findListedSimulationRun(db, projectId, id),
    listSteps: (ids) => listJobSteps(db, projectId, ids),
    list: async (filter, { after, limit }) => {
      const kinds = kindsOf(filter);
      if (kinds === undefined) return listNarrowedJobs(db, projectId, filter, { after, limit });
      const { statuses = jobStatuses } = filter;
      return listJobPage(db, projectId, { kinds, statuses, ...idBounds(filter, after), limit });
    },
    listEvents: (id, page) => readJobLog(db, projectId, { id, ...page }),
  };
}

/**
 * Returns the kinds of jobs that a list contains if it filters only by status and mode. Returns undefined for other lists, because those
 * use other indexes.
 */
function kindsOf({ mode, skillSlug, parentJobId, standingProgramId }: JobFilter): JobListKind[] | undefined {
  if (mode === "rehearse" || (skillSlug ?? parentJobId ?? standingProgramId) !== undefined) return undefined;
  if (mode === "simulate") return ["simulation", "twin"];
  return mode === "live" ? ["live"] : ["live", "simulation"];
}

/** Returns one job of a project with its program; undefined if the project has no such job. */
async function findListedJob(db: Executor, projectId: ProjectId, id: Id<"job">): Promise<ListedJob | undefined> {
  const [row] = await selectListed(db, [uuidOfId(id), uuidOfId(projectId)]);
  return row && listedOf(row);
}

/**
 * Returns the simulation run that svc made before a job, because the job was submitted with `simulateFirst`. Undefined if there is none.
 */
async function findListedSimulationRun(
  db: Executor,
  projectId: ProjectId,
  id: Id<"job">,
): Promise<ListedJob | undefined> {
  const [row] = await selectSimulationRun(db, [uuidOfId(id), uuidOfId(projectId)]);
  return row && listedOf(row);
}

/** Returns the steps of several jobs of a project, in the order they began. */
async function listJobSteps(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"job">[],
): Promise<Map<Id<"job">, JobStepRecord[]>> {
  const rows = await selectSteps(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)]);
  const steps = Map.groupBy(rows, (row) => row.job_id);
  return new Map(ids.map((id) => [id, (steps.get(uuidOfId(id)) ?? []).map(stepOfRow)]));
}
