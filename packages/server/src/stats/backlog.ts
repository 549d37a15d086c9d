import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Clock, ProjectId } from "@svc/core";
import {
  backlogAges,
  backlogMax,
  countFailingEndpoints,
  countJobsByStatus,
  countWaitingForPeople,
  type PendingOfSubscription,
  readPendingBacklog,
} from "@svc/db/activity/backlog";
import { queryActivity } from "@svc/db/activity/query";
import type { Executor } from "@svc/db/connect";
import { countSuperseded } from "@svc/db/deliveries/enqueue";
import { deliveriesForProject } from "@svc/db/deliveries/repo";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { JobStatus } from "@svc/gen/jobs";
import { type GetBacklogResponse, GetBacklogResponseSchema } from "@svc/gen/stats";
import { healthMessage } from "@svc/node";

const worstMax = 20;
/**
 * Maximum number of dead letters (deliveries whose attempts are used up) for which svc checks if they were replayed later. Dead letters
 * beyond this number count as not replayed.
 */
const deadMax = 200;
const dayMs = 86_400_000;
const minuteMs = 60_000;

/** Returns the answer of GetBacklog: the work that is waiting now. */
export async function readBacklog(
  { db, clock }: { readonly db: Executor; readonly clock: Clock },
  projectId: ProjectId,
): Promise<GetBacklogResponse> {
  const nowMs = clock.now();
  const dead = {
    series: ["deliveries"],
    subject: "",
    sinceMs: nowMs - dayMs,
    untilMs: nowMs + minuteMs,
    stepMs: dayMs,
  };
  const [pending, endpoints, jobs, people, deliveries] = await Promise.all([
    readPendingBacklog(db, projectId, nowMs),
    countFailingEndpoints(db, projectId),
    countJobsByStatus(db, projectId),
    countWaitingForPeople(db, projectId, nowMs),
    queryActivity(db, projectId, "minutes", dead),
  ]);
  const { oldestAskAt } = people;
  const givenUp = sumOf(deliveries.filter(({ outcome }) => outcome === "dead_letter").map(({ count }) => count));
  return create(GetBacklogResponseSchema, {
    at: timestampFromMs(nowMs),
    pendingDeliveries: Math.min(backlogMax, sumOf(pending.map(({ count }) => count))),
    pendingByAge: [...backlogAges, 0].map((belowSeconds, age) => {
      return { belowSeconds, count: sumOf(pending.map(({ byAge }) => byAge[age] ?? 0)) };
    }),
    worstSubscriptions: await worstOf(db, projectId, pending, nowMs),
    failingSubscriptions: endpoints.failing,
    givenUpSubscriptions: endpoints.givenUp,
    deadLetters: Math.max(0, givenUp - (givenUp === 0 ? 0 : await countReplayed(db, projectId, nowMs - dayMs))),
    jobs: jobs.map(({ status, count }) => ({ status: statusOf(status), count })),
    pendingAsks: people.pendingAsks,
    ...(oldestAskAt !== null && { oldestAskAt: timestampFromMs(oldestAskAt) }),
    expiredAccounts: people.expiredAccounts,
  });
}

/** Returns how many of the newest dead letters were later sent again to the same subscription. These dead letters need no action. */
async function countReplayed(db: Executor, projectId: ProjectId, sinceMs: number): Promise<number> {
  const filter = { subscriptionId: undefined, state: "dead_letter" } as const;
  const { rows } = await deliveriesForProject(db, projectId).walk(filter, { after: undefined, limit: deadMax });
  const counted = rows.filter(({ lastAttemptAt }) => (lastAttemptAt ?? 0) >= sinceMs);
  return countSuperseded(db, projectId, counted);
}

/**
 * Returns the subscriptions with the most pending deliveries, with their health. Endpoints that receive asks (questions to people) have no
 * health record.
 */
async function worstOf(db: Executor, projectId: ProjectId, pending: readonly PendingOfSubscription[], nowMs: number) {
  const worst = pending.toSorted((a, b) => b.count - a.count).slice(0, worstMax);
  const repository = subscriptionsForProject(db, projectId);
  return Promise.all(
    worst.map(async ({ subscriptionId, count, oldestAt }) => {
      const row = await repository.find(subscriptionId);
      return {
        subscriptionId,
        pendingDeliveries: count,
        oldestAt: timestampFromMs(oldestAt),
        ...(row && { health: healthMessage(row, nowMs) }),
      };
    }),
  );
}

function statusOf(status: string): JobStatus {
  return JobStatus[status.toUpperCase() as keyof typeof JobStatus];
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
