import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type ReceiptDocument, wholeReceipt } from "../documents/jobs.ts";
import { jobs } from "../schema/jobs.ts";
import type { Row } from "../sql/codec.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Finds the simulation run that svc made before a job. Uses the index jobs_simulated_from, which contains only simulation runs. */
const selectSimulationRun = statement<{ id: string }>(
  "find_job_twin",
  "select id from jobs where simulated_from = $1::uuid order by id limit 1",
);

/**
 * Returns the simulation run that svc made before a job, because the job was submitted with `simulateFirst`. Undefined if there is none.
 */
export async function findSimulationRun(db: Executor, jobId: Id<"job">): Promise<Id<"job"> | undefined> {
  const [row] = await selectSimulationRun(db, [uuidOfId(jobId)]);
  return row && idOfUuid("job", row.id);
}

const columns = selectList(jobs, ["receipt", "estimate"]);

/** Reads the receipts (stored summaries) of the simulation runs of jobs. Finds the simulation runs by the index jobs_simulated_from. */
const selectReceipts = statement<RawRow<Row<typeof jobs, "receipt" | "estimate">> & { id: string }>(
  "read_twin_receipts",
  `select simulated_from as id, ${columns.text} from jobs
   where ${filterBy("project_id", "$1::uuid")} and simulated_from = any($2::uuid[]) and receipt is not null`,
);

/**
 * Returns the receipts (summaries of ended jobs) of simulation runs. The key is the id of the job for which the simulation run was made.
 */
export async function readSimulationReceipts(
  db: Executor,
  projectId: ProjectId,
  jobIds: readonly Id<"job">[],
): Promise<Map<Id<"job">, ReceiptDocument>> {
  if (jobIds.length === 0) return new Map();
  const rows = await selectReceipts(db, [uuidOfId(projectId), arrayLiteral(jobIds.map(uuidOfId))]);
  return new Map(
    rows.flatMap((row) => {
      const { receipt, estimate } = columns.read(row);
      return receipt === null ? [] : [[idOfUuid("job", row.id), wholeReceipt(receipt, estimate)] as const];
    }),
  );
}
