import { type AccountId, type Id, type KeyId, type ProjectId, uuidOfId } from "@svc/core";
import { arrayLiteral, bytesArrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { type StatementParameter, statement } from "../statement.ts";

/** A row of the ledger as it is written. Sealed values are bytes. */
export type CallRecord = {
  id: Id<"call">;
  projectId: ProjectId;
  toolSlug: string;
  accessClass: string;
  entityId: string;
  accountId: AccountId | undefined;
  keyId: KeyId | undefined;
  jobId: Id<"job"> | undefined;
  stepId: string;
  outcome: string;
  message: string;
  providerStatus: number;
  argumentsDigest: Uint8Array;
  arguments: Uint8Array;
  result: Uint8Array | undefined;
  isTruncated: boolean;
  isSandbox: boolean;
  /** Undefined when the call binds no key (any more). */
  idempotencyKey: string | undefined;
  replay: Uint8Array | undefined;
  createdAt: number;
  durationMs: number;
  providerMs: number;
};

const insertCalls = `insert into tool_calls (id, project_id, tool_slug, access_class, entity_id, account_id, key_id, job_id, step_id, outcome,
     message, provider_status, arguments_digest, arguments, result, is_truncated, is_sandbox, idempotency_key, replay,
     created_at, duration_ms, provider_ms)
   select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::uuid[], $8::uuid[],
     $9::text[], $10::text[], $11::text[], $12::int4[], $13::bytea[], $14::bytea[], $15::bytea[], $16::bool[], $17::bool[],
     $18::text[], $19::bytea[], $20::timestamptz[], $21::int4[], $22::int4[])`;

/**
 * Writes calls in one statement: what is new is inserted, what was begun is settled. A settled row never changes again: only
 * one that is `running` does. A key that was taken from a running call does not come back with its outcome: another call may
 * hold it by then. Settling by primary key, inserts at the right edge of the indexes.
 */
const putCalls = statement<{ id: string }>(
  "put_tool_calls",
  `${insertCalls}
   on conflict (id) do update set outcome = excluded.outcome, message = excluded.message, account_id = excluded.account_id,
     provider_status = excluded.provider_status, result = excluded.result, is_truncated = excluded.is_truncated,
     idempotency_key = case when tool_calls.idempotency_key is not null then excluded.idempotency_key end,
     replay = excluded.replay, duration_ms = excluded.duration_ms, provider_ms = excluded.provider_ms
   where tool_calls.outcome = 'running'`,
);

/** Inserts calls whose idempotency key is free; on a key that is held, or twice in one batch, the later one is left out. */
const insertKeyedCalls = statement<{ id: string }>(
  "insert_keyed_tool_calls",
  `${insertCalls}
   on conflict (project_id, idempotency_key) where idempotency_key is not null do nothing
   returning id`,
);

/** Writes a batch of calls, all or nothing. No two of them are the same call. */
export async function putToolCalls(db: Executor, calls: readonly CallRecord[]): Promise<void> {
  await putCalls(db, parametersOf(calls));
}

/** Inserts new calls with their idempotency keys, and answers for each, in order, whether its key was free. */
export async function insertKeyedToolCalls(db: Executor, calls: readonly CallRecord[]): Promise<boolean[]> {
  const inserted = new Set((await insertKeyedCalls(db, parametersOf(calls))).map(({ id }) => id));
  return calls.map(({ id }) => inserted.has(uuidOfId(id)));
}

function parametersOf(calls: readonly CallRecord[]): StatementParameter[] {
  const column = <T>(read: (call: CallRecord) => T) => calls.map(read);
  const uuid = (id: Parameters<typeof uuidOfId>[0] | undefined) => (id === undefined ? null : uuidOfId(id));
  return [
    arrayLiteral(column(({ id }) => uuidOfId(id))),
    arrayLiteral(column(({ projectId }) => uuidOfId(projectId))),
    arrayLiteral(column(({ toolSlug }) => toolSlug)),
    arrayLiteral(column(({ accessClass }) => accessClass)),
    arrayLiteral(column(({ entityId }) => entityId)),
    arrayLiteral(column(({ accountId }) => uuid(accountId))),
    arrayLiteral(column(({ keyId }) => uuid(keyId))),
    arrayLiteral(column(({ jobId }) => uuid(jobId))),
    arrayLiteral(column(({ stepId }) => stepId)),
    arrayLiteral(column(({ outcome }) => outcome)),
    arrayLiteral(column(({ message }) => message)),
    arrayLiteral(column(({ providerStatus }) => String(providerStatus))),
    bytesArrayLiteral(column((call) => call.argumentsDigest)),
    bytesArrayLiteral(column((call) => call.arguments)),
    bytesArrayLiteral(column(({ result }) => result ?? null)),
    arrayLiteral(column(({ isTruncated }) => (isTruncated ? "t" : "f"))),
    arrayLiteral(column(({ isSandbox }) => (isSandbox ? "t" : "f"))),
    arrayLiteral(column(({ idempotencyKey }) => idempotencyKey ?? null)),
    bytesArrayLiteral(column(({ replay }) => replay ?? null)),
    arrayLiteral(column(({ createdAt }) => new Date(createdAt).toISOString())),
    arrayLiteral(column(({ durationMs }) => String(durationMs))),
    arrayLiteral(column(({ providerMs }) => String(providerMs))),
  ];
}
