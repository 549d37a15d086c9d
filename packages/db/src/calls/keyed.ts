import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";
import { type CallRecord, insertKeyedToolCalls } from "./put.ts";

/** A call that holds an idempotency key. */
export type KeyHolder = {
  id: Id<"call">;
  accessClass: string;
  outcome: string;
  argumentsDigest: Buffer;
  replay: Buffer | undefined;
  createdAt: number;
};

/**
 * What becomes of a `running` call whose node is gone: a write may have been executed, and goes on binding its key; a read left
 * nothing in doubt, and frees it. For the SET of an UPDATE.
 */
export const doubted = `outcome = case access_class when 'read' then 'timeout' else 'outcome_unknown' end,
     idempotency_key = case access_class when 'read' then null else idempotency_key end`;

// Served by `tool_calls_idempotency_key`, which holds at most one row a key.
const selectHolder = statement<{
  id: string;
  access_class: string;
  outcome: string;
  arguments_digest: Buffer;
  replay: Buffer | null;
  created_at: string;
}>(
  "find_idempotency_key",
  `select id, access_class, outcome, arguments_digest, replay, created_at from tool_calls
   where project_id = $1::uuid and idempotency_key = $2::text`,
);

const releaseKey = statement<{ id: string }>(
  "release_idempotency_key",
  `update tool_calls set idempotency_key = null where project_id = $1::uuid and idempotency_key = $2::text and id = $3::uuid
   returning id`,
);

const doubtRunning = statement<{ id: string }>(
  "doubt_running_call",
  `update tool_calls set ${doubted}, message = $3::text
   where project_id = $1::uuid and id = $2::uuid and outcome = 'running' returning id`,
);

/**
 * Begins calls under their idempotency keys: inserts those whose key is free. Of any number of callers at once one inserts. Answers,
 * in order, whether each was inserted. One round trip.
 */
export function beginKeyedCalls(
  db: Executor,
  calls: readonly (CallRecord & { idempotencyKey: string })[],
): Promise<boolean[]> {
  return insertKeyedToolCalls(db, calls);
}

/** Which of the keys are held, by `<project uuid>/<key>`. */
const selectHolders = statement<{
  id: string;
  project_id: string;
  idempotency_key: string;
  access_class: string;
  outcome: string;
  arguments_digest: Buffer;
  replay: Buffer | null;
  created_at: string;
}>(
  "find_idempotency_keys",
  `select c.id, c.project_id, c.idempotency_key, c.access_class, c.outcome, c.arguments_digest, c.replay, c.created_at
   from unnest($1::uuid[], $2::text[]) as wanted(project_id, idempotency_key)
   join tool_calls c using (project_id, idempotency_key)`,
);

/** The calls that hold idempotency keys, one a key in order; undefined for a key that none holds. One round trip. */
export async function findKeyHolders(
  db: Executor,
  keys: readonly { projectId: ProjectId; key: string }[],
): Promise<(KeyHolder | undefined)[]> {
  const rows = await selectHolders(db, [
    arrayLiteral(keys.map(({ projectId }) => uuidOfId(projectId))),
    arrayLiteral(keys.map(({ key }) => key)),
  ]);
  const holders = new Map(rows.map((row) => [`${row.project_id}/${row.idempotency_key}`, holderOf(row)]));
  return keys.map(({ projectId, key }) => holders.get(`${uuidOfId(projectId)}/${key}`));
}

/** The call that holds an idempotency key of a project. */
export async function findKeyHolder(db: Executor, projectId: ProjectId, key: string): Promise<KeyHolder | undefined> {
  const [row] = await selectHolder(db, [uuidOfId(projectId), key]);
  return row && holderOf(row);
}

function holderOf(row: {
  id: string;
  access_class: string;
  outcome: string;
  arguments_digest: Buffer;
  replay: Buffer | null;
  created_at: string;
}): KeyHolder {
  return {
    id: idOfUuid("call", row.id),
    accessClass: row.access_class,
    outcome: row.outcome,
    argumentsDigest: row.arguments_digest,
    replay: row.replay ?? undefined,
    createdAt: Date.parse(row.created_at),
  };
}

/** Takes the key from a call that holds it; false when it does not hold it any more. */
export async function releaseIdempotencyKey(
  db: Executor,
  { projectId, key, id }: { projectId: ProjectId; key: string; id: Id<"call"> },
): Promise<boolean> {
  return (await releaseKey(db, [uuidOfId(projectId), key, uuidOfId(id)])).length > 0;
}

/** Ends a call whose node is gone, as `doubted` says. False when it was settled meanwhile. */
export async function doubtRunningCall(
  db: Executor,
  { projectId, id, message }: { projectId: ProjectId; id: Id<"call">; message: string },
): Promise<boolean> {
  return (await doubtRunning(db, [uuidOfId(projectId), uuidOfId(id), message])).length > 0;
}
