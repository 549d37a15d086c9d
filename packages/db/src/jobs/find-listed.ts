import { jobPrograms } from "../schema/jobs.ts";
import { type PackedRow, type RawRow, selectList } from "../sql/select-list.ts";
import type { JobProgramRecord } from "./load.ts";
import { type JobRecord, jobColumns } from "./record.ts";

/**
 * A job with its program as submitted. The tool definitions stored with the program are left out. They are large, and only the code that
 * runs the job's steps needs them.
 */
export type ListedJob = JobRecord & ProgramOfJob;

const programColumns = selectList(jobPrograms, ["program", "sealedProgram", "programHash"], "p");

type ProgramOfJob = Omit<JobProgramRecord, "pins">;
/** A job with its program, as the PostgreSQL driver returns it. */
export type ListedRow = PackedRow & RawRow<ProgramOfJob>;

/**
 * SQL that joins a job `j` with its program. `offset 0` makes PostgreSQL look the program up by its primary key. Without it, PostgreSQL
 * planned a join through all programs of the project.
 */
const programOfJob = `cross join lateral (
     select program, sealed_program, program_hash from job_programs where project_id = j.project_id and digest = j.program_digest offset 0) p`;

/** Returns the SQL query for jobs with their programs. `from`: SQL that selects the rows of the table jobs, under the name `j`. */
export function selectListedJobs(from: string): string {
  return `select ${jobColumns.text}, ${programColumns.text} from ${from} ${programOfJob}`;
}

/** Converts a row of the query for a list of jobs (`selectListedJobs`) into a `ListedJob`. */
export function listedOf(row: ListedRow): ListedJob {
  const { program, sealedProgram, programHash } = programColumns.read(row);
  return { ...jobColumns.read(row), program, sealedProgram, programHash };
}
