import { type ProjectId, pendingCountMax, type SubscriptionId, uuidOfId } from "@svc/core";
import { type Executor, withTransaction } from "../connect.ts";
import { liveEpochs } from "../deliveries/epoch.ts";
import { scanOf, walkRowsMax } from "../sql/filter.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";
import { statement } from "../sql/statement.ts";

const ofQueue = { project_id: "$1::uuid", subscription_id: "$2::uuid" };

const scan = scanOf("deliveries", "project_id, subscription_id, id, state, last_attempt_at", {
  key: ofQueue,
  // Without this condition, PostgreSQL could use another index of deliveries that also begins with the project. With this condition, it
  // uses the index deliveries_subscription.
  condition: "subscription_id = $2::uuid",
  from: `'${firstUuid}'::uuid`,
  before: `'${lastUuid}'::uuid`,
  max: String(walkRowsMax),
});

/**
 * Finds when the last delivery to a subscription succeeded. Reads its deliveries by the index deliveries_subscription, newest first, until
 * one of them is delivered.
 */
const selectSuccess = statement<{ at: number }>(
  "find_last_success",
  `select (extract(epoch from w.last_attempt_at) * 1000)::float8 as at from (${scan}) w where w.state = 'delivered' order by w.project_id desc, w.id desc limit 1`,
);

/** Counts pending tasks of a subscription, at most $2. Uses the key of delivery_tasks, in each of its epochs (parts of the queue). */
const countPending = statement<{ count: number }>(
  "count_subscription_deliveries",
  `select count(*)::int4 as count from (
     select from delivery_tasks where epoch = any${liveEpochs} and subscription_id = $1::uuid limit $2::int4) t`,
);

/**
 * Reads the time from which the next delivery to a subscription may start, for a subscription with a pace (a limit of deliveries per time).
 * Uses the primary key of subscription_paces.
 */
const selectPace = statement<{ at: string }>(
  "find_subscription_pace",
  "select at from subscription_paces where subscription_id = $1::uuid",
);

/** Progress of the deliveries to a subscription. */
export type SubscriptionProgress = {
  /** Time of the newest successful delivery among the newest 20,000 deliveries, epoch milliseconds. Undefined if none of them succeeded. */
  readonly lastSuccessAt: number | undefined;
  /** Number of pending deliveries, counted up to `pendingCountMax`. */
  readonly pending: number;
  /**
   * Time from which the pace (a limit of deliveries per time) lets the next attempt start, epoch milliseconds. Undefined for a subscription
   * without a pace.
   */
  readonly pacedUntil: number | undefined;
};

/** Locks the queue of a subscription, so that calls of `queueWithin` for this subscription run one after another. */
const lockQueue = statement<{ locked: string }>(
  "lock_subscription_queue",
  "select pg_advisory_xact_lock(hashtextextended('svc.queue.' || $1::uuid, 0))::text as locked",
);

/**
 * Runs `queue`, which queues one delivery to a subscription, and returns its result. Runs nothing and returns undefined if the subscription
 * has `most` pending deliveries or more. Concurrent calls cannot exceed the maximum together.
 */
export function queueWithin<Result>(
  db: Executor,
  id: SubscriptionId,
  most: number,
  queue: (tx: Executor) => Promise<Result>,
): Promise<Result | undefined> {
  return withTransaction(db, async (tx) => {
    await lockQueue(tx, [uuidOfId(id)]);
    const [pending] = await countPending(tx, [uuidOfId(id), most]);
    return (pending?.count ?? 0) < most ? queue(tx) : undefined;
  });
}

/**
 * Returns how the deliveries to a subscription of the project proceed: the last success, the number of pending deliveries, and until when
 * its rate limit delays the next one.
 */
export async function readSubscriptionProgress(
  db: Executor,
  projectId: ProjectId,
  id: SubscriptionId,
): Promise<SubscriptionProgress> {
  const subscription = uuidOfId(id);
  const [[success], [pending], [paced]] = await Promise.all([
    selectSuccess(db, [uuidOfId(projectId), subscription]),
    countPending(db, [subscription, pendingCountMax]),
    selectPace(db, [subscription]),
  ]);
  return {
    lastSuccessAt: success?.at,
    pending: pending?.count ?? 0,
    pacedUntil: paced === undefined ? undefined : Math.ceil(Number(paced.at) / 1_000),
  };
}
