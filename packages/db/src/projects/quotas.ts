import { type ProjectId, type QuotaName, type Quotas, quotaOf, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { quotasDocument } from "../documents/document.ts";
import { statement } from "../sql/statement.ts";

/** A reached quota: its limit and the current usage. Nothing was stored. */
export type QuotaReached = { readonly quotaReached: { readonly most: number; readonly used: number } };

/** Uses the primary key. */
const selectQuotas = statement<{ quotas: string }>(
  "read_quotas",
  "select quotas::text as quotas from project_policies where project_id = $1::uuid",
);

/** Locks no row: a transaction that may exceed a quota waits for the others that may. */
const lockJobs = statement<{ locked: string }>(
  "lock_project_jobs",
  "select pg_advisory_xact_lock(hashtextextended('svc.jobs.' || $1::uuid, 0))::text as locked",
);

/** Reads a project's configured quotas. */
async function readQuotas(db: Executor, projectId: ProjectId): Promise<Quotas> {
  const [row] = await selectQuotas(db, [uuidOfId(projectId)]);
  return row === undefined ? {} : quotasDocument.read(JSON.parse(row.quotas));
}

/** Prevents other transactions from adding jobs to a project close to its quota, until this one ends. */
export async function lockJobQuota(tx: Executor, projectId: ProjectId): Promise<void> {
  await lockJobs(tx, [uuidOfId(projectId)]);
}

/**
 * Returns the quota if `more` would exceed it. Call it in a transaction in which no other can add any. `count` need not count beyond its
 * argument.
 */
export async function findQuotaReached(
  tx: Executor,
  { projectId, name, more = 1 }: { projectId: ProjectId; name: QuotaName; more?: number },
  count: (most: number) => Promise<number>,
): Promise<QuotaReached | undefined> {
  const most = quotaOf(await readQuotas(tx, projectId), name);
  if (most === Number.POSITIVE_INFINITY) return undefined;
  const used = await count(most);
  return used + more > most ? { quotaReached: { most, used } } : undefined;
}
