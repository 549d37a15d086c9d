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
 * What the index of dedupe keys holds in place of project, trigger and key: the first 16 bytes of their SHA-256. Keys come in no order, so
 * on a large store each post changes another page of the index, which the log holds whole after a checkpoint: an entry of 24 bytes, not
 * of 80 to 280, makes a quarter as many pages. Costs the store one microsecond a key. The backslashes are doubled as bytea reads
 * them; no other cast of a text to its bytes may stand in an index.
 */
export const dedupeDigest = String.raw`(encode(substr(sha256(replace(project_id::text || '/' || trigger_slug || '/' || dedupe_key, '\', '\\')::bytea), 1, 16), 'hex')::uuid)`;

/** An endpoint that wants a project's events, with its health: what the delivery engine knows of the endpoint. */
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
    /** Of an ask endpoint: what is posted to it, in the words of askEndpointEventTypes; empty for asks alone. */
    eventTypes: text("event_types").array().notNull().default([]),
    /** First failure since the last success; null while the endpoint is well. */
    failingSince: time("failing_since"),
    /** Nothing is claimed for the endpoint before this; then one delivery probes it. */
    backoffUntil: time("backoff_until"),
    /** When the present backoff began: a failure of an attempt that started earlier does not double it. */
    backoffSetAt: time("backoff_set_at"),
    backoffMs: integer("backoff_ms").notNull().default(0),
    /** First of an unbroken row of 410 answers. */
    goneSince: time("gone_since"),
    goneCount: integer("gone_count").notNull().default(0),
    /** Only events of this entity are delivered; empty: of every entity, and of none. */
    entityId: text("entity_id").notNull().default(""),
    /** Of one that an agent made over MCP: the key that it did so with, and with which it ends. Null in all others. */
    keyId: idColumn("key")("key_id"),
    /** Of an agent's: what its receiver knows it by, made of key, endpoint, trigger and arguments; empty in all others. */
    mcpId: text("mcp_id").notNull().default(""),
    /** Of an agent's: a sealed position, before which nothing is pending; its deliveries carry it. */
    cursor: text("cursor").notNull().default(""),
    /** Of an agent's: when it ends unless it is refreshed. */
    expiresAt: time("expires_at"),
    /** The signing secret before this one, sealed for `<project>/subscriptions/<id>/former`; deliveries are signed with both until `formerUntil`. */
    formerSecret: bytes("former_secret"),
    formerUntil: time("former_until"),
  },
  (table) => [
    index("subscriptions_project").on(table.projectId, table.id),
    uniqueIndex("subscriptions_mcp").on(table.mcpId).where(sql`mcp_id <> ''`),
    index("subscriptions_key").on(table.keyId, table.id).where(sql`key_id is not null`),
    index("subscriptions_expires").on(table.expiresAt, table.id).where(sql`expires_at is not null`),
    // The few among any number of those to events.
    index("subscriptions_asks").on(table.projectId, table.id).where(sql`kind = 'asks'`),
  ],
);

/** A normalized inbound event of one project. Its id carries receivedAt, so the key is the time order too. */
export const events = pgTable(
  "events",
  {
    projectId: idColumn("prj")("project_id").notNull(),
    id: idColumn("evt")("id").notNull(),
    kind: oneOf(eventKinds)("kind").notNull(),
    toolkitSlug: text("toolkit_slug").notNull(),
    triggerSlug: text("trigger_slug").notNull(),
    entityId: text("entity_id").notNull(),
    /** JSON text as it is delivered: never parsed again on the way out. */
    payload: text("payload").notNull(),
    occurredAt: time("occurred_at").notNull(),
    receivedAt: time("received_at").notNull(),
    /** Of the same project and trigger no second event with this key is stored. Empty: never a duplicate. */
    dedupeKey: text("dedupe_key").notNull(),
    /** The app's own key of the account that the post named; null if it named none, or is of a version before 0.2. */
    account: text("account"),
  },
  (table) => [
    primaryKey({ name: "events_key", columns: [table.projectId, table.id] }),
    uniqueIndex("events_dedupe").on(sql.raw(dedupeDigest)).where(sql`dedupe_key <> ''`),
    // The trigger leads, so that the primary key alone fits a look-up by key: two that fit tie until statistics exist.
    index("events_trigger").on(table.triggerSlug, table.projectId, table.id),
  ],
);

/**
 * One event on its way to one subscription. States: `pending` from the insert (a row of delivery_tasks exists exactly
 * while it lasts), `delivered` after a 2xx answer, `dead_letter` after the last retry or when the subscription ends.
 * The two latter are final: a replay makes new rows.
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
    /** When it is tried next: due_at of its task; null once it has ended. */
    nextAttemptAt: time("next_attempt_at"),
    /** Every attempt as it went, in order. Part of the row: written with the state it caused, read with it, gone with it. */
    attemptLog: document(attemptLogDocument)("attempt_log").notNull().default([]),
    replayed: boolean("replayed").notNull().default(false),
  },
  (table) => [
    index("deliveries_event").on(table.projectId, table.eventId, table.id),
    index("deliveries_subscription").on(table.projectId, table.subscriptionId, table.id),
  ],
);

