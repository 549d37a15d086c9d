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

/**
 * Filter of deliveries. `subscriptionId`: one subscription, or all if undefined. The list has deliveries in one state, or only those that
 * failed (tried and not delivered).
 */
export type WalkedDeliveryFilter = {
  readonly subscriptionId: SubscriptionId | undefined;
  readonly state: ListedDelivery["state"] | undefined;
  readonly onlyFailed?: boolean | undefined;
};

/** Part of a list: deliveries from the id `fromUuid` (inclusive) to `beforeUuid` (exclusive), at most `limit` rows. */
export type DeliveryWalk = { readonly fromUuid: string; readonly beforeUuid: string; readonly limit: number };

/** Returns the ids of all subscriptions that have deliveries in a project, including deleted subscriptions. */
const selectQueues = statement<{ id: string }>(
  "list_delivery_lanes",
  // The project must be compared with `=`. With a row comparison, PostgreSQL used another index, which took seconds.
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
/**
 * Condition that connects the scanned deliveries with one subscription. It must be an equality. A second index of deliveries begins with
 * the project, and only an equality makes PostgreSQL choose the right index.
 */
const condition = "subscription_id = l.id";
const scan = { key: ofQueue, condition, from: "$3::uuid", before: "$4::uuid", max: "$5::int4" };

/** Reads one page of deliveries, newest first. Scans the deliveries of each subscription backward until the page is full. */
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

/** The deliveries of each subscription are scanned separately. This statement returns the highest id at which one of the scans stopped. */
const selectEnd = statement<{ id: string | null }>(
  "end_delivery_walk",
  `select e.id from ${queues} cross join lateral (${endOf("deliveries", scan)}) e order by e.id desc limit 1`,
);

/**
 * Returns the newest matching deliveries, and `walkedTo`: the next page continues below this id. Searches at most 20,000 deliveries, the
 * same number for each subscription.
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
