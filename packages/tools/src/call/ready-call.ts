import type { CallRecord } from "@svc/db";
import type { CallResult } from "../outcome.ts";
import { type ExecuteContext, type ExecuteOptions, executeCall } from "./execute.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { PreparedCall } from "./prepared-call.ts";

/** The end of a call that was executed, for its caller to commit. */
export type UnrecordedEnd = {
  /**
   * Its row in the ledger as it is to be. No answer is kept for its idempotency key: with it is committed what the caller made of the
   * answer, and nobody asks again.
   */
  readonly record: CallRecord;
  /** Whether its row is there from its beginning, and lacks its end alone. */
  readonly wasBegun: boolean;
  /**
   * Commits it alone, with its idempotency key, for a caller that came to no commit. Never rejects: who hears of calls that are not
   * recorded is told.
   */
  write(): Promise<void>;
};

/** What executing a ready call works with. */
export type ReadyContext = Omit<ExecuteContext, "ledger"> & {
  readonly ledger: Pick<Ledger, "ended" | "bound" | "put">;
};

/** A call that may be sent, and its row as it was committed; undefined for a read, which is not begun. */
export type ReadyExecution = ExecuteOptions & {
  readonly entry: LedgerEntry;
  readonly prepared: PreparedCall;
  readonly begun: CallRecord | undefined;
};

/**
 * Sends a call whose caller commits its end. The end of one that did not go well is committed here: what follows from that may be
 * another attempt, after a wait, and a crash in it must not leave the outcome in doubt.
 */
export async function executeReady(
  context: ReadyContext,
  { entry, prepared, begun, ...options }: ReadyExecution,
): Promise<{ readonly result: CallResult; readonly end: UnrecordedEnd | undefined }> {
  const { ledger, onUnrecorded } = context;
  const left: CallRecord[] = [];
  const end: Ledger["end"] = async (_entry, told, { bindsKey }) => {
    const record = ledger.ended(entry, told, begun);
    if (told.result.outcome === "ok") left.push(record);
    else await ledger.put(bindsKey ? ledger.bound(entry, record, told.result) : record);
  };
  const result = await executeCall({ ...context, ledger: { end } }, entry, prepared, options);
  const [record] = left;
  if (record === undefined) return { result, end: undefined };
  const write = () =>
    ledger.put(ledger.bound(entry, record, result)).catch((error: unknown) => onUnrecorded(entry.id, error));
  return { result, end: { record, wasBegun: begun !== undefined, write } };
}
