import { type CallRecord, putToolCalls } from "@svc/db/calls/put";
import type { Database } from "@svc/db/connect";

/**
 * Writes rows of the ledger whose commit was not made. Where that fails as well, reads leave no trace, and writes that are in the ledger as
 * begun read as doubtful in time: they are never sent again in silence.
 */
export async function saveRecords(db: Database, records: readonly CallRecord[]): Promise<void> {
  if (records.length === 0) return;
  try {
    await putToolCalls(db, records);
  } catch {
    // Whoever holds the commit's own failure tells of it.
  }
}
