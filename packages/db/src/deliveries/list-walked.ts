import { type EventId, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { deliveries } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { endOf, filterBy, scanOf, type WalkedPage, walkRowsMax } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

const columns = selectList(deliveries, namesBut(deliveries, "attemptLog"), "d");

/** A delivery without its attempts. */
type ListedDelivery = Omit<Row<typeof deliveries>, "attemptLog">;

/**
 * The states of deliveries for display. They divide the pending deliveries: those that wait for the first attempt (`waiting`), and those
 * that already failed (`retrying`). `failed` is the state `dead_letter`.
 */
export const deliveryKinds = ["waiting", "retrying", "failed", "delivered"] as const;

/** State of a delivery for display, such as `retrying`. It says more than the stored state `pending`. */
export type DeliveryKind = (typeof deliveryKinds)[number];

/**
 * Conditions that a delivery must meet to be listed. An undefined field does not restrict the list. `onlyFailed`: only deliveries that had
 * an attempt and are not delivered. `statusCode`: HTTP status of the latest failed attempt.
 */
export type DeliveryConditions = {
  readonly state?: ListedDelivery["state"] | undefined;
  readonly onlyFailed?: boolean | undefined;
  readonly kinds?: readonly DeliveryKind[] | undefined;
  readonly statusCode?: number | undefined;
  readonly triggerSlug?: string | undefined;
};

/** Filter of a list of deliveries. `subscriptionId`: lists only deliveries of this subscription; undefined lists those of all. */
export type WalkedDeliveryFilter = DeliveryConditions & { readonly subscriptionId: SubscriptionId | undefined };

/** SQL of a delivery's state as people see it. `of`: the row of the delivery. */
const kindOf = (of: string) =>
  `case ${of}.state when 'delivered' then 'delivered' when 'dead_letter' then 'failed' else case when ${of}.attempts = 0 then 'waiting' else 'retrying' end end`;

/**
 * Returns the SQL conditions by which a list keeps a delivery, with five parameters: those of `conditionValues`. `first`: number of the
 * first of them. The trigger is compared last, because it costs a look at the event.
 */
function keeps(of: string, first: number): string {
  const [state, failed, kinds, error, trigger] = [0, 1, 2, 3, 4].map((n) => `$${first + n}`);
  return `(${state}::text is null or ${of}.state = ${state}::text)
    and (not ${failed}::bool or (${of}.state <> 'delivered' and ${of}.attempts > 0))
    and (${kinds}::text[] is null or ${kindOf(of)} = any(${kinds}::text[]))
    and (${error}::text is null or (${of}.state <> 'delivered' and substring(${of}.last_error from '^[^ :]*') = ${error}::text))
    and (${trigger}::text is null or exists (
      select from events e where e.project_id = $1::uuid and e.id = ${of}.event_id and ${filterBy("e.trigger_slug", `${trigger}::text`)} offset 0))`;
}

function conditionValues({ state, onlyFailed = false, kinds, statusCode, triggerSlug }: DeliveryConditions) {
  const error = statusCode === undefined ? null : `http_${statusCode}`;
  return [state ?? null, onlyFailed, kinds === undefined ? null : arrayLiteral(kinds), error, triggerSlug ?? null];
}

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
       select w.id from (${scanOf("deliveries", "project_id, subscription_id, id, event_id, state, attempts, last_error", scan)}) w
       where ${keeps("w", 7)}
       order by w.project_id desc, w.id desc limit $6::int4) f
   ), page as materialized (select id from found order by id desc limit $6::int4)
   select ${columns.text} from page cross join lateral (select * from deliveries where id = page.id offset 0) d order by page.id desc`,
);

/** The deliveries of each subscription are scanned separately. This statement returns the highest id at which one of the scans stopped. */
const selectEnd = statement<{ id: string | null }>(
  "end_delivery_walk",
  `select e.id from ${queues} cross join lateral (${endOf("deliveries", scan)}) e order by e.id desc limit 1`,
);

/**
 * Returns the newest deliveries that match the filter, newest first. It reads at most 20,000 deliveries, the same number for each
 * subscription. `walkedTo`: id at which the search stopped; the next page continues below it.
 */
export async function walkDeliveries(
  db: Executor,
  projectId: ProjectId,
  { subscriptionId, ...conditions }: WalkedDeliveryFilter,
  { fromUuid, beforeUuid, limit }: DeliveryWalk,
): Promise<WalkedPage<ListedDelivery>> {
  const project = uuidOfId(projectId);
  const ids =
    subscriptionId === undefined ? (await selectQueues(db, [project])).map(({ id }) => id) : [uuidOfId(subscriptionId)];
  if (ids.length === 0) return { rows: [], walkedTo: undefined };
  const each = Math.max(1, Math.floor(walkRowsMax / ids.length));
  const place = [project, arrayLiteral(ids), fromUuid, beforeUuid, each];
  const [found, [end]] = await Promise.all([
    selectWalked(db, [...place, limit, ...conditionValues(conditions)]),
    selectEnd(db, place),
  ]);
  const rows = found.map((row) => columns.read(row));
  if (end === undefined || end.id === null) return { rows, walkedTo: undefined };
  const walkedTo = idOfUuid("dlv", end.id);
  return { rows: rows.filter(({ id }) => id >= walkedTo), walkedTo };
}

/** Reads one page of an event's deliveries, newest first, by the index deliveries_event. An event has few deliveries. */
const selectOfEvent = statement<RawRow<ListedDelivery>>(
  "list_event_deliveries",
  `select ${columns.text} from deliveries d
   where d.project_id = $1::uuid and d.event_id = $2::uuid and d.id >= $3::uuid and d.id < $4::uuid
     and ($5::uuid is null or d.subscription_id = $5::uuid) and ${keeps("d", 7)}
   order by d.id desc limit $6::int4`,
);

/** Returns the newest deliveries of one event that match the filter. The walk limits the range of ids and the number of rows. */
export async function listEventDeliveries(
  db: Executor,
  projectId: ProjectId,
  { eventId, subscriptionId, ...conditions }: WalkedDeliveryFilter & { readonly eventId: EventId },
  { fromUuid, beforeUuid, limit }: DeliveryWalk,
): Promise<ListedDelivery[]> {
  const to = subscriptionId === undefined ? null : uuidOfId(subscriptionId);
  const place = [uuidOfId(projectId), uuidOfId(eventId), fromUuid, beforeUuid, to, limit];
  return (await selectOfEvent(db, [...place, ...conditionValues(conditions)])).map((row) => columns.read(row));
}
