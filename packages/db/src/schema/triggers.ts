import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, primaryKey, smallint, text, uniqueIndex } from "drizzle-orm/pg-core";
import { attemptLogDocument } from "../documents/calls.ts";
import { headersDocument, queryDocument } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import {
  deliveryStates,
  eventKinds,
  inactiveReasons,
  quarantineReasons,
  replayReasons,
  replayStates,
  subscriptionKinds,
} from "./words.ts";

/**
 * Content of the dedupe index, instead of project, trigger and key: the first 16 bytes of their SHA-256. Keys arrive in random order, so in
 * a large database each post changes another index page, which is written to the log in full after a checkpoint. An entry of 24 bytes, not
 * of 80 to 280, needs a quarter of the pages. It costs one microsecond per key. Backslashes are doubled for bytea; an index must not
 * contain any other cast from text to bytes.
 */
export const dedupeDigest = String.raw`(encode(substr(sha256(replace(project_id::text || '/' || trigger_slug || '/' || dedupe_key, '\', '\\')::bytea), 1, 16), 'hex')::uuid)`;

/** An endpoint that receives a project's events, with its health as observed by the delivery engine. */
export const subscriptions = pgTable(
  "subscriptions",
  {
    id: idColumn("sub")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    kind: oneOf(subscriptionKinds)("kind").notNull().default("events"),
    endpointUrl: text("endpoint_url").notNull(),
    /** Empty matches every toolkit. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /** Catalog-wide slug; empty matches every trigger of the toolkit. */
    triggerSlug: text("trigger_slug").notNull(),
    active: boolean("active").notNull().default(true),
    inactiveReason: oneOf(inactiveReasons)("inactive_reason").notNull().default(""),
    /** The signing secret's text, sealed for the context `<project>/subscriptions/<id>`. */
    signingSecret: bytes("signing_secret").notNull(),
    createdAt: time("created_at").notNull(),
    /** For an ask endpoint: types posted to it, in the words of askEndpointEventTypes; empty for asks only. */
    eventTypes: text("event_types").array().notNull().default([]),
    /** First failure since the last success; null while the endpoint is healthy. */
    failingSince: time("failing_since"),
    /** No delivery is claimed before this time; then one delivery probes the endpoint. */
    backoffUntil: time("backoff_until"),
    /** Start of the current backoff: a failure of an attempt that started earlier does not double it. */
    backoffSetAt: time("backoff_set_at"),
    backoffMs: integer("backoff_ms").notNull().default(0),
    /** First of an uninterrupted series of 410 answers. */
    goneSince: time("gone_since"),
    goneCount: integer("gone_count").notNull().default(0),
    /** Only events of this entity are delivered; empty: all events, also those without an entity. */
    entityId: text("entity_id").notNull().default(""),
    /** For a subscription that an agent created over MCP: the key used, with which it ends. Null for all others. */
    keyId: idColumn("key")("key_id"),
    /** For an agent's: its id for the receiver, made of key, endpoint, trigger and arguments; empty for all others. */
    mcpId: text("mcp_id").notNull().default(""),
    /** For an agent's: a sealed position without pending deliveries before it; deliveries carry it. */
    cursor: text("cursor").notNull().default(""),
    /** For an agent's: its end, unless it is refreshed. */
    expiresAt: time("expires_at"),
    /** The previous signing secret, sealed for `<project>/subscriptions/<id>/former`; deliveries are signed with both until `formerUntil`. */
    formerSecret: bytes("former_secret"),
    formerUntil: time("former_until"),
  },
  (table) => [
    index("subscriptions_project").on(table.projectId, table.id),
    uniqueIndex("subscriptions_mcp").on(table.mcpId).where(sql`mcp_id <> ''`),
    index("subscriptions_key").on(table.keyId, table.id).where(sql`key_id is not null`),
    index("subscriptions_expires").on(table.expiresAt, table.id).where(sql`expires_at is not null`),
    // Ask endpoints: few, compared with the subscriptions to events.
    index("subscriptions_asks").on(table.projectId, table.id).where(sql`kind = 'asks'`),
  ],
);

