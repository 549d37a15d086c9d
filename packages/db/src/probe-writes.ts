import type { Executor } from "./connect.ts";
import { statement } from "./sql/statement.ts";

/**
 * Tests if the database can write, without reading a table.
 * - A full disk first refuses files that grow. The rows of `generate_series` need more than 64 kB of memory, so PostgreSQL writes them to a
 *   temporary file.
 * - `pg_logical_emit_message` writes a message to the write-ahead log. The message is flushed like every commit, and waits for a
 *   synchronous standby.
 * - Updating a row of a table would test the same, but would leave dead rows. So this test does not do it.
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
 * Checks that the database can write and commit, and returns true if it can. It writes about 100 kB to a temporary file and a few bytes to
 * the log. Returns false if the server is a standby or transactions are read-only. Rejects if the disk is full or the database is
 * unavailable.
 */
export async function probeWrites(db: Executor): Promise<boolean> {
  const [row] = await writeProbe(db, []);
  return row?.isWritable === true;
}