/**
 * The work that pending deliveries stand for, apart from them so that the queue stays small and settling a delivery
 * touches none of its indexes. Rows end with the delivery. Lease columns stand in no index: a claim is a HOT update.
 * A task waits in epoch 0 until it is due again, else it stands in the epoch of `delivery_epoch`: a look for due lanes meets neither
 * those that wait nor, after a change of the epoch, the dead rows of the time before. What a paced replay queued stands in the
 * negative of it, behind what is live.
 */
export const deliveryTasks = pgTable(
  "delivery_tasks",
  {
    deliveryId: idColumn("dlv")("delivery_id").notNull(),
    projectId: idColumn("prj")("project_id").notNull(),
    subscriptionId: idColumn("sub")("subscription_id").notNull(),
    eventId: idColumn("evt")("event_id").notNull(),
    /** Attempts of the retry schedule made so far: without those of TryNow. */
    attempts: integer("attempts").notNull().default(0),
    dueAt: time("due_at").notNull(),
    leaseOwner: idColumn("node")("lease_owner"),
    leaseUntil: time("lease_until"),
    /** 0 while it waits for a retry that is not due yet, and never leased then; negative for what a paced replay queued. */
    epoch: integer("epoch").notNull().default(1),
  },
  // The lane is the key: a task is always named with its subscription and due time, and one index serves all but the wait.
  (table) => [
    primaryKey({
      name: "delivery_tasks_lane",
      columns: [table.epoch, table.subscriptionId, table.dueAt, table.deliveryId],
    }),
    index("delivery_tasks_waiting").on(table.dueAt).where(sql`epoch = 0`),
  ],
);

/** One row: where in the key of delivery_tasks the tasks stand that do not wait. It changes under a lock on that table alone. */
export const deliveryEpoch = pgTable("delivery_epoch", {
  id: smallint("id").primaryKey(),
  epoch: integer("epoch").notNull(),
});

/** An app's own key for an account; of one project in the whole deployment. Inbound events are routed by it. */
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

/** A verified post that became no event, whole but for its secrets, until it is released or its retention ends. */
export const quarantinedPosts = pgTable(
  "quarantined_posts",
  {
    id: idColumn("qrn")("id").primaryKey(),
    toolkitSlug: text("toolkit_slug").notNull(),
    reason: oneOf(quarantineReasons)("reason").notNull(),
    detail: text("detail").notNull(),
    /** Of posts kept before version 0.2, until they are sealed; empty in any other row. */
    headers: document(headersDocument)("headers").notNull(),
    /** As `headers`. */
    query: document(queryDocument)("query").notNull(),
    /** Headers and query, sealed for the context `deployment/quarantined_posts/<id>/envelope`; null in rows of before. */
    envelope: bytes("envelope"),
    /** The raw body, sealed for the context `deployment/quarantined_posts/<id>`. */
    body: bytes("body").notNull(),
    bodyBytes: integer("body_bytes").notNull(),
    receivedAt: time("received_at").notNull(),
    releasedAt: time("released_at"),
  },
  (table) => [
    // Posts that are held and those that were released stand apart: any number of the ones would stand before the others. Lists are merged
    // from the reasons.
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
 * A range of events that is delivered again at a pace. While it is running a task of kind `replay` stands for it. The row is locked
 * by whoever queues deliveries of it or changes it, and its position moves with the deliveries that it queues: none is queued twice.
 */
export const replays = pgTable(
  "replays",
  {
    id: idColumn("rpl")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    state: oneOf(replayStates)("state").notNull(),
    /** Why nothing is queued; empty where nothing hinders it. */
    reason: oneOf(replayReasons)("reason").notNull().default(""),
    /** The subscription that it waits for; null while it waits for none. */
    waitsForId: idColumn("sub")("waits_for_id"),
    /** Empty matches every toolkit. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /** Catalog-wide slug; empty matches every trigger. */
    triggerSlug: text("trigger_slug").notNull(),
    /** Null: every subscription that was there at the start. */
    subscriptionId: idColumn("sub")("subscription_id"),
    onlyUndelivered: boolean("only_undelivered").notNull(),
    since: time("since").notNull(),
    until: time("until").notNull(),
    perSecond: integer("per_second").notNull(),
    /** Matches counted so far. */
    total: count("total"),
    /** The events from this one on are not counted yet; null once all are. */
    uncountedFromId: idColumn("evt")("uncounted_from_id"),
    queued: count("queued"),
    /** Every pair up to this one is dealt with. Bounds rather than ids: there may be no such event or subscription. */
    positionEventId: idColumn("evt")("position_event_id").notNull(),
    positionSubscriptionId: idColumn("sub")("position_subscription_id").notNull(),
    /** Until when its pace is used up: what may be queued next is the pace over the time since. */
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
