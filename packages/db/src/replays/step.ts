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

/** Uses the primary key. */
const lockOne = statement<RawRow<ReplayRecord>>(
  "lock_replay",
  `select ${replayColumns.text} from replays r where r.id = $1::uuid for no key update`,
);

/** Locks a replay for the rest of the transaction: no other transaction queues its deliveries or changes it until then. */
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

/** Columns of a replay that a step changes. */
export type ReplayMove = ValuesOf<typeof movedFields>;

/** Uses the primary key. The caller has locked the row. The update is HOT, except the last one. */
const move = compose(
  "move_replay",
  { moved: rows(movedFields) },
  ({ moved }) => query`update replays r set ${moved.set("i", movedNames)} from ${moved.from("i")} where r.id = i.id`,
);

/** Writes the progress of a locked replay. */
export async function moveReplay(tx: Executor, moved: ReplayMove): Promise<void> {
  await move(tx, { moved: [moved] });
}

const healthColumns = selectList(subscriptions, ["id", "active", "failingSince", "backoffUntil"], "s");

/** Health of a subscription that a replay delivers to. */
export type ReplayedSubscription = Readonly<
  Row<typeof subscriptions, "id" | "active" | "failingSince" | "backoffUntil">
> & {
  /** Deliveries queued by replays and still pending, counted up to a maximum. */
  readonly pending: number;
};

/** Uses the primary key, and for each its low-priority queue in delivery_tasks_lane, at most $2 tasks. */
const readHealth = statement<RawRow<Omit<ReplayedSubscription, "pending">> & { pending: number }>(
  "read_replayed_subscriptions",
  `select ${healthColumns.text}, p.pending from subscriptions s cross join lateral (
     select count(*)::int4 as pending from (
       select from delivery_tasks t where t.epoch = ${lowPriorityEpoch} and t.subscription_id = s.id limit $2::int4 offset 0) t) p
   where s.id = any($1::uuid[])`,
);

/** Returns the health of subscriptions; deleted ones are absent. `countMax`: maximum pending deliveries counted. */
export async function readReplayedSubscriptions(
  db: Executor,
  ids: readonly SubscriptionId[],
  countMax: number,
): Promise<ReplayedSubscription[]> {
  if (ids.length === 0) return [];
  return (await readHealth(db, [arrayLiteral(ids.map(uuidOfId)), countMax])).map((row) => healthColumns.read(row));
}

/** Returns how many more deliveries may be pending in a project by its quota, at most `most`. */
export async function findFreeDeliverySlots(db: Executor, projectId: ProjectId, most: number): Promise<number> {
  const quota = { projectId, name: "pendingDeliveries", more: most } as const;
  const reached = await findQuotaReached(db, quota, (max) => usageOfProject(db, projectId).countDeliveries(max));
  if (reached === undefined) return most;
  return Math.max(0, reached.quotaReached.most - reached.quotaReached.used);
}
