import type { Executor } from "./connect.ts";
import { statement } from "./sql/statement.ts";

/**
 * Reads no table. What a full disk refuses first is a file that grows, which the rows of the series do beyond 64 kB of memory;
 * the message goes through the log and its flush as every commit does, and waits for a synchronous standby as that does. Neither
 * leaves anything to vacuum, as a row that is written again and again would.
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
 * Has the store write and commit: about 100 kB of a temporary file and some bytes of its log. False on a standby and where
 * transactions are read-only. Rejects when the disk is full or the store is away.
 */
export async function probeWrites(db: Executor): Promise<boolean> {
  const [row] = await writeProbe(db, []);
  return row?.isWritable === true;
}
