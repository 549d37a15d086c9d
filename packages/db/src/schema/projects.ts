import { type AgentToolGroup, type ConfirmRule, type FailureRemedy, noConfirmRule, roles } from "@svc/core";
import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { projectConfirmDocument } from "../documents/asks.ts";
import { asWritten, documentType, plainDocument, quotasDocument } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import {
  type AuditActor,
  audiences,
  erasureKinds,
  erasureStates,
  failureKinds,
  keyPurposes,
  planApprovals,
  projectHolds,
  type StoredAccessClass,
  turnedSweeps,
} from "./words.ts";

/** Number of rows that an erasure deleted, by table. */
type ErasureCounts = Readonly<Record<string, number>>;

/** Reads and writes the JSON of the column `erasures.counts`: how many rows an erasure deleted in each table. */
const erasureCountsDocument = plainDocument<ErasureCounts>("erasures.counts");

/** Reads and writes the JSON of the column `api_keys.confirm`: which calls of a key a person must confirm. */
const keyConfirmDocument = documentType<ConfirmRule>("api_keys.confirm", [asWritten]);

/**
 * Projects, the tenants of svc. `routingVersion` grows with every change of the project's subscriptions. `catalogVersion` grows with every
 * change of its private toolkits (apps that it defined itself). Nodes compare these numbers to check if their caches are current.
 */
export const projects = pgTable(
  "projects",
  {
    id: idColumn("prj")("id").primaryKey(),
    name: text("name").notNull(),
    createdAt: time("created_at").notNull(),
    routingVersion: bigint("routing_version", { mode: "number" }).notNull().default(1),
    catalogVersion: bigint("catalog_version", { mode: "number" }).notNull().default(0),
    /** Time of the first call that an agent made over MCP. Null if no agent has called the project. */
    firstAgentCallAt: time("first_agent_call_at"),
    /** State of a move of the project to another cell. While it is set, nodes of this deployment refuse calls and posts of the project. */
    hold: oneOf(projectHolds)("hold").notNull().default(""),
    /** The other cell of the move: the destination, or for `arriving` the own cell. Empty if `hold` is empty. */
    movedTo: text("moved_to").notNull().default(""),
  },
  (table) => [uniqueIndex("projects_name").on(table.name)],
);

/** Policies: settings that an administrator makes for a project. A project that has no row uses the defaults. */
export const projectPolicies = pgTable("project_policies", {
  projectId: idColumn("prj")("project_id")
    .primaryKey()
    .references(() => projects.id),
  planApproval: oneOf(planApprovals)("plan_approval").notNull().default("never"),
  /** URLs to which an OAuth connection may redirect its user. */
  redirectUrls: text("redirect_urls").array().notNull().default([]),
  /** The project's configured quotas, by name. A quota that is absent has its default. */
  quotas: document(quotasDocument)("quotas").notNull().default({}),
  /**
   * Hosts to which programs of the project may send HTTP requests, such as `api.example.com`. `parseHttpHost` (packages/core) checks each
   * host.
   */
  httpHosts: text("http_hosts").array().notNull().default([]),
  /** Rule that says which tool calls of the project's keys a person must confirm. */
  confirm: document(projectConfirmDocument)("confirm").notNull().default(noConfirmRule),
});

