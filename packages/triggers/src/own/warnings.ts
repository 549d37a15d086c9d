import { isoTime, type ProjectId, type QuotaName, quotaOf, type Sweep } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import {
  findOperationalProjects,
  type OperationalEvent,
  type OperationalFilters,
  occurrenceOf,
  publishOperationalEvents,
} from "@svc/db/events/operational";
import { findProject, type Project } from "@svc/db/projects/repo";
import { type ProjectUsage, usageOfProject } from "@svc/db/projects/usage";
import { webhookSecretsForProject } from "@svc/db/secrets/webhook-secrets";
import { takeSweepTurn } from "@svc/db/sweep-turns/repo";

const everyMs = 600_000;
/** Pause between two measurements of stored bytes, in milliseconds. */
const measureMs = 3_600_000;
const projectsMax = 100;
const dayMs = 86_400_000;
/** Used share of a quota (0.8 is 80 %) from which svc warns the project. */
const nearShare = 0.8;
/** Number of milliseconds before a webhook secret expires at which svc warns the project. */
const secretNoticeMs = 3 * dayMs;

type Warning = OperationalEvent<"quota_near" | "secret_expiring">;

/** Dependencies of the sweep that warns projects about quotas and webhook secrets. `onDue`: called if there are deliveries to send. */
type WarningOptions = {
  readonly db: Database;
  /** Applies the filters of subscriptions to the warnings, which are operational events. */
  readonly filters: OperationalFilters;
  readonly onDue: () => void;
};

/** A check for one cause of warnings. It returns the warnings of this cause that are due for a project. */
type Check = (db: Database, project: Project, nowMs: number) => Promise<readonly Warning[]>;

/**
 * Returns a sweep (regular task) that checks all projects every ten minutes. It warns of quotas that are nearly used up, and of webhook
 * secrets that end soon. It repeats a warning at most once a day.
 */
export function warningSweep({ db, filters, onDue }: WarningOptions): Sweep {
  return {
    what: "quotas and webhook secrets",
    everyMs,
    async *round(nowMs) {
      if (!(await takeSweepTurn(db, "warnings", { nowMs, everyMs }))) return;
      const isMeasuring = await takeSweepTurn(db, "stored bytes", { nowMs, everyMs: measureMs });
      const checks = isMeasuring ? [...cheapChecks, storedBytesCheck] : cheapChecks;
      const errors: unknown[] = [];
      let after: ProjectId | undefined;
      do {
        const ids = await findOperationalProjects(db, after, projectsMax);
        for (const id of ids) {
          const project = await findProject(db, id);
          if (project === undefined) continue;
          for (const check of checks) {
            const warned = warn({ db, filters }, check(db, project, nowMs), nowMs);
            const isDue = await warned.catch((error: unknown) => void errors.push(error));
            if (isDue === true) onDue();
          }
        }
        after = ids.length < projectsMax ? undefined : ids.at(-1);
        yield after !== undefined;
      } while (after !== undefined);
      if (errors.length > 0) throw errors[0];
    },
  };
}

async function warn(
  { db, filters }: Pick<WarningOptions, "db" | "filters">,
  check: ReturnType<Check>,
  nowMs: number,
): Promise<boolean> {
  const warnings = await check;
  if (warnings.length === 0) return false;
  const eventsOf = (received: readonly Warning[]) => received;
  return withTransaction(db, (tx) => publishOperationalEvents(tx, warnings, eventsOf, { filters, nowMs }));
}

/**
 * Returns the check of a quota that svc counts for all nodes together. `count` stops at the quota's limit. The other quotas limit what
 * happens in a second or at one moment, so a warning would come too late.
 */
function quotaCheck(quota: QuotaName, count: (usage: ProjectUsage, most: number) => Promise<number>): Check {
  return async (db, { id: projectId, quotas }, nowMs) => {
    const limit = quotaOf(quotas, quota);
    if (limit === Number.POSITIVE_INFINITY) return [];
    const used = await count(usageOfProject(db, projectId), limit);
    if (used < nearShare * limit) return [];
    const occurrence = occurrenceOf(projectId, quota, dayOf(nowMs));
    return [{ name: "quota_near", projectId, entityId: "", occurrence, payload: { quota, used, limit } }];
  };
}

const checkSecrets: Check = async (db, { id: projectId }, nowMs) => {
  const ending = await webhookSecretsForProject(db, projectId).listLast(nowMs, nowMs + secretNoticeMs);
  return ending.map(({ id: secretId, toolkitSlug, endsAt }) => ({
    ...{ name: "secret_expiring", projectId, entityId: "", occurrence: occurrenceOf(secretId, dayOf(nowMs)) },
    payload: { secretId, toolkitSlug, endsAt: isoTime(endsAt ?? nowMs) },
  }));
};

const cheapChecks: readonly Check[] = [
  checkSecrets,
  quotaCheck("subscriptions", (usage) => usage.countSubscriptions()),
  quotaCheck("entitySubscriptions", (usage) => usage.countEntitySubscriptions()),
  quotaCheck("pendingDeliveries", (usage, most) => usage.countDeliveries(most)),
  quotaCheck("jobs", (usage, most) => usage.countJobs(most)),
  quotaCheck("privateToolkits", (usage) => usage.countToolkits()),
  quotaCheck("privateToolkitBytes", (usage) => usage.measureToolkits()),
];
/**
 * Check of the quota for stored bytes. It reads all data of a project, so it runs only once an hour; the other checks run every ten
 * minutes.
 */
const storedBytesCheck = quotaCheck("storedBytes", (usage) => usage.measureStorage());

/**
 * Returns the number of days (in UTC) since 1970-01-01. It is part of the key of a warning, so that a project gets each warning at most
 * once a day.
 */
function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}
