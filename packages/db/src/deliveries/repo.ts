import { type DeliveryId, type EventId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import type { AttemptEntry } from "../documents/attempt.ts";
import { deliveries } from "../schema/index.ts";

const { attemptLog, ...columns } = getTableColumns(deliveries);

/** A delivery without its attempts. */
export type Delivery = Omit<typeof deliveries.$inferSelect, "attemptLog">;

/** Deliveries of one project. */
export type DeliveryRepository = {
  find(id: DeliveryId): Promise<Delivery | undefined>;
  /** Newest first, from after `after`; both filters combine. */
  list(
    filter: { eventId: EventId | undefined; subscriptionId: SubscriptionId | undefined },
    page: { after: DeliveryId | undefined; limit: number },
  ): Promise<Delivery[]>;
  /** The attempts of a delivery in order; undefined when there is no such delivery. */
  findAttempts(id: DeliveryId): Promise<readonly AttemptEntry[] | undefined>;
};

/** The deliveries of one project. */
export function deliveriesForProject(db: Executor, projectId: ProjectId): DeliveryRepository {
  const own = (id: DeliveryId) => and(eq(deliveries.projectId, projectId), eq(deliveries.id, id));
  return {
    async find(id) {
      const [row] = await db.orm.select(columns).from(deliveries).where(own(id));
      return row;
    },
    list: (filter, page) =>
      db.orm
        .select(columns)
        .from(deliveries)
        .where(
          and(
            eq(deliveries.projectId, projectId),
            filter.eventId === undefined ? undefined : eq(deliveries.eventId, filter.eventId),
            filter.subscriptionId === undefined ? undefined : eq(deliveries.subscriptionId, filter.subscriptionId),
            page.after === undefined ? undefined : sql`${deliveries.id} < ${uuidOfId(page.after)}::uuid`,
          ),
        )
        .orderBy(desc(deliveries.id))
        .limit(page.limit),
    async findAttempts(id) {
      const [row] = await db.orm.select({ attemptLog }).from(deliveries).where(own(id));
      return row?.attemptLog;
    },
  };
}