/** API keys of projects. Only the digest of a key's text is stored. */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: idColumn("key")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    role: oneOf(roles)("role").notNull(),
    name: text("name").notNull(),
    /** SHA-256 of the key's text. */
    digest: bytes("digest").notNull(),
    /** The first characters of the key's text, which distinguish keys in a list. */
    hint: text("hint").notNull(),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at"),
    revokedAt: time("revoked_at"),
    /** Last use of the key, accurate to a minute. A write for every call would cost too much. */
    lastUsedAt: time("last_used_at"),
    /**
     * Scope of the key: `entityId` is its only entity (customer or user), `accessClasses` and `toolkitSlugs` limit the tools it may call.
     * Empty values limit nothing.
     */
    entityId: text("entity_id").notNull().default(""),
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull().default([]),
    toolkitSlugs: text("toolkit_slugs").array().notNull().default([]),
    /** Tool groups that the key gets over MCP in addition to the tools of apps. */
    agentTools: text("agent_tools").array().$type<AgentToolGroup[]>().notNull().default([]),
    /** Rule that selects calls that a person must confirm, in addition to the calls that the project's policy selects. */
    confirm: document(keyConfirmDocument)("confirm").notNull().default(noConfirmRule),
    /**
     * The approver's key that created this key for an agent; this key ends with the approver's key. Null if the administrator created it.
     */
    makerKeyId: idColumn("key")("maker_key_id"),
    purpose: oneOf(keyPurposes)("purpose").notNull().default(""),
  },
  (table) => [
    uniqueIndex("api_keys_digest").on(table.digest),
    uniqueIndex("api_keys_project").on(table.projectId, table.id),
    uniqueIndex("api_keys_maker").on(table.makerKeyId, table.id).where(sql`${table.makerKeyId} is not null`),
    // Keys of portal links, of which a project may have many.
    index("api_keys_portal").on(table.projectId, table.id).where(sql`purpose = 'portal'`),
    index("api_keys_portal_entity").on(table.projectId, table.entityId, table.id).where(sql`purpose = 'portal'`),
    index("api_keys_portal_expires").on(table.expiresAt).where(sql`purpose = 'portal'`),
  ],
);

/**
 * State that decides which projects receive a webhook post, in one row. `version` grows with every new project and every change of an
 * account reference, so that nodes read the state again.
 */
export const routingState = pgTable("routing_state", {
  id: smallint("id").primaryKey(),
  version: bigint("version", { mode: "number" }).notNull(),
  /**
   * Projects that receive the events of a webhook post. `accounts`: those with the account that the post names. `projects`: all projects.
   * Null if the deployment has never set it.
   */
  audience: oneOf(audiences)("audience"),
});

/**
 * Times of the sweeps (regular passes over stored rows) that only one node of the deployment runs. The node that moves `nextAt` forward runs
 * the sweep; the other nodes skip it.
 */
export const sweepTurns = pgTable("sweep_turns", {
  sweep: oneOf(turnedSweeps)("sweep").primaryKey(),
  /** Earliest time at which a node runs the sweep again. A sweep is a regular pass over stored rows. */
  nextAt: time("next_at").notNull(),
});

/**
 * Positions up to which records were sent to a target outside svc (SVC_EXPORT_TO). A node moves a position forward after the target has
 * taken the records.
 */
export const exportPositions = pgTable(
  "export_positions",
  {
    /** The kind of the records, `audit` or `usage`, and a digest of the target's address. */
    stream: text("stream").notNull(),
    /** Project of the records. For usage, it is the lowest possible id, because one position holds for all projects. */
    projectId: idColumn("prj")("project_id").notNull(),
    /** For `audit`, the position in the project's chain. For `usage`, the end of the last hour that was sent, in epoch milliseconds. */
    position: bigint("position", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ name: "export_positions_key", columns: [table.stream, table.projectId] })],
);

/** A known text, sealed by the first node, in one row. A node that cannot open it has other vault keys and must not run. */
export const vaultCheck = pgTable("vault_check", {
  id: smallint("id").primaryKey(),
  sealed: bytes("sealed").notNull(),
});

/**
 * Returns the columns of the two tables that count activity (such as deliveries and calls): one counts by minute, the other by hour. `at`
 * is the start of the minute or hour.
 */
const counted = () => ({
  projectId: idColumn("prj")("project_id").notNull(),
  /** Name of the counted activity, such as deliveries or tool calls. It is one of the names in `activitySeries`. */
  series: text("series").notNull(),
  /** The subscription or tool whose activity is counted. Empty if the activity of the whole project is counted. */
  subject: text("subject").notNull(),
  at: time("at").notNull(),
  /**
   * Outcome of the counted actions (for example deliveries or calls). Each series of numbers has its own names for outcomes. In a series of
   * latencies, the outcome is the number of the bucket (range of durations).
   */
  outcome: text("outcome").notNull(),
  count: bigint("count", { mode: "number" }).notNull(),
});

/**
 * Counts of deliveries, tool calls, jobs and similar activity, per minute, for charts only. Nodes add to these counts. They are kept for
 * two days.
 */
