import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, primaryKey, smallint, text, uniqueIndex } from "drizzle-orm/pg-core";
import { attemptLogDocument } from "../documents/calls.ts";
import { headersDocument, queryDocument } from "../documents/document.ts";
import { subscriptionSettingsDocument } from "../documents/subscriptions.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import {
  deliveryStates,
  eventKinds,
  inactiveReasons,
  origins,
  pausers,
  quarantineReasons,
  replayReasons,
  replayStates,
  subscriptionKinds,
} from "./words.ts";

/**
 * Content of the index that recognizes repeated webhook posts: the first 16 bytes of the SHA-256 of project, trigger and dedupe key. The
 * digest keeps the index small: an entry takes 24 bytes, and the key itself would take 80 to 280. The size matters because keys arrive in
 * random order. In a large database, each post then changes a different index page. After a checkpoint, PostgreSQL writes such a page to
 * its log as a whole. Computing the digest takes one microsecond per key. The expression doubles backslashes, because the cast to bytea
 * reads a backslash as an escape. This cast is the only one from text to bytes that PostgreSQL allows in an index.
 */
export const dedupeDigest = String.raw`(encode(substr(sha256(replace(project_id::text || '/' || trigger_slug || '/' || dedupe_key, '\', '\\')::bytea), 1, 16), 'hex')::uuid)`;

/**
 * SQL condition for subscriptions whose endpoint fails now, or that svc has deactivated because it failed. Queries must contain exactly this
 * text, because PostgreSQL otherwise does not use the index `subscriptions_unhealthy`.
 */
export const isUnhealthy =
  "(case when active then failing_since is not null else inactive_reason in ('failing', 'gone') end)";

/**
 * Subscriptions: each is an endpoint that receives a project's events. The row also has the endpoint's health as the delivery engine
 * observed it.
 */
