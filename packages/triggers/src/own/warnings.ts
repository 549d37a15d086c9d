import { isoTime, type ProjectId, type QuotaName, quotaOf, type Sweep } from "@svc/core";
import { type Database, type Executor, withTransaction } from "@svc/db/connect";
import {
  findOperationalProjects,
  type OperationalEvent,
  type OperationalFilters,
  occurrenceOf,
  publishOperationalEvents,
} from "@svc/db/events/operational";
import { findProject, type Project } from "@svc/db/projects/repo";
import { usageOfProject } from "@svc/db/projects/usage";
import { webhookSecretsForProject } from "@svc/db/secrets/webhook-secrets";

const everyMs = 600_000;
const projectsMax = 100;
const dayMs = 86_400_000;
/** Part of a quota's limit from which a project is warned. */
const nearShare = 0.8;
/** Time before the end of a webhook secret from which a project is warned, in milliseconds. */
const secretNoticeMs = 3 * dayMs;

type Warning = OperationalEvent<"quota_near" | "secret_expiring">;

/** Dependencies of the sweep that warns projects. `onDue`: called if there are deliveries to send. */
type WarningOptions = {
  readonly db: Database;
  /** Applies the filters of subscriptions to the warnings, which are operational events. */
  readonly filters: OperationalFilters;
  readonly onDue: () => void;
};

/**
 * Returns the sweep that warns projects every ten minutes, at most once a day for each cause: by the operational event `quota_near` of a quota
 * that is nearly used up, and by `secret_expiring` of a webhook secret that ends soon. It counts only for projects that receive operational
 * events.
 */
export function warningSweep({ db, filters, onDue }: WarningOptions): Sweep {
  return {
    what: "quotas and webhook secrets",
    everyMs,
    async *round(nowMs) {
      let after: ProjectId | undefined;
      do {
        const ids = await findOperationalProjects(db, after, projectsMax);
        for (const id of ids) {
          const warnings = await warningsOf(db, id, nowMs);
          if (await publishWarnings({ db, filters }, warnings, nowMs)) onDue();
        }
        after = ids.length < projectsMax ? undefined : ids.at(-1);
        yield after !== undefined;
      } while (after !== undefined);
    },
  };
}

function publishWarnings(
  { db, filters }: Pick<WarningOptions, "db" | "filters">,
  warnings: readonly Warning[],
  nowMs: number,
): Promise<boolean> {
  const eventsOf = (received: readonly Warning[]) => received;
  return withTransaction(db, (tx) => publishOperationalEvents(tx, warnings, eventsOf, { filters, nowMs }));
}

async function warningsOf(db: Database, projectId: ProjectId, nowMs: number): Promise<Warning[]> {
  const project = await findProject(db, projectId);
  if (project === undefined) return [];
  return [...(await quotaWarnings(db, project, nowMs)), ...(await secretWarnings(db, projectId, nowMs))];
}

/**
 * Counts of the quotas that svc counts for all nodes together. A count stops at `most`. The other quotas limit what happens in a second or at
 * one moment, so a warning would come too late.
 */
function countsOf(db: Executor, id: ProjectId): Partial<Record<QuotaName, (most: number) => Promise<number>>> {
  const usage = usageOfProject(db, id);
  return {
    subscriptions: usage.countSubscriptions,
    entitySubscriptions: usage.countEntitySubscriptions,
    pendingDeliveries: usage.countDeliveries,
    jobs: usage.countJobs,
    privateToolkits: usage.countToolkits,
    storedBytes: usage.measureStorage,
  };
}

async function quotaWarnings(db: Executor, { id: projectId, quotas }: Project, nowMs: number): Promise<Warning[]> {
  const found: Warning[] = [];
  for (const [name, count] of Object.entries(countsOf(db, projectId))) {
    const quota = name as QuotaName;
    const limit = quotaOf(quotas, quota);
    if (limit === Number.POSITIVE_INFINITY) continue;
    const used = await count(limit);
    if (used < nearShare * limit) continue;
    const occurrence = occurrenceOf(projectId, quota, dayOf(nowMs));
    found.push({ name: "quota_near", projectId, entityId: "", occurrence, payload: { quota, used, limit } });
  }
  return found;
}

async function secretWarnings(db: Executor, projectId: ProjectId, nowMs: number): Promise<Warning[]> {
  const ending = await webhookSecretsForProject(db, projectId).listLast(nowMs, nowMs + secretNoticeMs);
  return ending.map(({ id: secretId, toolkitSlug, endsAt }) => ({
    ...{ name: "secret_expiring", projectId, entityId: "", occurrence: occurrenceOf(secretId, dayOf(nowMs)) },
    payload: { secretId, toolkitSlug, endsAt: isoTime(endsAt ?? nowMs) },
  }));
}

/** Returns the number of the day in UTC, for keys of occurrences. */
function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}
