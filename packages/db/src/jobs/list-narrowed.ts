import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type JobMode, jobModes, jobStatuses } from "../schema/words.ts";
import { idBounds, newestIn } from "../sql/newest-in.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { type ListedJob, type ListedRow, listedOf, selectListedJobs } from "./find-listed.ts";
import type { JobFilter, JobPlace } from "./list-filter.ts";

const statuses = "unnest($4::text[]) as s(status)";
const from = "$5::uuid";
const modes = "unnest($6::text[]) as m(mode)";
/** Twins are in lists of simulations alone. */
const notTwin = "($7::bool or simulated_from is null)";
const ofSkill = "($8::text = '' or skill_slug = $8::text)";

/** The page of the ids of `found`, each with its program. */
function pageText(found: string): string {
  return `with found as (${found}), page as materialized (select id from found order by id desc limit $3::int4)
    ${selectListedJobs("page cross join lateral (select * from jobs where id = page.id offset 0) j")} order by page.id desc`;
}

/** By jobs_standing, for each of the modes and statuses that are asked for. */
const selectOfProgram = statement<ListedRow>(
  "list_jobs_of_standing_program",
  pageText(
    `select f.id from ${statuses} cross join ${modes} cross join lateral (${newestIn("jobs", {
      key: { project_id: "$1::uuid", standing_program_id: "$9::text", mode: "m.mode", status: "s.status" },
      condition: "standing_program_id <> ''",
      from,
      filter: `parent_job_id is null and ${notTwin} and ${ofSkill}`,
    })}) f`,
  ),
);

/** By jobs_skill, for each of the modes and statuses that are asked for: also those that others run. */
const selectOfSkill = statement<ListedRow>(
  "list_jobs_of_skill",
  pageText(
    `select f.id from ${statuses} cross join ${modes} cross join lateral (${newestIn("jobs", {
      key: { project_id: "$1::uuid", skill_slug: "$8::text", mode: "m.mode", status: "s.status" },
      condition: "skill_slug <> ''",
      from,
      filter: notTwin,
    })}) f`,
  ),
);

/** By jobs_children, for each of the statuses that are asked for. Those of one job are of one mode, and mostly of one skill. */
const selectOfParent = statement<ListedRow>(
  "list_jobs_of_parent",
  pageText(
    `select f.id from ${statuses} cross join lateral (${newestIn("jobs", {
      key: { status: "s.status", project_id: "$1::uuid", parent_job_id: "$9::uuid" },
      condition: "parent_job_id is not null",
      from,
      filter: `mode = any($6::text[]) and ${notTwin} and ${ofSkill}`,
    })}) f`,
  ),
);

/** By jobs_rehearsals, for each of the statuses that are asked for. */
const selectRehearsals = statement<ListedRow>(
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

/** Jobs of a standing program, of a skill or of another job, or rehearsals of any program: newest first. */
export async function listNarrowedJobs(
  db: Executor,
  projectId: ProjectId,
  filter: JobFilter,
  { after, limit }: JobPlace,
): Promise<ListedJob[]> {
  const { statuses = jobStatuses, mode, skillSlug = "", parentJobId, standingProgramId } = filter;
  const { fromUuid, beforeUuid } = idBounds(filter, after);
  const place = [uuidOfId(projectId), beforeUuid, limit, arrayLiteral(statuses), fromUuid];
  const given = [...place, arrayLiteral(modesOf(filter)), mode === "simulate", skillSlug];
  if (parentJobId !== undefined) return read(await selectOfParent(db, [...given, uuidOfId(parentJobId)]));
  if (standingProgramId !== undefined) return read(await selectOfProgram(db, [...given, standingProgramId]));
  if (skillSlug !== "") return read(await selectOfSkill(db, given));
  return read(await selectRehearsals(db, place));
}

/** Only the list of a standing program has rehearsals where nobody asks for them. */
function modesOf({ mode, standingProgramId }: JobFilter): readonly JobMode[] {
  if (mode !== undefined) return [mode];
  return standingProgramId === undefined ? ["live", "simulate"] : jobModes;
}

function read(rows: readonly ListedRow[]): ListedJob[] {
  return rows.map(listedOf);
}