export const subscriptions = pgTable(
  "subscriptions",
  {
    id: idColumn("sub")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    kind: oneOf(subscriptionKinds)("kind").notNull().default("events"),
    endpointUrl: text("endpoint_url").notNull(),
    /** Slug of the toolkit (app) whose events the subscription receives. An empty text means that it receives the events of all apps. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /** Slug of the trigger whose events match, unique in the whole catalog. Empty for every trigger of the app. */
    triggerSlug: text("trigger_slug").notNull(),
    /**
     * Slugs of the triggers whose events the subscription receives, if there are several; `triggerSlug` is then empty. If this list is
     * empty, only `triggerSlug` selects the events.
     */
    triggerSlugs: text("trigger_slugs").array().notNull().default([]),
    active: boolean("active").notNull().default(true),
    inactiveReason: oneOf(inactiveReasons)("inactive_reason").notNull().default(""),
    /** The signing secret. It is encrypted for the context `<project>/subscriptions/<id>`, and cannot be decrypted for any other. */
    signingSecret: bytes("signing_secret").notNull(),
    createdAt: time("created_at").notNull(),
    /**
     * For an endpoint that receives questions to people: the types of further events that svc posts to it, in the words of
     * `askEndpointEventTypes`. Empty if it receives only questions.
     */
    eventTypes: text("event_types").array().notNull().default([]),
    /** Time of the first failure since the last success. Null while the endpoint is healthy. */
    failingSince: time("failing_since"),
    /** End of the backoff. Before this time no delivery is claimed. After it, svc sends one delivery to test the endpoint. */
    backoffUntil: time("backoff_until"),
    /**
     * Time at which the current backoff (pause before the next attempt) began. Attempts that started before may fail later. Such a failure
     * does not double the backoff, so that failures at the same time count once.
     */
    backoffSetAt: time("backoff_set_at"),
    backoffMs: integer("backoff_ms").notNull().default(0),
    /** Time since which the endpoint has answered every request with HTTP status 410 (Gone). Null if its last answer was different. */
    goneSince: time("gone_since"),
    goneCount: integer("gone_count").notNull().default(0),
    /**
     * Id of the entity (a customer or user of the project) whose events are delivered. Empty: all events are delivered, including those
     * without an entity.
     */
    entityId: text("entity_id").notNull().default(""),
    /**
     * If an agent created the subscription over MCP: the agent's key. The subscription ends when this key ends. Null for all other
     * subscriptions.
     */
    keyId: idColumn("key")("key_id"),
    /**
     * If an agent created the subscription: the id that the receiver sees, made of key, endpoint, trigger and arguments. Empty for all
     * others.
     */
    mcpId: text("mcp_id").notNull().default(""),
    /**
     * An encrypted position in the project's events, for a subscription that an agent created. All deliveries before this position have
     * ended. Deliveries contain the position, so that the agent can continue from it.
     */
    cursor: text("cursor").notNull().default(""),
    /** If an agent created the subscription: when it ends, unless the agent refreshes it. */
    expiresAt: time("expires_at"),
    /**
     * The previous signing secret, sealed for `<project>/subscriptions/<id>/former`. Until `formerUntil`, deliveries are signed with both
     * secrets.
     */
    formerSecret: bytes("former_secret"),
    formerUntil: time("former_until"),
    /** Headers and authentication of deliveries, encrypted. Null for an endpoint without them. */
    credentials: bytes("credentials"),
    /** Optional parts of the subscription. Null if it has none. */
    settings: document(subscriptionSettingsDocument)("settings"),
    /** Number of events for which the filter in `settings` had no value, since the filter was set. They were not delivered. */
    filterFaults: bigint("filter_faults", { mode: "number" }).notNull().default(0),
    /** Time at which the subscription was paused. Null if it is not paused. */
    pausedAt: time("paused_at"),
    /**
     * The replay that keeps the deliveries of a paused subscription, and sends them after the pause. Null if the subscription was never
     * paused.
     */
    pausedReplayId: idColumn("rpl")("paused_replay_id"),
    origin: oneOf(origins)("origin").notNull().default(""),
    /** Actor that paused the subscription. It stays if svc deactivates the subscription because its pause lasted too long. */
    pausedBy: oneOf(pausers)("paused_by").notNull().default(""),
  },
  (table) => [
    index("subscriptions_project").on(table.projectId, table.id),
    uniqueIndex("subscriptions_mcp").on(table.mcpId).where(sql`mcp_id <> ''`),
    index("subscriptions_key").on(table.keyId, table.id).where(sql`key_id is not null`),
    index("subscriptions_portal").on(table.projectId, table.entityId, table.id).where(sql`origin = 'portal'`),
    index("subscriptions_expires").on(table.expiresAt, table.id).where(sql`expires_at is not null`),
    // Index of ask endpoints, which are few compared with subscriptions to events.
    index("subscriptions_asks").on(table.projectId, table.id).where(sql`kind = 'asks'`),
    // The receivers of operational events, which most projects do not have.
    index("subscriptions_operational")
      // Those of one entity are found by the entity of an event, because a project may have 100,000 of them.
      .on(table.projectId, table.entityId, table.id)
      .where(sql`toolkit_slug = 'svc' or event_types <> '{}'`),
    // Endpoints that fail, or that svc has deactivated for that, so that they can be counted without the healthy ones. No other statement
    // has this condition, so that PostgreSQL does not use the index for one.
    index("subscriptions_unhealthy").on(table.projectId, table.active).where(sql.raw(isUnhealthy)),
    // Two indexes divide a project's subscriptions into those of one entity and all others. A project may have 100,000 of the former, so
    // no statement for posts reads over them to find the latter.
    index("subscriptions_entity").on(table.projectId, table.entityId, table.id).where(sql`entity_id <> ''`),
    index("subscriptions_general").on(table.projectId, table.id).where(sql`entity_id = ''`),
  ],
);

/**
 * Version numbers with which nodes check their cached subscriptions of entities. A hash of the entity (`routing_shard`) puts it into one of
 * sixteen shards of the project. A database trigger of `subscriptions` updates these rows.
 */
