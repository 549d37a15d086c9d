import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/calls.ts";
import type { NewRow } from "../sql/codec.ts";
import { insertRows } from "../sql/insert-rows.ts";

/** A row of the ledger as it is made. Sealed values are bytes. `idempotencyKey` is absent when the call binds none (any more). */
export type CallRecord = Omit<StoredCall, "failure">;

type StoredCall = NewRow<typeof toolCalls>;

/** A row of the ledger as it is written. */
export function storedCall(call: CallRecord): StoredCall {
  const { outcome } = call;
  return { ...call, failure: outcome === "ok" || outcome === "running" ? null : outcome };
}

/**
 * Writes calls in one statement: what is new is inserted, what was begun is settled. A settled row never changes again: only
 * one that is `running` does. A key that was taken from a running call does not come back with its outcome: another call may
 * hold it by then. Settling by primary key, inserts at the right edge of the indexes.
 */
const putCalls = insertRows("put_tool_calls", toolCalls, {
  after: `on conflict (id) do update set outcome = excluded.outcome, failure = excluded.failure, message = excluded.message,
     sealed_message = excluded.sealed_message, account_id = excluded.account_id,
     provider_status = excluded.provider_status, result = excluded.result, is_truncated = excluded.is_truncated,
     idempotency_key = case when tool_calls.idempotency_key is not null then excluded.idempotency_key end,
     replay = excluded.replay, duration_ms = excluded.duration_ms, provider_ms = excluded.provider_ms
   where tool_calls.outcome = 'running'`,
});

/** Writes a batch of calls, all or nothing. No two of them are the same call. */
export async function putToolCalls(db: Executor, calls: readonly CallRecord[]): Promise<void> {
  await putCalls(db, calls.map(storedCall));
}
