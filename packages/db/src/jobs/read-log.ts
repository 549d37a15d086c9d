import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobEvents } from "../schema/jobs.ts";
import { namesBut } from "../sql/codec.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { entriesOf, submittedType } from "./log-rows.ts";
import { chainOfJob } from "./principal-chain.ts";
import type { JobEventRecord } from "./record.ts";

const columns = selectList(jobEvents, namesBut(jobEvents), "e");

type LogRow = ReturnType<typeof columns.read>;
/** A row of a log with what of its job is told with its entries: `jobChain` as JSON text. */
type StoredRow = RawRow<LogRow> & {
  readonly jobChain: string;
  readonly jobKey: string;
  readonly programHash: string | null;
};

/**
 * Runs for every look at a log, and so with every commit of a job that is watched. By primary keys; the row that holds the entry before
 * the page may hold its first ones. `offset 0` keeps the program a lookup.
 */
const selectLog = statement<StoredRow>(
  "read_job_log",
  `select ${columns.text}, to_json(j.principal_chain)::text as "jobChain", j.key_id as "jobKey",
     case when e.type = '${submittedType}' then (
       select p.program_hash from job_programs p where p.project_id = j.project_id and p.digest = j.program_digest offset 0)
     end as "programHash"
   from jobs j, job_events e
   where j.id = $1::uuid and ${filterBy("j.project_id", "$2::uuid")} and e.job_id = $1::uuid
     and e.seq >= coalesce((select b.seq from job_events b
       where b.job_id = $1::uuid and b.seq <= $3::int4 order by b.seq desc limit 1), 0)
   order by e.seq limit $4::int4`,
);

/** Up to `limit` entries of a job's log, from after `afterSeq`; none of a job of another project. */
export async function readJobLog(
  db: Executor,
  projectId: ProjectId,
  { id, afterSeq, limit }: { readonly id: Id<"job">; readonly afterSeq: number; readonly limit: number },
): Promise<JobEventRecord[]> {
  // Callers may name any unsigned number; no log is longer than what the column holds.
  const last = Math.min(afterSeq, 2 ** 31 - 1);
  const rows = await selectLog(db, [uuidOfId(id), uuidOfId(projectId), last, limit + 1]);
  const log = rows.map((row) => {
    const { jobChain, jobKey, ...read } = columns.read(row);
    const keyId = idOfUuid("key", jobKey);
    return { ...read, jobChain: chainOfJob({ keyId, principalChain: JSON.parse(jobChain) as string[] }) };
  });
  return entriesOf(log)
    .filter(({ seq }) => seq > afterSeq)
    .slice(0, limit);
}