export const routingShards = pgTable(
  // A project without subscriptions of entities has no rows. Its first row also raises the project's routing version, so that nodes read
  // the versions of its shards from then on.
  "routing_shards",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    /** Number of the shard (group of entities), 0 to 15. */
    shard: smallint("shard").notNull(),
    /** Grows with every change of a subscription in this shard (group of entities). */
    version: bigint("version", { mode: "number" }).notNull(),
    /** Number of subscriptions, active and inactive, in this shard (group of entities). */
    subscriptions: integer("subscriptions").notNull(),
  },
  (table) => [primaryKey({ name: "routing_shards_key", columns: [table.projectId, table.shard] })],
);

/**
 * State of the pace (limit on how fast svc sends deliveries) of each subscription that has one. Every claim of deliveries locks this row.
 * So several nodes together cannot exceed the pace.
 */
export const subscriptionPaces = pgTable("subscription_paces", {
  subscriptionId: idColumn("sub")("subscription_id").primaryKey(),
  /** Earliest start of the subscription's next delivery, in microseconds since 1970. 0 until the first delivery under the rate limit. */
  at: bigint("at", { mode: "number" }).notNull().default(0),
});

/** Incoming events of projects, in normalized form. The event's id contains receivedAt, so the order of the key is the order of receipt. */
export const events = pgTable(
  "events",
  {
    projectId: idColumn("prj")("project_id").notNull(),
    id: idColumn("evt")("id").notNull(),
    kind: oneOf(eventKinds)("kind").notNull(),
    toolkitSlug: text("toolkit_slug").notNull(),
    triggerSlug: text("trigger_slug").notNull(),
    entityId: text("entity_id").notNull(),
    /** JSON text exactly as it is delivered, so that a delivery does not have to parse it. */
    payload: text("payload").notNull(),
    occurredAt: time("occurred_at").notNull(),
    receivedAt: time("received_at").notNull(),
    /** Deduplication key, unique per project and trigger. Empty: the event is never a duplicate. */
    dedupeKey: text("dedupe_key").notNull(),
    /**
     * The app's own key of the account that the webhook post named. Null if the post named no account, and in rows of versions before 0.2.
     */
    account: text("account"),
    /**
     * The span that stored the event, as a W3C `traceparent`. Deliveries of the event and runs of schedules continue its trace. Null if the
     * node made no spans.
     */
    traceparent: text("traceparent"),
  },
  (table) => [
    primaryKey({ name: "events_key", columns: [table.projectId, table.id] }),
    uniqueIndex("events_dedupe").on(sql.raw(dedupeDigest)).where(sql`dedupe_key <> ''`),
    // The index begins with the trigger's slug, not with the project. So a search by project and event id can use only the primary key. If
    // two indexes fit, PostgreSQL may choose the worse one until it has statistics.
    index("events_trigger").on(table.triggerSlug, table.projectId, table.id),
  ],
);

/**
 * Deliveries: each is one event on its way to one subscription. `pending`: from the insert on, while a row of delivery_tasks exists.
 * `delivered`: after a 2xx answer. `dead_letter`: after the last retry, or when the subscription ends. The last two states are final; a
 * replay makes new rows.
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
    /** Time of the next attempt, equal to `due_at` of the delivery's task. Null after the end of the delivery. */
    nextAttemptAt: time("next_attempt_at"),
    /** All attempts, in order. They are in the row, because they are always written, read and deleted with it. */
    attemptLog: document(attemptLogDocument)("attempt_log").notNull().default([]),
    replayed: boolean("replayed").notNull().default(false),
  },
  (table) => [
    index("deliveries_event").on(table.projectId, table.eventId, table.id),
    index("deliveries_subscription").on(table.projectId, table.subscriptionId, table.id),
  ],
);

