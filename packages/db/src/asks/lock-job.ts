import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { chainOfJob } from "../jobs/principal-chain.ts";
import { jobs } from "../schema/jobs.ts";
import type { Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** What is known of a job under its lock. */
export type LockedJob = Readonly<Row<typeof jobs, "id" | "projectId" | "keyId" | "principalChain">>;

const columns = selectList(jobs, ["id", "projectId", "keyId", "principalChain"]);

function withChain<Job extends Pick<Row<typeof jobs>, "keyId" | "principalChain">>(job: Job): Job {
  return { ...job, principalChain: chainOfJob(job) };
}

/** By primary key. */
const lockForAnswer = statement<RawRow<LockedJob>>(
  "lock_job_for_ask",
  `select ${columns.text} from jobs where id = $1::uuid for no key update`,
);

/** Locks a job's row for the rest of the transaction, as `lockJob` does; undefined when there is none. */
export async function lockJobOfAsk(tx: Executor, jobId: Id<"job">): Promise<LockedJob | undefined> {
  const [row] = await lockForAnswer(tx, [uuidOfId(jobId)]);
  return row && withChain(columns.read(row));
}