export const activityMinutes = pgTable("activity_minutes", counted(), (table) => [
  primaryKey({
    name: "activity_minutes_key",
    columns: [table.projectId, table.series, table.subject, table.at, table.outcome],
  }),
  index("activity_minutes_at").on(table.at),
]);

/** Counts of deliveries, tool calls, jobs and similar activity, per hour. They are kept as long as events are kept. */
export const activityHours = pgTable("activity_hours", counted(), (table) => [
  primaryKey({
    name: "activity_hours_key",
    columns: [table.projectId, table.series, table.subject, table.at, table.outcome],
  }),
  index("activity_hours_at").on(table.at),
]);

/**
 * Groups of failures with the same cause, by day (UTC). Nodes add their counts every 10 seconds. A project has at most 1,000 groups a day.
 * They are kept for eight days.
 */
export const failureGroups = pgTable(
  "failure_groups",
  {
    projectId: idColumn("prj")("project_id").notNull(),
    /** Start of the day. */
    day: time("day").notNull(),
    /** Hash of the failure, see `Failure.fingerprint`. */
    fingerprint: text("fingerprint").notNull(),
    kind: oneOf(failureKinds)("kind").notNull(),
    count: bigint("count", { mode: "number" }).notNull(),
    /** Number of failures in each of the 24 hours of the day. */
    hours: integer("hours").array().notNull(),
    firstAt: time("first_at").notNull(),
    lastAt: time("last_at").notNull(),
    /** UUID of the newest call, delivery or job that failed. */
    newestId: uuid("newest_id").notNull(),
    /** Actions that may solve the failure, the best one first. */
    remedies: text("remedies").array().$type<FailureRemedy[]>().notNull(),
    /** Sentence that says why the newest one failed. It is encrypted, because it may quote an app. */
    title: bytes("title").notNull(),
  },
  (table) => [
    primaryKey({ name: "failure_groups_key", columns: [table.projectId, table.day, table.fingerprint] }),
    index("failure_groups_day").on(table.day),
  ],
);

/**
 * The audit log. A row is written before its action. Later the row gets the outcome of the action, and then its position in the chain of
 * its project. After that, the row never changes. For destructive tool calls, a database trigger on the table of tool calls adds the row;
 * the row's id has the UUID of the call. Rows stay after their project is deleted.
 */
export const auditEvents = pgTable(
  "audit_events",
  {
    id: idColumn("aud")("id").primaryKey(),
    /**
     * Project of the audit entry. An entry that belongs to no project, but to the whole deployment, has the lowest possible id here (all
     * zeros).
     */
    projectId: idColumn("prj")("project_id").notNull(),
    at: time("at").notNull(),
    /**
     * Actor of the audit entry. The column accepts any text (its type is not `oneOf`), so that a row can be read even if an attacker
     * changed the word. The check of the audit log's hashes then reports the change.
     */
    actor: text("actor").$type<AuditActor>().notNull(),
    /** Id of the actor, if the actor is a key or a job. */
    actorId: uuid("actor_id"),
    /** Name of the action, such as `AdminService.CreateApiKey`. */
    action: text("action").notNull(),
    /** Subject of the action: an id, a slug, or the name of a secret or a limit. It never contains personal data. */
    subject: text("subject").notNull(),
    /** Keyed digest of the entity (customer or user) or person that the action is about: see `Sealer.entityDigest`. */
    entityDigest: bytes("about_digest"),
    /** Outcome of the audited action: `ok` or an error code. Null while the action runs. */
    outcome: text("outcome"),
    /**
     * Position of the row in the project's chain of audit rows, from 1. In the chain, each row's hash depends on the previous row. Null
     * until the row is added to the chain.
     */
    position: integer("position"),
    /** MAC (keyed checksum) of the audit entry's content and position, made with the key of the project's audit chain. */
    mac: bytes("mac"),
    hash: bytes("hash"),
  },
  (table) => [
    index("audit_events_project").on(table.projectId, table.action, table.id),
    index("audit_events_action").on(table.action, table.id),
    // This index also finds actors that have no id, such as the administrator.
    index("audit_events_actor").on(
      sql`(actor || coalesce(actor_id::text, ''))`,
      table.projectId,
      table.action,
      table.id,
    ),
    uniqueIndex("audit_events_position").on(table.projectId, table.position).where(sql`position is not null`),
    index("audit_events_waiting").on(table.id).where(sql`position is null`),
  ],
);

