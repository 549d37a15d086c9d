import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type AppNames,
  type Clock,
  callFailure,
  deliveryFailure,
  type Failure,
  type ProjectId,
  type Sealer,
  timeRange,
} from "@svc/core";
import {
  addFailureGroups,
  dayOf,
  type FailedId,
  type FailureCount,
  failureGroupsMax,
  listFailureGroups,
  type StoredFailures,
} from "@svc/db/activity/failures";
import type { Executor } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import {
  FailureGroupSchema,
  type ListFailuresRequest,
  type ListFailuresResponse,
  ListFailuresResponseSchema,
  TraceKind,
} from "@svc/gen/stats";
import { type NodeObserver, remedyMessage } from "@svc/node";

/** Failures of one project and day that this node counted, by fingerprint. The title is not encrypted yet. */
type Tally = {
  readonly projectId: ProjectId;
  readonly dayMs: number;
  readonly groups: Map<string, Omit<FailureCount, "title"> & { readonly title: string }>;
};

/** Groups of failures of this node that are not in the database yet. */
export type FailureCounters = {
  /** Counts a failure of a call, delivery or job. `id`: what failed. */
  add(projectId: ProjectId, kind: FailureCount["kind"], id: FailedId, failure: Failure): void;
  /** Stores the counts in the database. Counts that could not be stored are kept for the next time; the error is then thrown. */
  flush(db: Executor, sealer: Sealer): Promise<void>;
};

/** Maximum number of groups of all projects that a node keeps until it stores them. Further groups are not counted. */
const keptMax = 20_000;
const hourMs = 3_600_000;
const hoursOfDay = 24;

/**
 * Creates the counters of failures of a node. It keeps at most 1,000 groups for each project and day, so that failures with very many
 * different messages need little memory.
 */
