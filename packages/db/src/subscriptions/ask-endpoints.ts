import type { ProjectId, SubscriptionId } from "@svc/core";
import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { subscriptions } from "../schema/index.ts";
import type { AskEndpointEventType } from "../schema/words.ts";
import type { NewSubscription, Subscription } from "./repo.ts";

/**
 * The ask endpoints of one project, to which svc sends the project's asks (questions of jobs to people). Deliveries and endpoint health
 * work as for subscriptions to events. But the routing of events to subscriptions leaves ask endpoints out.
 */
type AskEndpointRepository = {
  create(
    endpoint: Pick<NewSubscription, "id" | "endpointUrl" | "signingSecret" | "createdAt"> & {
      readonly eventTypes?: readonly AskEndpointEventType[];
    },
  ): Promise<Subscription>;
  /** Returns the ask endpoints (URLs that receive questions of jobs), newest first, beginning after the id `after`. */
  list(page: { after: SubscriptionId | undefined; limit: number }): Promise<Subscription[]>;
  /** Returns the ids of the active ask endpoints (URLs that receive questions of jobs) that subscribe to this event type, newest first. */
  listActive(type: AskEndpointEventType): Promise<SubscriptionId[]>;
  /** Deletes an ask endpoint. Returns false if the project has no such endpoint. */
  delete(id: SubscriptionId): Promise<boolean>;
};

/** Returns the functions that read and change the ask endpoints of one project (endpoints that receive questions to people). */
export function askEndpointsForProject(db: Executor, projectId: ProjectId): AskEndpointRepository {
  // Has exactly the text of the condition in the index subscriptions_asks, because PostgreSQL's generic plan uses the index only then.
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
      // Sorts the ids in code, in the order that their UUIDs have in the database. With an ORDER BY, PostgreSQL may read the endpoints of
      // all projects.
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
