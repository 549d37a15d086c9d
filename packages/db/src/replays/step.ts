import { type ProjectId, type ReplayId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { lowPriorityEpoch } from "../deliveries/epoch.ts";
import { findQuotaReached } from "../projects/quotas.ts";
import { usageOfProject } from "../projects/usage.ts";
import { replays, subscriptions } from "../schema/triggers.ts";
import { fieldsOf, type Row, type ValuesOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { ReplayRecord } from "./repo.ts";

/** All columns of a replay; `r` is its row. */
const replayColumns = selectList(
  replays,
  [
    "id",
    "projectId",
    "state",
    "reason",
    "waitsForId",
    "toolkitSlug",
    "triggerSlug",
    "subscriptionId",
    "onlyUndelivered",
    "since",
    "until",
    "perSecond",
    "total",
    "uncountedFromId",
    "queued",
    "positionEventId",
    "positionSubscriptionId",
    "pacedAt",
    "createdAt",
    "updatedAt",
    "endedAt",
  ],
  "r",
);

/** By primary key. */
const lockOne = statement<RawRow<ReplayRecord>>(
  "lock_replay",
  `select ${replayColumns.text} from replays r where r.id = $1::uuid for no key update`,
);

/** Locks a replay for the rest of the transaction: nobody else queues deliveries of it, or changes it, until it ends. */
export async function lockReplay(tx: Executor, id: ReplayId): Promise<ReplayRecord | undefined> {
  const [row] = await lockOne(tx, [uuidOfId(id)]);
  return row === undefined ? undefined : replayColumns.read(row);
}

const movedNames = [
  "state",
  "reason",
  "waitsForId",
  "total",
  "uncountedFromId",
  "queued",
  "positionEventId",
  "positionSubscriptionId",
  "pacedAt",
  "updatedAt",
  "endedAt",
] as const;
const movedFields = fieldsOf(replays, "id", ...movedNames);

/** What a step changes of a replay. */
export type ReplayMove = ValuesOf<typeof movedFields>;

/** By primary key. The row is locked by then, and the update HOT but for the last. */
const move = compose(
  "move_replay",
  { moved: rows(movedFields) },
  ({ moved }) => query`update replays r set ${moved.set("i", movedNames)} from ${moved.from("i")} where r.id = i.id`,
);

/** Writes how far a locked replay came. */
export async function moveReplay(tx: Executor, moved: ReplayMove): Promise<void> {
  await move(tx, { moved: [moved] });
}

const healthColumns = selectList(subscriptions, ["id", "active", "failingSince", "backoffUntil"], "s");

/** How a subscription fares that a replay delivers to. */
export type ReplayedSubscription = Readonly<
  Row<typeof subscriptions, "id" | "active" | "failingSince" | "backoffUntil">
> & {
  /** What replays queued for it and nobody has delivered yet, as far as it was counted. */
  readonly pending: number;
};

/** By primary key, and for each the lane behind its own in delivery_tasks_lane, $2 tasks at most. */
const readHealth = statement<RawRow<Omit<ReplayedSubscription, "pending">> & { pending: number }>(
  "read_replayed_subscriptions",
  `select ${healthColumns.text}, p.pending from subscriptions s cross join lateral (
     select count(*)::int4 as pending from (
       select from delivery_tasks t where t.epoch = ${lowPriorityEpoch} and t.subscription_id = s.id limit $2::int4 offset 0) t) p
   where s.id = any($1::uuid[])`,
);

/** How these subscriptions fare; those that were deleted are missing. `countMax`: as far as what is pending is counted. */
export async function readReplayedSubscriptions(
  db: Executor,
  ids: readonly SubscriptionId[],
  countMax: number,
): Promise<ReplayedSubscription[]> {
  if (ids.length === 0) return [];
  return (await readHealth(db, [arrayLiteral(ids.map(uuidOfId)), countMax])).map((row) => healthColumns.read(row));
}

/** How many more deliveries may be pending in a project, `most` at most, by its quota. */
export async function findFreeDeliverySlots(db: Executor, projectId: ProjectId, most: number): Promise<number> {
  const quota = { projectId, name: "pendingDeliveries", more: most } as const;
  const reached = await findQuotaReached(db, quota, (max) => usageOfProject(db, projectId).countDeliveries(max));
  if (reached === undefined) return most;
  return Math.max(0, reached.quotaReached.most - reached.quotaReached.used);
}