export function createFailureCounters({ clock }: { readonly clock: Clock }): FailureCounters {
  let tallies = new Map<string, Tally>();
  let kept = 0;
  const tallyOf = (projectId: ProjectId, dayMs: number): Tally => {
    const key = `${projectId} ${dayMs}`;
    const known = tallies.get(key);
    if (known !== undefined) return known;
    const made: Tally = { projectId, dayMs, groups: new Map() };
    tallies.set(key, made);
    return made;
  };
  const put = ({ groups }: Tally, group: Omit<FailureCount, "title"> & { readonly title: string }) => {
    const { fingerprint } = group;
    const known = groups.get(fingerprint);
    if (known === undefined && (groups.size >= failureGroupsMax || kept >= keptMax)) return;
    if (known === undefined) kept++;
    groups.set(fingerprint, known === undefined ? group : merge(known, group));
  };
  return {
    add(projectId, kind, newestId, { fingerprint, remedies, title }) {
      const nowMs = clock.now();
      const dayMs = dayOf(nowMs);
      const hours = hoursWith(Math.floor((nowMs - dayMs) / hourMs));
      const group = { fingerprint, kind, hours, firstAt: nowMs, lastAt: nowMs, newestId, remedies, title };
      put(tallyOf(projectId, dayMs), group);
    },
    async flush(db, sealer) {
      const taken = [...tallies.values()];
      tallies = new Map();
      kept = 0;
      const errors: unknown[] = [];
      for (const tally of taken) {
        try {
          // If the database is unavailable, each further statement would only wait.
          if (errors.some(isUnavailable)) throw errors[0];
          await storeTally(db, sealer, tally);
          continue;
        } catch (error) {
          errors.push(error);
        }
        // One project must not keep the counts of others. Counts that could not be stored for a day are given up.
        if (clock.now() - tally.dayMs < 2 * hoursOfDay * hourMs)
          for (const group of tally.groups.values()) put(tallyOf(tally.projectId, tally.dayMs), group);
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}

async function storeTally(db: Executor, sealer: Sealer, tally: Tally): Promise<void> {
  const { projectId } = tally;
  await sealer.ready([projectId]);
  const groups = [...tally.groups.values()].map((group) => {
    return { ...group, title: sealer.seal(Buffer.from(group.title), titlePlace(projectId, group)) };
  });
  await addFailureGroups(db, tally, groups);
}

function hoursWith(hour: number): number[] {
  return Array.from({ length: hoursOfDay }, (_, index) => (index === hour ? 1 : 0));
}

function merge<Group extends Omit<FailureCount, "title">>(one: Group, other: Group): Group {
  const newest = other.lastAt >= one.lastAt ? other : one;
  return {
    ...newest,
    hours: one.hours.map((count, hour) => count + (other.hours[hour] ?? 0)),
    firstAt: Math.min(one.firstAt, other.firstAt),
    lastAt: Math.max(one.lastAt, other.lastAt),
  };
}

function titlePlace(projectId: ProjectId, { fingerprint }: { readonly fingerprint: string }): string {
  return `${projectId}/failure_groups/${fingerprint}/title`;
}

/**
 * Returns an observer that counts failed deliveries, calls and jobs, and then passes each report to `observer`. Calls of jobs are not
 * counted, because the failure of their job has the same cause. `appNames`: the names of apps for the sentences about failures.
 */
export function countFailures(observer: NodeObserver, counters: FailureCounters, appNames: AppNames): NodeObserver {
  const { deliveries, calls, jobs } = observer;
  return {
    ...observer,
    deliveries: {
      ...deliveries,
      attempted(attempt) {
        const { projectId, subscriptionId, deliveryId, state, error } = attempt;
        const failure = error === "" ? undefined : deliveryFailure({ subscriptionId, error, state, atMs: 0 });
        if (failure !== undefined) counters.add(projectId, "delivery", deliveryId, failure);
        deliveries.attempted(attempt);
      },
    },
    calls: {
      ...calls,
      ended(call, message) {
        const { callId, projectId, jobId, outcome } = call;
        const failure =
          outcome === "ok" || jobId !== undefined
            ? undefined
            : callFailure({ ...call, id: callId, message, entityId: "", stepId: "", createdAt: 0 }, appNames);
        if (failure !== undefined) counters.add(projectId, "call", callId, failure);
        calls.ended(call, message);
      },
    },
    jobs: {
      ...jobs,
      ended(job, failure) {
        if (failure !== undefined) counters.add(job.projectId, "job", job.jobId, failure);
        jobs.ended(job, failure);
      },
    },
  };
}

const kinds = { call: TraceKind.CALL, delivery: TraceKind.DELIVERY, job: TraceKind.JOB } as const;
const rangeDefaultMs = 86_400_000;
const groupsShownMax = 200;

/**
 * Returns the answer of ListFailures: the groups of failures of a project, those with the most failures first. Throws TIME_RANGE_INVALID.
 */
export async function listFailures(
  { db, clock, sealer }: { readonly db: Executor; readonly clock: Clock; readonly sealer: Pick<Sealer, "open"> },
  projectId: ProjectId,
  request: ListFailuresRequest,
): Promise<ListFailuresResponse> {
  const { sinceMs, untilMs = clock.now() } = timeRange(request.since, request.until);
  const fromMs = hourOf(sinceMs ?? untilMs - rangeDefaultMs);
  const hoursFromMs = hourOf(untilMs) - (hoursOfDay - 1) * hourMs;
  const rows = await listFailureGroups(db, projectId, { sinceMs: Math.min(fromMs, hoursFromMs), untilMs });
  const wanted = rows.filter(({ kind }) => request.kinds.length === 0 || request.kinds.includes(kinds[kind]));
  const groups = [...Map.groupBy(wanted, ({ fingerprint }) => fingerprint).values()]
    .map((days) => groupOf(days, { fromMs, untilMs, hoursFromMs }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || b.newest.lastAt - a.newest.lastAt)
    .slice(0, groupsShownMax);
  return create(ListFailuresResponseSchema, {
    hoursSince: timestampFromMs(hoursFromMs),
    groups: groups.map(({ newest, count, hourlyCounts, firstAt }) =>
      create(FailureGroupSchema, {
        ...{ fingerprint: newest.fingerprint, kind: kinds[newest.kind], count, hourlyCounts },
        ...{ newestId: newest.newestId, remedy: newest.remedies.map(remedyMessage) },
        title: sealer.open(newest.title, titlePlace(projectId, newest)).toString(),
        firstAt: timestampFromMs(firstAt),
        lastAt: timestampFromMs(newest.lastAt),
      }),
    ),
  });
}

function hourOf(ms: number): number {
  return ms - (ms % hourMs);
}

type Range = { readonly fromMs: number; readonly untilMs: number; readonly hoursFromMs: number };

/** Returns the sum of the days of one group. Only failures in the range count; the hourly counts are of the 24 hours before its end. */
function groupOf(days: readonly StoredFailures[], { fromMs, untilMs, hoursFromMs }: Range) {
  const newest = days.reduce((best, one) => (one.lastAt > best.lastAt ? one : best));
  const hourlyCounts = Array.from({ length: hoursOfDay }, () => 0);
  let count = 0;
  for (const { dayMs, hours } of days) {
    for (const [hour, failures] of hours.entries()) {
      const atMs = dayMs + hour * hourMs;
      if (atMs >= fromMs && atMs <= untilMs) count += failures;
      const index = (atMs - hoursFromMs) / hourMs;
      if (index >= 0 && index < hoursOfDay) hourlyCounts[index] = (hourlyCounts[index] ?? 0) + failures;
    }
  }
  return { newest, count, hourlyCounts, firstAt: Math.min(...days.map(({ firstAt }) => firstAt)) };
}