/** Tasks of the delivery queue, one for each pending delivery. A row is deleted when its delivery ends. */
export const deliveryTasks = pgTable(
  "delivery_tasks",
  {
    deliveryId: idColumn("dlv")("delivery_id").notNull(),
    projectId: idColumn("prj")("project_id").notNull(),
    subscriptionId: idColumn("sub")("subscription_id").notNull(),
    eventId: idColumn("evt")("event_id").notNull(),
    /** Number of attempts that count for the retry schedule. Attempts that a caller requested with TryNow do not count. */
    attempts: integer("attempts").notNull().default(0),
    dueAt: time("due_at").notNull(),
    // The lease columns are in no index, so a node that takes a task changes no index.
    leaseOwner: idColumn("node")("lease_owner"),
    leaseUntil: time("lease_until"),
    /**
     * Number of the queue's part to which the task belongs.
     * - 0: the task waits for a retry and has no lease (no node works on it).
     * - Negative: a throttled replay created the task, so it has low priority.
     * - Other tasks have the number in the table `delivery_epoch`.
     */
    epoch: integer("epoch").notNull().default(1),
  },
  // The key is the order of the queue. Statements always name a task with its subscription and due time, so one index serves them all. Only
  // waiting tasks have a second index.
  (table) => [
    primaryKey({
      name: "delivery_tasks_lane",
      columns: [table.epoch, table.subscriptionId, table.dueAt, table.deliveryId],
    }),
    index("delivery_tasks_waiting").on(table.dueAt).where(sql`epoch = 0`),
  ],
);

/**
 * The current epoch, in one row: the number with which the keys of current delivery tasks begin. Scans of a new epoch skip the dead rows of
 * the old one. The epoch changes only under a lock of the table delivery_tasks.
 */
export const deliveryEpoch = pgTable("delivery_epoch", {
  id: smallint("id").primaryKey(),
  epoch: integer("epoch").notNull(),
});

/**
 * Account references: each is an app's own key for an account. In the whole deployment, a reference belongs to one project. svc routes
 * incoming events by these references.
 */
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

/**
 * Quarantined webhook posts: verified posts that became no event. A row has the complete post without its secrets. It stays until the post
 * is released or its retention ends.
 */
export const quarantinedPosts = pgTable(
  "quarantined_posts",
  {
    id: idColumn("qrn")("id").primaryKey(),
    toolkitSlug: text("toolkit_slug").notNull(),
    reason: oneOf(quarantineReasons)("reason").notNull(),
    detail: text("detail").notNull(),
    /** Headers of a webhook post from a version before 0.2, until they are sealed in `envelope`. Empty in all other rows. */
    headers: document(headersDocument)("headers").notNull(),
    /**
     * Query parameters of a webhook post that a version before 0.2 stored, until svc encrypts them in `envelope`. Empty in all other rows.
     */
    query: document(queryDocument)("query").notNull(),
    /**
     * Headers and query of the webhook post, sealed (encrypted) for the context `<project, or deployment>/quarantined_posts/<id>/envelope`.
     * Null in rows of versions before 0.2 that are not sealed yet.
     */
    envelope: bytes("envelope"),
    /** Raw body of the webhook post, encrypted. The encryption binds it to the name `<project, or deployment>/quarantined_posts/<id>`. */
    body: bytes("body").notNull(),
    bodyBytes: integer("body_bytes").notNull(),
    receivedAt: time("received_at").notNull(),
    releasedAt: time("released_at"),
    /**
     * The project whose private toolkit (an app that one project defined for itself) received the webhook post. Null for a toolkit of the
     * deployment.
     */
    projectId: idColumn("prj")("project_id"),
  },
  (table) => [
    // Posts in quarantine and released posts have separate indexes. In a shared index, a list of one kind could have to skip many posts of
    // the other kind. A list of several reasons reads the posts of each reason and merges them.
    // Posts of the deployment and those of projects have separate indexes too, so that the posts of one do not slow the lists of the other.
    index("quarantined_posts_held").on(table.reason, table.id).where(sql`released_at is null and project_id is null`),
    index("quarantined_posts_held_toolkit")
      .on(table.toolkitSlug, table.reason, table.id)
      .where(sql`released_at is null and project_id is null`),
    index("quarantined_posts_released")
      .on(table.reason, table.id)
      .where(sql`released_at is not null and project_id is null`),
    index("quarantined_posts_released_toolkit")
      .on(table.toolkitSlug, table.reason, table.id)
      .where(sql`released_at is not null and project_id is null`),
    // The indexes by toolkit begin with its slug. If two indexes began with the project, PostgreSQL could choose the worse one.
    index("quarantined_posts_project_held")
      .on(table.projectId, table.reason, table.id)
      .where(sql`released_at is null and project_id is not null`),
    index("quarantined_posts_project_held_toolkit")
      .on(table.toolkitSlug, table.projectId, table.reason, table.id)
      .where(sql`released_at is null and project_id is not null`),
    index("quarantined_posts_project_released")
      .on(table.projectId, table.reason, table.id)
      .where(sql`released_at is not null and project_id is not null`),
    index("quarantined_posts_project_released_toolkit")
      .on(table.toolkitSlug, table.projectId, table.reason, table.id)
      .where(sql`released_at is not null and project_id is not null`),
  ],
);

