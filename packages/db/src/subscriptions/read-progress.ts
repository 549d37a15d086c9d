import { type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { liveEpochs } from "../deliveries/epoch.ts";
import { scanOf, walkRowsMax } from "../sql/filter.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";
import { statement } from "../sql/statement.ts";

const ofQueue = { project_id: "$1::uuid", subscription_id: "$2::uuid" };

const scan = scanOf("deliveries", "project_id, subscription_id, id, state, last_attempt_at", {
  key: ofQueue,
  // Another index of deliveries begins with the project too.
  condition: "subscription_id = $2::uuid",
  from: `'${firstUuid}'::uuid`,
  before: `'${lastUuid}'::uuid`,
  max: String(walkRowsMax),
});

/** By deliveries_subscription, from the newest on, until one that was delivered. */
const selectSuccess = statement<{ at: number }>(
  "find_last_success",
  `select (extract(epoch from w.last_attempt_at) * 1000)::float8 as at from (${scan}) w where w.state = 'delivered' order by w.project_id desc, w.id desc limit 1`,
);

/** By the key of tasks, in each of its epochs; no further than $2 rows. */
const countPending = statement<{ count: number }>(
  "count_subscription_deliveries",
  `select count(*)::int4 as count from (
     select from delivery_tasks where epoch = any${liveEpochs} and subscription_id = $1::uuid limit $2::int4) t`,
);

/** How far the deliveries to a subscription are. */
export type SubscriptionProgress = {
  /** When the newest delivery that succeeded, of the newest 20,000, was delivered; epoch milliseconds. */
  readonly lastSuccessAt: number | undefined;
  /** Exact up to 10,000. */
  readonly pending: number;
};

const countedMax = 10_000;

/** Reads it, for one subscription that the project has. */
export async function readSubscriptionProgress(
  db: Executor,
  projectId: ProjectId,
  id: SubscriptionId,
): Promise<SubscriptionProgress> {
  const subscription = uuidOfId(id);
  const [[success], [pending]] = await Promise.all([
    selectSuccess(db, [uuidOfId(projectId), subscription]),
    countPending(db, [subscription, countedMax]),
  ]);
  return {
    lastSuccessAt: success?.at,
    pending: pending?.count ?? 0,
  };
}