/** Chains of the audit log: one for each project. The chain of the whole deployment has the lowest possible project id. */
export const auditChains = pgTable("audit_chains", {
  projectId: idColumn("prj")("project_id").primaryKey(),
  /**
   * Random key with which svc makes the checksums of a project's audit chain (its sequence of linked audit entries). The key is encrypted
   * for the context `deployment/audit_chains/<project>`.
   */
  key: bytes("key").notNull(),
  length: integer("length").notNull(),
  /** Hash of the last row in the chain of audit rows; empty if the chain has no row. */
  hash: bytes("hash").notNull(),
  /** Checksum of the columns `length` and `hash`, made with the secret `key`. It shows if someone changed the end of the audit log. */
  mac: bytes("mac").notNull(),
});

/**
 * The backups from which this database was restored. Until the operator resumes the last restore, nodes accept webhook posts and tool calls
 * but send nothing by themselves. The original database may have sent the same deliveries and calls already.
 */
export const restores = pgTable("restores", {
  /** Identifies the restore: the id in the restore's marker file, or the text of SVC_RESTORED. */
  key: text("key").primaryKey(),
  /** End of the backup. The database contains everything committed before this time. */
  backupEndsAt: time("backup_ends_at").notNull(),
  /** When svc first started after the restore. */
  restoredAt: time("restored_at").notNull(),
  /** When the operator resumed deliveries and jobs after the restore. Null while they wait. */
  resumedAt: time("resumed_at"),
  /** This database was restored from a backup. True if the operator confirmed that the original database sent nothing after this backup. */
  isNothingSince: boolean("is_nothing_since").notNull().default(false),
});

/**
 * Erasures, running or finished. Each batch is one transaction: it locks the row, deletes data, and updates the row's position and counts.
 * So only one node works at a time, and another node can continue from the same position. A row references no project, because it stays
 * after the project is erased.
 */
export const erasures = pgTable(
  "erasures",
  {
    id: idColumn("ers")("id").primaryKey(),
    projectId: idColumn("prj")("project_id").notNull(),
    kind: oneOf(erasureKinds)("kind").notNull(),
    /** Id of the entity (customer or user) whose data is erased. Empty after the erasure has ended, and if a whole project is erased. */
    entityId: text("entity_id").notNull(),
    state: oneOf(erasureStates)("state").notNull(),
    /**
     * Number of the current pass over all tables in which rows of the entity (customer or user) are deleted, from 1. Passes are repeated
     * until one finds nothing to delete.
     */
    pass: integer("pass").notNull().default(1),
    /**
     * Name of the table that the erasure's current scan has reached. `atKey`: key of the last scanned row, as JSON text. Both are empty at
     * the start.
     */
    atTable: text("at_table").notNull().default(""),
    atKey: text("at_key").notNull().default(""),
    /** Number of rows that the erasure has deleted up to now, by table. */
    counts: document(erasureCountsDocument)("counts").notNull(),
    /**
     * Number of rows deleted in the current pass over all tables. `jobsLeft`: number of jobs that this pass skipped because they had not
     * ended.
     */
    deletedInPass: bigint("deleted_in_pass", { mode: "number" }).notNull().default(0),
    jobsLeft: integer("jobs_left").notNull().default(0),
    /** Earliest start of the erasure's next pass. A pass is one scan of all tables that deletes rows. Null while a pass runs. */
    notBefore: time("not_before"),
    createdAt: time("created_at").notNull(),
    finishedAt: time("finished_at"),
  },
  (table) => [
    // An entity or project has at most one unfinished erasure.
    uniqueIndex("erasures_unfinished").on(table.projectId, table.entityId).where(sql`finished_at is null`),
  ],
);

/**
 * Digests of programs that an erasure may have to delete, because it deleted rows that used them (such as jobs). A digest stays until svc
 * has checked if other rows use the program.
 */
export const erasurePrograms = pgTable(
  "erasure_programs",
  { erasureId: idColumn("ers")("erasure_id").notNull(), digest: bytes("digest").notNull() },
  (table) => [primaryKey({ name: "erasure_programs_key", columns: [table.erasureId, table.digest] })],
);
