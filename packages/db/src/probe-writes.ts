import type { Executor } from "./connect.ts";
import { statement } from "./sql/statement.ts";

/**
 * Reads no table. A full disk first refuses a file that grows, and the series' rows spill to one beyond 64 kB of memory. The message is
 * written and flushed to the write-ahead log as every commit is, and waits for a synchronous standby. Neither leaves dead rows, as a
 * rewritten row would.
 */
const writeProbe = statement<{ isWritable: boolean }>(
  "probe_writes",
  `select case when mode."isReadOnly" then false
      else spill.rows > 0 and pg_logical_emit_message(true, 'svc', '') is not null end as "isWritable"
    from (
      select pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "isReadOnly",
        set_config('work_mem', '64kB', true) as memory
      offset 0
    ) as mode
    cross join lateral (
      select count(*) as rows from generate_series(1, 4000 + 0 * length(mode.memory))
    ) as spill`,
);

/**
 * Makes the database write and commit: about 100 kB of a temporary file and some bytes of its log. Returns false on a standby or if
 * transactions are read-only. Rejects if the disk is full or the database is unavailable.
 */
export async function probeWrites(db: Executor): Promise<boolean> {
  const [row] = await writeProbe(db, []);
  return row?.isWritable === true;
}
