import { type Batcher, createBatcher, type Id, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobPrograms, jobSteps } from "../schema/jobs.ts";
import { fieldsOf, namesBut, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type PackedRow, type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import { type JobRecord, type JobStepRecord, jobColumns } from "./record.ts";

/** The columns of a job's step: their SQL list, and a function that decodes a row with these columns. */
export const stepColumns = selectList(jobSteps, namesBut(jobSteps, "jobId"));

/** A row of the table of job steps, as the PostgreSQL client library returns it. */
export type StepRow = RawRow<JobStepRecord> & { job_id: string };

/** Reads all steps of the given jobs. Finds them by the primary key of job_steps, which starts with the job. */
const selectSteps = statement<StepRow>(
  "load_job_steps",
  `select job_id, ${stepColumns.text} from job_steps where job_id = any($1::uuid[]) order by job_id, ordinal`,
);

/** Returns a job's step from a row of the table job_steps. */
export function stepOfRow(row: StepRow): JobStepRecord {
  const { stepId, ordinal, receipt, output } = stepColumns.read(row);
  return { stepId, ordinal, receipt, output };
}

/** Returns the receipts (stored summaries) and outputs of a job's steps, in the order in which the steps began. */
export async function loadJobSteps(db: Executor, jobId: Id<"job">): Promise<JobStepRecord[]> {
  return (await selectSteps(db, [arrayLiteral([uuidOfId(jobId)])])).map(stepOfRow);
}

const selectJob = statement<PackedRow>("load_job", `select ${jobColumns.text} from jobs j where j.id = $1::uuid`);

const selectJobs = statement<PackedRow>(
  "load_jobs",
  `select ${jobColumns.text} from jobs j where j.id = any($1::uuid[])`,
);

const lockJobRow = statement<PackedRow>(
  "load_locked_job",
  `select ${jobColumns.text} from jobs j where j.id = $1::uuid for no key update`,
);

/** Returns a job. If `lock` is true, also locks the job's row for the rest of the transaction. */
export async function loadJob(
  db: Executor,
  jobId: Id<"job">,
  { lock }: { lock: boolean } = { lock: false },
): Promise<JobRecord | undefined> {
  const [row] = await (lock ? lockJobRow : selectJob)(db, [uuidOfId(jobId)]);
  return row && jobColumns.read(row);
}

/** Returns jobs without their steps, in no particular order. A job that does not exist is absent. */
export async function loadJobs(db: Executor, jobIds: readonly Id<"job">[]): Promise<JobRecord[]> {
  if (jobIds.length === 0) return [];
  return (await selectJobs(db, [arrayLiteral(jobIds.map(uuidOfId))])).map(jobColumns.read);
}

/** A job with its steps' receipts (stored summaries) and outputs. */
export type JobWithSteps = { readonly job: JobRecord; readonly steps: readonly JobStepRecord[] };

/**
 * Returns jobs with their steps, in the requested order; undefined for a job that does not exist. It reads all of them with two statements.
 */
export async function loadJobsWithSteps(
  db: Executor,
  jobIds: readonly Id<"job">[],
): Promise<(JobWithSteps | undefined)[]> {
  const ids = arrayLiteral(jobIds.map(uuidOfId));
  const [jobRows, stepRows] = await Promise.all([selectJobs(db, [ids]), selectSteps(db, [ids])]);
  const jobs = new Map(jobRows.map(jobColumns.read).map((job) => [job.id, job]));
  const steps = Map.groupBy(stepRows, (row) => row.job_id);
  return jobIds.map((id) => {
    const job = jobs.get(id);
    return job && { job, steps: (steps.get(uuidOfId(id)) ?? []).map(stepOfRow) };
  });
}

/**
 * A program as submitted, with its pins: the definitions of tools and skills that the program was checked with and runs on. The program is
 * sealed, except in rows that versions before 0.2 wrote.
 */
export type JobProgramRecord = Readonly<Row<typeof jobPrograms, "program" | "sealedProgram" | "programHash" | "pins">>;

/** Key of a job's program. Programs with the same content are stored once in a project. */
export type JobProgramName = { readonly projectId: ProjectId; readonly digest: Buffer };

const nameParts = { wanted: rows(fieldsOf(jobPrograms, "projectId", "digest")) };
const columns = selectList(
  jobPrograms,
  ["projectId", "digest", "program", "sealedProgram", "programHash", "pins"],
  "p",
);

/** Reads the programs of jobs. Finds each program by its primary key, with one index lookup per program. */
const selectPrograms = compose(
  "load_job_programs",
  nameParts,
  ({ wanted }) => query<
    RawRow<Row<typeof jobPrograms, "projectId" | "digest"> & JobProgramRecord>
  >`select ${columns.text} from ${wanted.from("w")}
    cross join lateral (select * from job_programs where project_id = w.project_id and digest = w.digest offset 0) p`,
);

async function loadPrograms(
  db: Executor,
  wanted: readonly JobProgramName[],
): Promise<(JobProgramRecord | undefined)[]> {
  const found = (await selectPrograms(db, { wanted })).map((row) => columns.read(row));
  const byKey = new Map(found.map((one) => [keyOf(one), one]));
  return wanted.map((name) => {
    const one = byKey.get(keyOf(name));
    return (
      one && { program: one.program, sealedProgram: one.sealedProgram, programHash: one.programHash, pins: one.pins }
    );
  });
}

function keyOf({ projectId, digest }: { readonly projectId: ProjectId; readonly digest: Uint8Array }): string {
  return `${projectId}/${Buffer.from(digest).toString("hex")}`;
}

const batchers = new WeakMap<object, Batcher<JobProgramName, JobProgramRecord | undefined>>();

/**
 * Returns the program of a job. Drivers of jobs that were claimed together request their programs together; these requests share one
 * statement.
 */
export function loadJobProgram(
  db: Executor,
  projectId: ProjectId,
  digest: Uint8Array,
): Promise<JobProgramRecord | undefined> {
  const name = { projectId, digest: Buffer.from(digest) };
  // If the caller is in a transaction, that transaction reads the program.
  if (!("begin" in db.sql)) return loadPrograms(db, [name]).then(([record]) => record);
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<JobProgramName, JobProgramRecord | undefined>({
      run: (names) => loadPrograms(db, names),
      sizeMax: 50,
      concurrency: 4,
      besideMin: 8,
    });
    batchers.set(db, batcher);
  }
  return batcher.add(name);
}

const pinColumns = selectList(jobPrograms, ["projectId", "digest", "pins"], "p");

/**
 * Reads the pins of programs (the versions of tools and skills that a program was checked with). Finds each program by its primary key,
 * with one index lookup per program.
 */
const selectPins = compose(
  "load_job_pins",
  nameParts,
  ({ wanted }) => query<
    RawRow<Row<typeof jobPrograms, "projectId" | "digest" | "pins">>
  >`select ${pinColumns.text} from ${wanted.from("w")}
    cross join lateral (select * from job_programs where project_id = w.project_id and digest = w.digest offset 0) p`,
);

/**
 * Returns the pins of programs as JSON text: the definitions of tools and skills that each program was checked with. Deleted programs are
 * absent.
 */
export async function loadJobPins(
  db: Executor,
  wanted: readonly JobProgramName[],
): Promise<(JobProgramName & { readonly pins: string })[]> {
  if (wanted.length === 0) return [];
  return (await selectPins(db, { wanted })).map((row) => pinColumns.read(row));
}
