import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type ReceiptDocument, wholeReceipt } from "../documents/receipt.ts";
import { jobs } from "../schema/jobs.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import type { Row } from "../sql/codec.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

const columns = selectList(jobs, ["receipt", "estimate"]);

/** Served by jobs_simulated_from. */
const readTwins = statement<RawRow<Row<typeof jobs, "receipt" | "estimate">> & { id: string }>(
  "read_twin_receipts",
  `select simulated_from as id, ${columns.text} from jobs
   where ${filterBy("project_id", "$1::uuid")} and simulated_from = any($2::uuid[]) and receipt is not null`,
);

/** The receipts of the simulations that were made for jobs, by the job they were made for. */
export async function readTwinReceipts(
  db: Executor,
  projectId: ProjectId,
  jobIds: readonly Id<"job">[],
): Promise<Map<Id<"job">, ReceiptDocument>> {
  if (jobIds.length === 0) return new Map();
  const rows = await readTwins(db, [uuidOfId(projectId), arrayLiteral(jobIds.map(uuidOfId))]);
  return new Map(
    rows.flatMap((row) => {
      const { receipt, estimate } = columns.read(row);
      return receipt === null ? [] : [[idOfUuid("job", row.id), wholeReceipt(receipt, estimate)] as const];
    }),
  );
}
