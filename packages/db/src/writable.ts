import type { Executor } from "./connect.ts";
import { statement } from "./statement.ts";

const selectReadOnly = statement<{ readOnly: boolean }>(
  "database_read_only",
  `select pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "readOnly"`,
);

/** Whether the store takes writes: false on a standby and where transactions are read-only. Rejects when it is away. */
export async function isWritable(db: Executor): Promise<boolean> {
  const [row] = await selectReadOnly(db, []);
  return row?.readOnly === false;
}