/** A normalized incoming event of one project. Its id contains receivedAt, so the key is also the time order. */
export const events = pgTable(
  "events",
  {
    projectId: idColumn("prj")("project_id").notNull(),
    id: idColumn("evt")("id").notNull(),
    kind: oneOf(eventKinds)("kind").notNull(),
    toolkitSlug: text("toolkit_slug").notNull(),
    triggerSlug: text("trigger_slug").notNull(),
    entityId: text("entity_id").notNull(),
    /** JSON text as delivered; delivery does not parse it again. */
    payload: text("payload").notNull(),
    occurredAt: time("occurred_at").notNull(),
    receivedAt: time("received_at").notNull(),
    /** Unique per project and trigger. Empty: never a duplicate. */
    dedupeKey: text("dedupe_key").notNull(),
    /** The app's own key of the account named by the post; null if it named none, or in rows of versions before 0.2. */
    account: text("account"),
  },
  (table) => [
    primaryKey({ name: "events_key", columns: [table.projectId, table.id] }),
    uniqueIndex("events_dedupe").on(sql.raw(dedupeDigest)).where(sql`dedupe_key <> ''`),
    // The trigger leads, so that only the primary key fits a lookup by key: two matching indexes tie until statistics exist.
    index("events_trigger").on(table.triggerSlug, table.projectId, table.id),
  ],
);

/**
 * One event on its way to one subscription. States: `pending` from the insert (as long as a row of delivery_tasks exists), `delivered`
 * after a 2xx answer, `dead_letter` after the last retry or when the subscription ends. The last two are final: a replay makes new rows.
 */
export const deliveries = pgTable(
  "deliveries",
  {
    projectId: idColumn("prj")("project_id").notNull(),
    id: idColumn("dlv")("id").primaryKey(),
    eventId: idColumn("evt")("event_id").notNull(),
    subscriptionId: idColumn("sub")("subscription_id").notNull(),
    state: oneOf(deliveryStates)("state").notNull(),
    attempts: integer("attempts").notNull().default(0),
    lastError: text("last_error").notNull().default(""),
    lastAttemptAt: time("last_attempt_at"),
    /** Time of the next attempt: due_at of its task; null after the end. */
    nextAttemptAt: time("next_attempt_at"),
    /** All attempts, in order. Part of the row: written, read and deleted with it. */
    attemptLog: document(attemptLogDocument)("attempt_log").notNull().default([]),
    replayed: boolean("replayed").notNull().default(false),
  },
  (table) => [
    index("deliveries_event").on(table.projectId, table.eventId, table.id),
    index("deliveries_subscription").on(table.projectId, table.subscriptionId, table.id),
  ],
);

/**
 * Tasks of pending deliveries, a separate table, so that the queue stays small and settling a delivery changes none of its indexes. A row
 * is deleted with the end of its delivery. No index has a lease column, so a claim is a HOT update. A task that waits for a retry is in
 * epoch 0, every other in the epoch of `delivery_epoch`. A scan for due queues thus skips waiting tasks and, after a change of the epoch,
 * older dead rows. Tasks of throttled replays are in the negative epoch, with low priority.
 */
export const deliveryTasks = pgTable(
  "delivery_tasks",
  {
    deliveryId: idColumn("dlv")("delivery_id").notNull(),
    projectId: idColumn("prj")("project_id").notNull(),
    subscriptionId: idColumn("sub")("subscription_id").notNull(),
    eventId: idColumn("evt")("event_id").notNull(),
    /** Attempts counted by the retry schedule, without those of TryNow. */
    attempts: integer("attempts").notNull().default(0),
    dueAt: time("due_at").notNull(),
    leaseOwner: idColumn("node")("lease_owner"),
    leaseUntil: time("lease_until"),
    /** 0 while it waits for its retry (never leased then); negative for tasks of throttled replays. */
    epoch: integer("epoch").notNull().default(1),
  },
  // The key is the order of the queue. A task is always named with its subscription and due time, so one index serves everything except the
  // wait.
  (table) => [
    primaryKey({
      name: "delivery_tasks_lane",
      columns: [table.epoch, table.subscriptionId, table.dueAt, table.deliveryId],
    }),
    index("delivery_tasks_waiting").on(table.dueAt).where(sql`epoch = 0`),
  ],
);

/** One row: the epoch in the key of delivery_tasks for tasks that do not wait. It changes under a lock on that table only. */
export const deliveryEpoch = pgTable("delivery_epoch", {
  id: smallint("id").primaryKey(),
  epoch: integer("epoch").notNull(),
});

