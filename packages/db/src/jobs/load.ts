import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import type { PackedRow } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { selectSteps, stepOfRow } from "./load-steps.ts";
import { type JobRecord, type JobStepRecord, jobColumns } from "./record.ts";

const selectJob = statement<PackedRow>("load_job", `select ${jobColumns.text} from jobs j where j.id = $1::uuid`);

const selectJobs = statement<PackedRow>(
  "load_jobs",
  `select ${jobColumns.text} from jobs j where j.id = any($1::uuid[])`,
);

const lockJobRow = statement<PackedRow>(
  "load_locked_job",
  `select ${jobColumns.text} from jobs j where j.id = $1::uuid for no key update`,
);

/** A job; with `lock`, its row is locked for the rest of the transaction. */
export async function loadJob(
  db: Executor,
  jobId: Id<"job">,
  { lock }: { lock: boolean } = { lock: false },
): Promise<JobRecord | undefined> {
  const [row] = await (lock ? lockJobRow : selectJob)(db, [uuidOfId(jobId)]);
  return row && jobColumns.read(row);
}

/** A job with what its steps did and made. */
export type JobWithSteps = { readonly job: JobRecord; readonly steps: readonly JobStepRecord[] };

/** Jobs with their steps, in the order asked for; undefined for one that is not there. Two statements for all of them. */
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
