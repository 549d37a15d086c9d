import { type Id, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobPrograms } from "../schema/jobs.ts";
import { filterBy } from "../sql/filter.ts";
import { type PackedRow, type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import type { JobProgramRecord } from "./load-program.ts";
import { type JobRecord, jobColumns } from "./record.ts";

/** A job with its program as it was submitted; without the pinned definitions, which only its driver needs and which are large. */
export type ListedJob = JobRecord & ProgramOfJob;

const programColumns = selectList(jobPrograms, ["program", "sealedProgram", "programHash"], "p");

type ProgramOfJob = Omit<JobProgramRecord, "pins">;
/** A job with its program as the driver gives it. */
export type ListedRow = PackedRow & RawRow<ProgramOfJob>;

/** `offset 0` keeps it a lookup by primary key: a join was planned through all programs of the project. */
const programOfJob = `cross join lateral (
     select program, sealed_program, program_hash from job_programs where project_id = j.project_id and digest = j.program_digest offset 0) p`;

/** Rows of `jobs j` with their programs; `from` says which. */
export function selectListedJobs(from: string): string {
  return `select ${jobColumns.text}, ${programColumns.text} from ${from} ${programOfJob}`;
}

/** Runs for every submission, and for every look at a job. By primary keys. */
const selectListed = statement<ListedRow>(
  "find_job",
  `${selectListedJobs("jobs j")} where j.id = $1::uuid and ${filterBy("j.project_id", "$2::uuid")}`,
);

/** Served by jobs_simulated_from, and the primary key of programs. */
const selectTwin = statement<ListedRow>(
  "find_listed_twin",
  `${selectListedJobs("jobs j")} where j.simulated_from = $1::uuid and ${filterBy("j.project_id", "$2::uuid")} order by j.id limit 1`,
);

/** One job of a project. */
export async function findListedJob(db: Executor, projectId: ProjectId, id: Id<"job">): Promise<ListedJob | undefined> {
  const [row] = await selectListed(db, [uuidOfId(id), uuidOfId(projectId)]);
  return row && listedOf(row);
}

/** The simulation that simulateFirst made for a job. */
export async function findListedTwin(
  db: Executor,
  projectId: ProjectId,
  id: Id<"job">,
): Promise<ListedJob | undefined> {
  const [row] = await selectTwin(db, [uuidOfId(id), uuidOfId(projectId)]);
  return row && listedOf(row);
}

/** Reads a row of `selectListedJobs`. */
export function listedOf(row: ListedRow): ListedJob {
  const { program, sealedProgram, programHash } = programColumns.read(row);
  return { ...jobColumns.read(row), program, sealedProgram, programHash };
}
