import { idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { deliveries } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { endOf, scanOf, type WalkedPage, walkRowsMax } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

const columns = selectList(deliveries, namesBut(deliveries, "attemptLog"), "d");

/** A delivery without its attempts. */
type ListedDelivery = Omit<Row<typeof deliveries>, "attemptLog">;

/** Filter: deliveries of one subscription or all, in one state, or with failed attempts only (tried and not delivered). */
export type WalkedDeliveryFilter = {
  readonly subscriptionId: SubscriptionId | undefined;
  readonly state: ListedDelivery["state"] | undefined;
  readonly onlyFailed?: boolean | undefined;
};

/** From `fromUuid` on, below `beforeUuid`, at most `limit` rows. */
export type DeliveryWalk = { readonly fromUuid: string; readonly beforeUuid: string; readonly limit: number };

/**
 * Subscriptions with deliveries in a project, including deleted ones, each found by one hop in deliveries_subscription. It uses an equality
 * with the project. With a row comparison, outdated statistics led to a sort of the other index that begins with the project, for each hop,
 * which took seconds.
 */
const selectQueues = statement<{ id: string }>(
  "list_delivery_lanes",
  `with recursive lanes(id) as (
     (select subscription_id from deliveries where project_id = $1::uuid order by subscription_id limit 1)
     union all
     select (select subscription_id from deliveries
       where project_id = $1::uuid and subscription_id > l.id order by subscription_id limit 1)
     from lanes l where l.id is not null)
   select id from lanes where id is not null`,
);

const ofQueue = { project_id: "$1::uuid", subscription_id: "l.id" };
const queues = "unnest($2::uuid[]) as l(id)";
/** Another index of deliveries also begins with the project; only an equality distinguishes the two. */
const condition = "subscription_id = l.id";
const scan = { key: ofQueue, condition, from: "$3::uuid", before: "$4::uuid", max: "$5::int4" };

/** By deliveries_subscription: for each queue a backward scan that ends with the page; the page itself by primary key. */
const selectWalked = statement<RawRow<ListedDelivery>>(
  "walk_deliveries",
  `with found as (
     select f.id from ${queues} cross join lateral (
       select w.id from (${scanOf("deliveries", "project_id, subscription_id, id, state, attempts", scan)}) w
       where ($6::text is null or w.state = $6::text) and (not $8::bool or (w.state <> 'delivered' and w.attempts > 0))
       order by w.project_id desc, w.id desc limit $7::int4) f
   ), page as materialized (select id from found order by id desc limit $7::int4)
   select ${columns.text} from page cross join lateral (select * from deliveries where id = page.id offset 0) d order by page.id desc`,
);

/** The highest id at which the scan of a queue stopped: below it, that queue may have more. */
const selectEnd = statement<{ id: string | null }>(
  "end_delivery_walk",
  `select e.id from ${queues} cross join lateral (${endOf("deliveries", scan)}) e order by e.id desc limit 1`,
);

/**
 * Returns the newest matching deliveries among the newest 20,000, shared by the subscriptions. The next page continues below the id where
 * the first of their scans stopped.
 */
export async function walkDeliveries(
  db: Executor,
  projectId: ProjectId,
  { subscriptionId, state, onlyFailed = false }: WalkedDeliveryFilter,
  { fromUuid, beforeUuid, limit }: DeliveryWalk,
): Promise<WalkedPage<ListedDelivery>> {
  const project = uuidOfId(projectId);
  const ids =
    subscriptionId === undefined ? (await selectQueues(db, [project])).map(({ id }) => id) : [uuidOfId(subscriptionId)];
  if (ids.length === 0) return { rows: [], walkedTo: undefined };
  const each = Math.max(1, Math.floor(walkRowsMax / ids.length));
  const place = [project, arrayLiteral(ids), fromUuid, beforeUuid, each];
  const [found, [end]] = await Promise.all([
    selectWalked(db, [...place, state ?? null, limit, onlyFailed]),
    selectEnd(db, place),
  ]);
  const rows = found.map((row) => columns.read(row));
  if (end === undefined || end.id === null) return { rows, walkedTo: undefined };
  const walkedTo = idOfUuid("dlv", end.id);
  return { rows: rows.filter(({ id }) => id >= walkedTo), walkedTo };
}
