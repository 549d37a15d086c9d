import { type Batcher, createBatcher, type ProjectId, type QuotaName, type Quotas, quotaOf, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { quotasDocument } from "../documents/document.ts";
import { projectPolicies } from "../schema/projects.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** A quota is reached: how much there may be, and how much there is. Nothing was stored. */
export type QuotaReached = { readonly quotaReached: { readonly most: number; readonly used: number } };

/** By primary key. */
const selectQuotas = statement<{ quotas: string }>(
  "read_quotas",
  "select quotas::text as quotas from project_policies where project_id = $1::uuid",
);

/** Touches no row: whoever would pass a quota waits for those who are about to. */
const lockJobs = statement<{ locked: string }>(
  "lock_project_jobs",
  "select pg_advisory_xact_lock(hashtextextended('svc.jobs.' || $1::uuid, 0))::text as locked",
);

/** What is set of a project's quotas. */
async function readQuotas(db: Executor, projectId: ProjectId): Promise<Quotas> {
  const [row] = await selectQuotas(db, [uuidOfId(projectId)]);
  return row === undefined ? {} : quotasDocument.read(JSON.parse(row.quotas));
}

/** Keeps other transactions from adding jobs to a project that is close to its quota, until this one ends. */
export async function lockJobQuota(tx: Executor, projectId: ProjectId): Promise<void> {
  await lockJobs(tx, [uuidOfId(projectId)]);
}

/**
 * Whether `more` would pass a quota; asked in a transaction in which nobody else can add any. `count` is asked for no more than
 * it has to know.
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

const columns = selectList(projectPolicies, ["projectId", "httpHosts"]);

/** By primary key. Runs for every request of an http step, and for every submission of a program with one. */
const selectHosts = statement<RawRow<{ projectId: ProjectId; httpHosts: string[] }>>(
  "read_http_hosts",
  `select ${columns.text} from project_policies where project_id = any($1::uuid[])`,
);

const batchers = new WeakMap<object, Batcher<ProjectId, ReadonlySet<string>>>();

/** The hosts that http steps of a project may call, as its policy says now; questions that come together share a statement. */
export function readHttpHosts(db: Executor, projectId: ProjectId): Promise<ReadonlySet<string>> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<ProjectId, ReadonlySet<string>>({
      sizeMax: 200,
      concurrency: 2,
      besideMin: 32,
      async run(ids) {
        const rows = await selectHosts(db, [arrayLiteral([...new Set(ids)].map(uuidOfId))]);
        const hosts = new Map(rows.map(columns.read).map((policy) => [policy.projectId, new Set(policy.httpHosts)]));
        return ids.map((id) => hosts.get(id) ?? new Set<string>());
      },
    });
    batchers.set(db, batcher);
  }
  return batcher.add(projectId);
}
