import { type DeliveryId, type EventId, isoTime, type ProjectId, type SubscriptionId, type TimeRange } from "@svc/core";
import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import type { AttemptEntry } from "../documents/calls.ts";
import { deliveries } from "../schema/index.ts";
import type { WalkedPage } from "../sql/filter.ts";
import { idBounds } from "../sql/newest-in.ts";
import { statement } from "../sql/statement.ts";
import { liveEpochs, readyEpochs } from "./epoch.ts";
import {
  type DeliveryConditions,
  listEventDeliveries,
  type WalkedDeliveryFilter,
  walkDeliveries,
} from "./list-walked.ts";

const { attemptLog, ...columns } = getTableColumns(deliveries);

/** A delivery without the log of its attempts, which `findAttempts` reads. */
export type Delivery = Omit<typeof deliveries.$inferSelect, "attemptLog">;

/**
 * Filter of a list of deliveries. An undefined field matches all. The time bounds apply to the time when a delivery was queued, epoch
 * milliseconds.
 */
export type DeliveryFilter = Partial<TimeRange> &
  DeliveryConditions & { eventId: EventId | undefined; subscriptionId: SubscriptionId | undefined };

type DeliveryPosition = { after: DeliveryId | undefined; limit: number };

/** Functions that read the deliveries of one project. */
type DeliveryRepository = {
  find(id: DeliveryId): Promise<Delivery | undefined>;
  /**
   * Returns deliveries that match all filters, newest first, beginning after `after`. Without an event, only the subscription and the times
   * filter: use `walk` for other conditions.
   */
  list(filter: DeliveryFilter, page: DeliveryPosition): Promise<Delivery[]>;
  /**
   * Returns a page of deliveries that meet the conditions. `filter` can also name one subscription. Scans at most 20,000 deliveries.
   */
  walk(filter: Partial<TimeRange> & WalkedDeliveryFilter, page: DeliveryPosition): Promise<WalkedPage<Delivery>>;
  /** Returns the attempts of a delivery in order; undefined if the delivery does not exist. */
  findAttempts(id: DeliveryId): Promise<readonly AttemptEntry[] | undefined>;
};

/** Returns the functions that read the deliveries of one project. */
export function deliveriesForProject(db: Executor, projectId: ProjectId): DeliveryRepository {
  const own = (id: DeliveryId) => and(eq(deliveries.projectId, projectId), eq(deliveries.id, id));
  return {
    async find(id) {
      const [row] = await db.orm.select(columns).from(deliveries).where(own(id));
      return row;
    },
    list: (filter, page) => {
      const { eventId } = filter;
      const { fromUuid, beforeUuid } = idBounds(filter, page.after);
      if (eventId !== undefined)
        return listEventDeliveries(db, projectId, { ...filter, eventId }, { fromUuid, beforeUuid, limit: page.limit });
      return db.orm
        .select(columns)
        .from(deliveries)
        .where(
          and(
            eq(deliveries.projectId, projectId),
            filter.subscriptionId === undefined ? undefined : eq(deliveries.subscriptionId, filter.subscriptionId),
            filter.sinceMs === undefined ? undefined : sql`${deliveries.id} >= ${fromUuid}::uuid`,
            page.after === undefined && filter.untilMs === undefined
              ? undefined
              : sql`${deliveries.id} < ${beforeUuid}::uuid`,
          ),
        )
        .orderBy(desc(deliveries.id))
        .limit(page.limit);
    },
    walk: (filter, page) =>
      walkDeliveries(db, projectId, filter, { ...idBounds(filter, page.after), limit: page.limit }),
    async findAttempts(id) {
      const [row] = await db.orm.select({ attemptLog }).from(deliveries).where(own(id));
      // Numbers the attempts from 1 again. The stored numbers count only the attempts of the retry schedule, without manual attempts.
      return row?.attemptLog.map((entry, index) => ({ ...entry, number: index + 1 }));
    },
  };
}

/**
 * Counts the tasks of pending deliveries for the metrics. It counts at most $1 rows, which limits its cost: 23 ms for 100,000 of 150,000
 * rows. It also returns PostgreSQL's own estimate of the number of rows, for the case that there are more.
 */
const countTasks = statement<{ counted: number; estimated: number }>(
  "count_delivery_tasks",
  `select (select count(*)::int4 from (select 1 from delivery_tasks where epoch = any${liveEpochs} limit $1::int4) t) as counted,
     (select greatest(reltuples, 0)::float8 from pg_class where oid = 'delivery_tasks'::regclass) as estimated`,
);

const countedMax = 100_000;

/**
 * Returns the number of pending deliveries, including those that a node is sending (leased). The number is exact up to 100,000; above, it
 * is an estimate.
 */
export async function countPendingDeliveries(db: Executor): Promise<number> {
  const [row] = await countTasks(db, [countedMax]);
  if (row === undefined) return 0;
  return row.counted < countedMax ? row.counted : Math.max(row.counted, row.estimated);
}

const pacesMax = 10_000;

/**
 * Counts due tasks that wait because of their subscription's pace (limit on deliveries), up to $1 tasks. Reads the tasks of at most 10,000
 * subscriptions.
 */
const countPaced = statement<{ count: number }>(
  "count_paced_deliveries",
  `select count(*)::int4 as count from (
     select 1 from (select subscription_id from subscription_paces limit ${pacesMax}) p cross join lateral (
       select 1 from delivery_tasks t
       where t.epoch = any${readyEpochs} and t.subscription_id = p.subscription_id and t.due_at <= $2::timestamptz
         and (t.lease_until is null or t.lease_until <= $2::timestamptz) limit $1::int4) t
     limit $1::int4) n`,
);

/**
 * Returns the number of due deliveries that wait because of their subscription's pace (its limit of deliveries per time or at the same
 * time). Counts up to 100,000.
 */
export async function countPacedDeliveries(db: Executor, nowMs: number): Promise<number> {
  const [row] = await countPaced(db, [countedMax, isoTime(nowMs)]);
  return row?.count ?? 0;
}
