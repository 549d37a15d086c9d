import { type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { liveEpochs } from "../deliveries/epoch.ts";
import { subscriptions } from "../schema/index.ts";
import type { AskEndpointEventType } from "../schema/words.ts";
import { scanOf, walkRowsMax } from "../sql/filter.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";
import { statement } from "../sql/statement.ts";
import type { NewSubscription, Subscription } from "./repo.ts";

const ofLane = { project_id: "$1::uuid", subscription_id: "$2::uuid" };
const scan = scanOf("deliveries", "project_id, subscription_id, id, state, last_attempt_at", {
  key: ofLane,
  // Another index of deliveries begins with the project too.
  condition: "subscription_id = $2::uuid",
  from: `'${firstUuid}'::uuid`,
  before: `'${lastUuid}'::uuid`,
  max: String(walkRowsMax),
});

/** By deliveries_subscription, from the newest on, until one that was delivered. */
const selectSuccess = statement<{ at: number }>(
  "find_last_success",
  `select (extract(epoch from w.last_attempt_at) * 1000)::float8 as at from (${scan}) w where w.state = 'delivered' order by w.project_id desc, w.id desc limit 1`,
);

/** By the key of tasks, in each of its epochs; no further than $2 rows. */
const countPending = statement<{ count: number }>(
  "count_subscription_deliveries",
  `select count(*)::int4 as count from (
     select from delivery_tasks where epoch = any${liveEpochs} and subscription_id = $1::uuid limit $2::int4) t`,
);

/** How far the deliveries to a subscription are. */
export type SubscriptionProgress = {
  /** When the newest delivery that succeeded, of the newest 20,000, was delivered; epoch milliseconds. */
  readonly lastSuccessAt: number | undefined;
  /** Exact up to 10,000. */
  readonly pending: number;
};

const countedMax = 10_000;

/** Reads it, for one subscription that the project has. */
export async function readSubscriptionProgress(
  db: Executor,
  projectId: ProjectId,
  id: SubscriptionId,
): Promise<SubscriptionProgress> {
  const subscription = uuidOfId(id);
  const [[success], [pending]] = await Promise.all([
    selectSuccess(db, [uuidOfId(projectId), subscription]),
    countPending(db, [subscription, countedMax]),
  ]);
  return {
    lastSuccessAt: success?.at,
    pending: pending?.count ?? 0,
  };
}

/** The endpoints that a project's asks are published to. Health and delivery are those of subscriptions; routing knows none of them. */
type AskEndpointRepository = {
  create(
    endpoint: Pick<NewSubscription, "id" | "endpointUrl" | "signingSecret" | "createdAt"> & {
      readonly eventTypes?: readonly AskEndpointEventType[];
    },
  ): Promise<Subscription>;
  /** Newest first, from after `after`. */
  list(page: { after: SubscriptionId | undefined; limit: number }): Promise<Subscription[]>;
  /** Those that are posted something of a type, newest first. */
  listActive(type: AskEndpointEventType): Promise<SubscriptionId[]>;
  /** False when there was none. */
  delete(id: SubscriptionId): Promise<boolean>;
};

/** The ask endpoints of one project. */
export function askEndpointsForProject(db: Executor, projectId: ProjectId): AskEndpointRepository {
  // The condition of subscriptions_asks in its words: a plan for any value knows no other.
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
      // Ids sort as their keys do; asked for an order, the store may go through the endpoints of all projects.
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
