import { type DeliveryId, type EventId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { and, desc, eq, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { deliveries, deliveryAttempts, deliveryTasks } from "../schema/index.ts";

/** A delivery; `dueAt` is when it is tried next, null once it has ended. */
export type Delivery = typeof deliveries.$inferSelect & { dueAt: number | null };

/** One stored attempt. */
export type DeliveryAttempt = typeof deliveryAttempts.$inferSelect;

/** Deliveries of one project. */
export type DeliveryRepository = {
  find(id: DeliveryId): Promise<Delivery | undefined>;
  /** Newest first, from after `after`; both filters combine. */
  list(
    filter: { eventId: EventId | undefined; subscriptionId: SubscriptionId | undefined },
    page: { after: DeliveryId | undefined; limit: number },
  ): Promise<Delivery[]>;
  findMany(ids: readonly DeliveryId[]): Promise<Delivery[]>;
  /** Newest first. */
  listAttempts(id: DeliveryId): Promise<DeliveryAttempt[]>;
};

/** The deliveries of one project. */
export function deliveriesForProject(db: Executor, projectId: ProjectId): DeliveryRepository {
  const select = () =>
    db.orm
      .select({ delivery: deliveries, dueAt: deliveryTasks.dueAt })
      .from(deliveries)
      .leftJoin(deliveryTasks, eq(deliveryTasks.deliveryId, deliveries.id));
  const flat = (rows: { delivery: typeof deliveries.$inferSelect; dueAt: number | null }[]) =>
    rows.map((row) => ({ ...row.delivery, dueAt: row.dueAt }));
  return {
    async find(id) {
      return flat(await select().where(and(eq(deliveries.projectId, projectId), eq(deliveries.id, id))))[0];
    },
    async list(filter, page) {
      const rows = await select()
        .where(
          and(
            eq(deliveries.projectId, projectId),
            filter.eventId === undefined ? undefined : eq(deliveries.eventId, filter.eventId),
            filter.subscriptionId === undefined ? undefined : eq(deliveries.subscriptionId, filter.subscriptionId),
            page.after === undefined ? undefined : sql`${deliveries.id} < ${uuidOfId(page.after)}::uuid`,
          ),
        )
        .orderBy(desc(deliveries.id))
        .limit(page.limit);
      return flat(rows);
    },
    async findMany(ids) {
      const uuids = sql.param(ids.map(uuidOfId));
      return flat(
        await select()
          .where(and(eq(deliveries.projectId, projectId), sql`${deliveries.id} = any(${uuids}::uuid[])`))
          .orderBy(desc(deliveries.id)),
      );
    },
    listAttempts: (id) =>
      db.orm
        .select()
        .from(deliveryAttempts)
        .where(and(eq(deliveryAttempts.projectId, projectId), eq(deliveryAttempts.deliveryId, id)))
        .orderBy(desc(deliveryAttempts.number)),
  };
}
