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

/** All columns of a replay, for statements in which the replay's row has the name `r`. */
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
    "onlyFailed",
    "since",
    "until",
    "ofPause",
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
    "origin",
  ],
  "r",
);

/** Reads a replay and locks its row until the end of the transaction. Finds it by the primary key of replays. */
const lockOne = statement<RawRow<ReplayRecord>>(
  "lock_replay",
  `select ${replayColumns.text} from replays r where r.id = $1::uuid for no key update`,
);

/**
 * Locks a replay until the end of the transaction, and returns it. Until then, no other transaction queues the replay's deliveries or
 * changes it. Undefined if it does not exist.
 */
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

/** Columns of a replay (repeated deliveries of past events) that change with each step of the replay. */
export type ReplayMove = ValuesOf<typeof movedFields>;

/**
 * Updates the progress of replays, each found by its primary key. The caller has locked their rows. The update changes no index (a HOT
 * update in PostgreSQL), except when a replay ends.
 */
const move = compose(
  "move_replay",
  { moved: rows(movedFields) },
  ({ moved }) => query`update replays r set ${moved.set("i", movedNames)} from ${moved.from("i")} where r.id = i.id`,
);

/** Stores the progress of a replay, whose row this transaction has locked with `lockReplay`. */
export async function moveReplay(tx: Executor, moved: ReplayMove): Promise<void> {
  await move(tx, { moved: [moved] });
}

const healthColumns = selectList(subscriptions, ["id", "active", "failingSince", "backoffUntil"], "s");

/** A subscription that a replay delivers to: its state, the health of its endpoint, and its pending deliveries. */
export type ReplayedSubscription = Readonly<
  Row<typeof subscriptions, "id" | "active" | "failingSince" | "backoffUntil">
> & {
  /** Number of pending deliveries that replays queued for the subscription, counted up to `countMax`. */
  readonly pending: number;
};

/**
 * Reads the health of the subscriptions that a replay sends to. Finds them by primary key. For each subscription, counts its low-priority
 * tasks by the index delivery_tasks_lane, at most `$2`.
 */
const readHealth = statement<RawRow<Omit<ReplayedSubscription, "pending">> & { pending: number }>(
  "read_replayed_subscriptions",
  `select ${healthColumns.text}, p.pending from subscriptions s cross join lateral (
     select count(*)::int4 as pending from (
       select from delivery_tasks t where t.epoch = ${lowPriorityEpoch} and t.subscription_id = s.id limit $2::int4 offset 0) t) p
   where s.id = any($1::uuid[])`,
);

/**
 * Returns the states of subscriptions that a replay delivers to. Deleted subscriptions are absent. `countMax`: maximum number of pending
 * deliveries to count for each subscription.
 */
export async function readReplayedSubscriptions(
  db: Executor,
  ids: readonly SubscriptionId[],
  countMax: number,
): Promise<ReplayedSubscription[]> {
  if (ids.length === 0) return [];
  return (await readHealth(db, [arrayLiteral(ids.map(uuidOfId)), countMax])).map((row) => healthColumns.read(row));
}

/** Returns how many more deliveries may be pending in a project according to its quota, but at most `most`. */
export async function findFreeDeliverySlots(db: Executor, projectId: ProjectId, most: number): Promise<number> {
  const quota = { projectId, name: "pendingDeliveries", more: most } as const;
  const reached = await findQuotaReached(db, quota, (max) => usageOfProject(db, projectId).countDeliveries(max));
  if (reached === undefined) return most;
  return Math.max(0, reached.quotaReached.most - reached.quotaReached.used);
}
