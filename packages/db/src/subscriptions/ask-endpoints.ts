import type { ProjectId, SubscriptionId } from "@svc/core";
import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { subscriptions } from "../schema/index.ts";
import type { AskEndpointEventType } from "../schema/words.ts";
import type { NewSubscription, Subscription } from "./repo.ts";

/** Endpoints that a project's asks are published to. They have the health and delivery of subscriptions, but are not part of routing. */
type AskEndpointRepository = {
  create(
    endpoint: Pick<NewSubscription, "id" | "endpointUrl" | "signingSecret" | "createdAt"> & {
      readonly eventTypes?: readonly AskEndpointEventType[];
    },
  ): Promise<Subscription>;
  /** Returns the newest first, beginning after the id `after`. */
  list(page: { after: SubscriptionId | undefined; limit: number }): Promise<Subscription[]>;
  /** Endpoints that receive a type, newest first. */
  listActive(type: AskEndpointEventType): Promise<SubscriptionId[]>;
  /** False if there was none. */
  delete(id: SubscriptionId): Promise<boolean>;
};

/** Returns the ask endpoints of one project. */
export function askEndpointsForProject(db: Executor, projectId: ProjectId): AskEndpointRepository {
  // The exact condition of subscriptions_asks: a generic plan matches no others.
  const ofProject = and(eq(subscriptions.projectId, projectId), sql`${subscriptions.kind} = 'asks'`);
  return {
    async create({ eventTypes = [], ...endpoint }) {
      const of = { ...endpoint, eventTypes: [...eventTypes] };
      const values = { ...of, projectId, kind: "asks", toolkitSlug: "", triggerSlug: "" } as const;
      const [row] = await db.orm.insert(subscriptions).values(values).returning();
      if (row === undefined) throw new Error("an insert returned no row");
      return row;
    },
    list: ({ after, limit }) =>
      db.orm
        .select()
        .from(subscriptions)
        .where(and(ofProject, after === undefined ? undefined : lt(subscriptions.id, after)))
        .orderBy(desc(subscriptions.id))
        .limit(limit),
    async listActive(type) {
      const rows = await db.orm
        .select({ id: subscriptions.id, eventTypes: subscriptions.eventTypes })
        .from(subscriptions)
        .where(and(ofProject, eq(subscriptions.active, true)));
      // Ids sort like their keys. With an ORDER BY, PostgreSQL may read the endpoints of all projects.
      return rows
        .filter(({ eventTypes }) => (eventTypes.length === 0 ? type === "ask_raised" : eventTypes.includes(type)))
        .map(({ id }) => id)
        .sort()
        .reverse();
    },
    async delete(id) {
      const rows = await db.orm
        .delete(subscriptions)
        .where(and(ofProject, eq(subscriptions.id, id)))
        .returning({ id: subscriptions.id });
      return rows.length > 0;
    },
  };
}
