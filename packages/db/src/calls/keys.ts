import { type Id, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/calls.ts";
import { fieldsOf, type Row, text } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { compareKeys, filterBy } from "../sql/filter.ts";
import { insertRows } from "../sql/insert-rows.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { type CallRecord, storedCall } from "./repo.ts";

/**
 * Inserts calls whose idempotency key is not used yet. A call is omitted if a stored call has its key, or if an earlier call of the batch
 * has the same key. Rows are inserted in the given order. If another transaction has inserted the same key and is still running, this
 * statement waits for its end.
 */
const insertKeyedCalls = insertRows("insert_keyed_tool_calls", toolCalls, {
  after: "on conflict (project_id, idempotency_key) where idempotency_key is not null do nothing returning id",
  isOftenLone: true,
});

/**
 * Inserts calls that have idempotency keys, in one round trip, but only those whose key is not used. Of concurrent callers with the same
 * key, only one inserts its call. Returns for each call, in order, true if it was inserted.
 */
export async function beginKeyedToolCalls(
  db: Executor,
  calls: readonly (CallRecord & { idempotencyKey: string })[],
): Promise<boolean[]> {
  // Every batch inserts its keys in the same order, so that two batches with the same keys do not deadlock.
  const ordered = calls.toSorted((a, b) =>
    compareKeys([a.projectId, a.idempotencyKey], [b.projectId, b.idempotencyKey]),
  );
  const inserted = new Set((await insertKeyedCalls(db, ordered.map(storedCall))).map(({ id }) => id));
  return calls.map(({ id }) => inserted.has(uuidOfId(id)));
}

type HolderColumns = Row<
  typeof toolCalls,
  "id" | "accessClass" | "outcome" | "providerStatus" | "argumentsDigest" | "isSandbox" | "replay" | "createdAt"
>;

/**
 * The stored call that has already used an idempotency key. `replay`: its stored answer; empty bytes if `result` is this answer. `result`:
 * null unless `replay` is empty.
 */
export type ToolCallKeyHolder = HolderColumns & { readonly result: Buffer | null };

/** An idempotency key, together with its project. Two projects may use the same key for different calls. */
type ToolCallKey = { readonly projectId: ProjectId; readonly key: string };

const holderColumns = selectList(
  toolCalls,
  ["id", "accessClass", "outcome", "providerStatus", "argumentsDigest", "isSandbox", "replay", "createdAt"],
  "c",
);

/** Finds the calls that used an idempotency key, by the index tool_calls_idempotency_key. There is at most one such call for each key. */
const selectHolders = compose(
  "find_idempotency_keys",
  { wanted: rows({ ...fieldsOf(toolCalls, "projectId"), key: text }) },
  ({ wanted }) => query<RawRow<HolderColumns> & { project: string; key: string; result: Buffer | null }>`
    select c.project_id as project, wanted.key, ${holderColumns.text},
      case when octet_length(c.replay) = 0 then c.result end as result from ${wanted.from("wanted")}
    join tool_calls c on c.project_id = wanted.project_id and c.idempotency_key = wanted.key`,
);

/**
 * Returns for each idempotency key, in order, the stored call that has used the key; undefined if no call has. It makes one round trip to
 * the database.
 */
export async function findToolCallKeyHolders(
  db: Executor,
  wanted: readonly ToolCallKey[],
): Promise<(ToolCallKeyHolder | undefined)[]> {
  const found = await selectHolders(db, { wanted });
  const holders = new Map(
    found.map(({ project, key, ...row }) => [`${project}/${key}`, holderColumns.read(row)] as const),
  );
  return wanted.map(({ projectId, key }) => holders.get(`${uuidOfId(projectId)}/${key}`));
}

/** Removes the idempotency key from a stored call, so that a new call can use the key. Finds the call by the primary key of tool_calls. */
const releaseKey = statement<{ id: string }>(
  "release_idempotency_key",
  `update tool_calls set idempotency_key = null
   where ${filterBy("project_id", "$1::uuid")} and ${filterBy("idempotency_key", "$2::text")} and id = $3::uuid returning id`,
);

/**
 * Removes the idempotency key from a stored call, so that a new call can use the key. Returns false if the stored call no longer has the
 * key.
 */
export async function releaseToolCallKey(
  db: Executor,
  { projectId, key, id }: ToolCallKey & { id: Id<"call"> },
): Promise<boolean> {
  return (await releaseKey(db, [uuidOfId(projectId), key, uuidOfId(id)])).length > 0;
}
