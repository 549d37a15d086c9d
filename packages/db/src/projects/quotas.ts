import { type ProjectId, type QuotaName, type Quotas, quotaOf, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { quotasDocument } from "../documents/document.ts";
import { statement } from "../sql/statement.ts";

/** A quota that a change would exceed, so that nothing was stored. `most`: the quota. `used`: the current usage. */
export type QuotaReached = { readonly quotaReached: { readonly most: number; readonly used: number } };

/** Reads the configured quotas of a project. Finds them by the primary key of project_policies. */
const selectQuotas = statement<{ quotas: string }>(
  "read_quotas",
  "select quotas::text as quotas from project_policies where project_id = $1::uuid",
);

/**
 * Takes an advisory lock, which locks no row. Transactions that may exceed a project's quota of jobs take this lock first. So these
 * transactions run one after the other.
 */
const lockJobs = statement<{ locked: string }>(
  "lock_project_jobs",
  "select pg_advisory_xact_lock(hashtextextended('svc.jobs.' || $1::uuid, 0))::text as locked",
);

/** Returns a project's configured quotas, by name. */
async function readQuotas(db: Executor, projectId: ProjectId): Promise<Quotas> {
  const [row] = await selectQuotas(db, [uuidOfId(projectId)]);
  return row === undefined ? {} : quotasDocument.read(JSON.parse(row.quotas));
}

/**
 * Locks a project's quota of jobs until the end of the transaction, so that two transactions cannot exceed it together. Waits if another
 * transaction holds the lock.
 */
export async function lockJobQuota(tx: Executor, projectId: ProjectId): Promise<void> {
  await lockJobs(tx, [uuidOfId(projectId)]);
}

/**
 * Returns the quota and its usage if `more` additional items would exceed the quota; undefined if the items fit. Call it under a lock, so
 * that no other transaction can add items. `count` returns the usage. It receives the quota, and may stop counting at this number.
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