/** An app's own key for an account, which belongs to one project in the whole deployment. Incoming events are routed by it. */
export const accountReferences = pgTable(
  "account_references",
  {
    toolkitSlug: text("toolkit_slug").notNull(),
    reference: text("reference").notNull(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    accountId: idColumn("acc")("account_id").notNull(),
    entityId: text("entity_id").notNull(),
  },
  (table) => [
    primaryKey({ name: "account_references_key", columns: [table.toolkitSlug, table.reference] }),
    index("account_references_project").on(table.projectId, table.accountId),
  ],
);

/** A verified post that became no event, complete except its secrets, until it is released or its retention ends. */
export const quarantinedPosts = pgTable(
  "quarantined_posts",
  {
    id: idColumn("qrn")("id").primaryKey(),
    toolkitSlug: text("toolkit_slug").notNull(),
    reason: oneOf(quarantineReasons)("reason").notNull(),
    detail: text("detail").notNull(),
    /** For posts from before version 0.2, until they are sealed; empty in all other rows. */
    headers: document(headersDocument)("headers").notNull(),
    /** Like `headers`. */
    query: document(queryDocument)("query").notNull(),
    /** Headers and query, sealed for the context `deployment/quarantined_posts/<id>/envelope`; null in rows from before 0.2. */
    envelope: bytes("envelope"),
    /** The raw body, sealed for the context `deployment/quarantined_posts/<id>`. */
    body: bytes("body").notNull(),
    bodyBytes: integer("body_bytes").notNull(),
    receivedAt: time("received_at").notNull(),
    releasedAt: time("released_at"),
  },
  (table) => [
    // Held and released posts have separate indexes, because many of one kind would precede the others. Lists merge the reasons.
    index("quarantined_posts_held").on(table.reason, table.id).where(sql`released_at is null`),
    index("quarantined_posts_held_toolkit")
      .on(table.toolkitSlug, table.reason, table.id)
      .where(sql`released_at is null`),
    index("quarantined_posts_released").on(table.reason, table.id).where(sql`released_at is not null`),
    index("quarantined_posts_released_toolkit")
      .on(table.toolkitSlug, table.reason, table.id)
      .where(sql`released_at is not null`),
  ],
);

const count = (name: string) => bigint(name, { mode: "number" }).notNull().default(0);

/**
 * A range of events that is delivered again at a limited rate. While it runs, it has a task of kind `replay`. A transaction that queues its
 * deliveries or changes it locks the row, and its position moves together with the queued deliveries, so none is queued twice.
 */
export const replays = pgTable(
  "replays",
  {
    id: idColumn("rpl")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    state: oneOf(replayStates)("state").notNull(),
    /** Why nothing is queued; empty if nothing blocks it. */
    reason: oneOf(replayReasons)("reason").notNull().default(""),
    /** The subscription that it waits for; null for none. */
    waitsForId: idColumn("sub")("waits_for_id"),
    /** Empty matches every toolkit. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /** Catalog-wide slug; empty matches every trigger. */
    triggerSlug: text("trigger_slug").notNull(),
    /** Null: all subscriptions that existed at the start. */
    subscriptionId: idColumn("sub")("subscription_id"),
    onlyUndelivered: boolean("only_undelivered").notNull(),
    since: time("since").notNull(),
    until: time("until").notNull(),
    perSecond: integer("per_second").notNull(),
    /** Matches counted so far. */
    total: count("total"),
    /** First event that is not counted yet; null once all are counted. */
    uncountedFromId: idColumn("evt")("uncounted_from_id"),
    queued: count("queued"),
    /** All pairs up to this one are processed. A bound, so the event or subscription need not exist. */
    positionEventId: idColumn("evt")("position_event_id").notNull(),
    positionSubscriptionId: idColumn("sub")("position_subscription_id").notNull(),
    /** Until when its rate is used up: the next deliveries are the rate times the time since then. */
    pacedAt: time("paced_at").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    endedAt: time("ended_at"),
  },
  (table) => [
    index("replays_project").on(table.projectId, table.id),
    index("replays_unfinished").on(table.projectId).where(sql`ended_at is null`),
    index("replays_ended").on(table.endedAt).where(sql`ended_at is not null`),
  ],
);
