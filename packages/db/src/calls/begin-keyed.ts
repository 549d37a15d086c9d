import { uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/calls.ts";
import { insertRows } from "../sql/insert-rows.ts";
import { compareKeys } from "../sql/key-order.ts";
import { type CallRecord, storedCall } from "./put.ts";

/**
 * Inserts calls whose idempotency key is free; on a key that is held, or twice in one batch, the later one is left out. In the order that they
 * are given: one whose key another statement has just written waits for that.
 */
const insertKeyedCalls = insertRows("insert_keyed_tool_calls", toolCalls, {
  after: "on conflict (project_id, idempotency_key) where idempotency_key is not null do nothing returning id",
});

/**
 * Begins calls under their idempotency keys: inserts those whose key is free. Of any number of callers at once one inserts. Answers,
 * in order, whether each was inserted. One round trip.
 */
export async function beginKeyedToolCalls(
  db: Executor,
  calls: readonly (CallRecord & { idempotencyKey: string })[],
): Promise<boolean[]> {
  // In one order, so that two batches with the same keys do not deadlock.
  const ordered = calls.toSorted((a, b) =>
    compareKeys([a.projectId, a.idempotencyKey], [b.projectId, b.idempotencyKey]),
  );
  const inserted = new Set((await insertKeyedCalls(db, ordered.map(storedCall))).map(({ id }) => id));
  return calls.map(({ id }) => inserted.has(uuidOfId(id)));
}