const count = (name: string) => bigint(name, { mode: "number" }).notNull().default(0);

/**
 * Throttled replays: each delivers a range of events again, at a limited rate. A transaction locks a replay's row before it queues
 * deliveries or changes the replay. So no delivery is queued twice.
 */
export const replays = pgTable(
  "replays",
  {
    id: idColumn("rpl")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    state: oneOf(replayStates)("state").notNull(),
    /**
     * Reason why the replay (repeated deliveries of past events) queues no deliveries at present, or why it was cancelled. Empty if nothing
     * blocks it.
     */
    reason: oneOf(replayReasons)("reason").notNull().default(""),
    /** The subscription that the replay waits for; null if it waits for none. */
    waitsForId: idColumn("sub")("waits_for_id"),
    /** Toolkit (app) whose events are replayed; empty for every toolkit. */
    toolkitSlug: text("toolkit_slug").notNull(),
    /**
     * Slug of the trigger whose events are replayed. The slug is unique in the whole catalog. An empty text means that the events of all
     * triggers are replayed.
     */
    triggerSlug: text("trigger_slug").notNull(),
    /** Subscription that receives the replay. Null: all subscriptions that existed when the replay began. */
    subscriptionId: idColumn("sub")("subscription_id"),
    onlyUndelivered: boolean("only_undelivered").notNull(),
    /** True if the replay repeats only deliveries that failed for good. `onlyUndelivered` is then true, too. */
    onlyFailed: boolean("only_failed").notNull().default(false),
    since: time("since").notNull(),
    /** End of the time range whose events are replayed. If a pause caused the replay, this is null until the pause ends. */
    until: time("until"),
    /**
     * True if a pause of the subscription caused the replay. The replay then skips every event that already has a delivery to the
     * subscription.
     */
    ofPause: boolean("of_pause").notNull().default(false),
    perSecond: integer("per_second").notNull(),
    /** Number of matching pairs of event and subscription that the replay has counted so far. */
    total: count("total"),
    /** The first event that is not counted yet. Null when all events are counted. */
    uncountedFromId: idColumn("evt")("uncounted_from_id"),
    queued: count("queued"),
    /**
     * Position of a replay, which repeats deliveries. The pairs of event and subscription are processed in order, up to this event and
     * `positionSubscriptionId`. The pair only marks the position, so its event and its subscription may be deleted.
     */
    positionEventId: idColumn("evt")("position_event_id").notNull(),
    positionSubscriptionId: idColumn("sub")("position_subscription_id").notNull(),
    /**
     * Time up to which the replay has used its permitted rate. The replay may now queue as many deliveries as its rate allows for the time
     * since then.
     */
    pacedAt: time("paced_at").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    endedAt: time("ended_at"),
    origin: oneOf(origins)("origin").notNull().default(""),
  },
  (table) => [
    index("replays_project").on(table.projectId, table.id),
    index("replays_unfinished").on(table.projectId, table.subscriptionId).where(sql`ended_at is null`),
    index("replays_ended").on(table.endedAt).where(sql`ended_at is not null`),
  ],
);
