import { type AgentToolGroup, type ConfirmRule, noConfirmRule } from "@svc/core";
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
  keyRoles,
  planApprovals,
  type StoredAccessClass,
} from "./words.ts";

/** Rows that an erasure deleted, by table. */
type ErasureCounts = Readonly<Record<string, number>>;

/** How `erasures.counts` is stored. */
const erasureCountsDocument = plainDocument<ErasureCounts>("erasures.counts");

/** How `api_keys.confirm` is stored. */
const keyConfirmDocument = documentType<ConfirmRule>("api_keys.confirm", [asWritten]);

/**
 * A tenant. `routingVersion` grows with every change of its subscriptions, `catalogVersion` with every change of its private toolkits.
 * Nodes compare their caches with both.
 */
export const projects = pgTable(
  "projects",
  {
    id: idColumn("prj")("id").primaryKey(),
    name: text("name").notNull(),
    createdAt: time("created_at").notNull(),
    routingVersion: bigint("routing_version", { mode: "number" }).notNull().default(1),
    catalogVersion: bigint("catalog_version", { mode: "number" }).notNull().default(0),
  },
  (table) => [uniqueIndex("projects_name").on(table.name)],
);

/** Settings of a project's administrator; a project without a row has the defaults. */
export const projectPolicies = pgTable("project_policies", {
  projectId: idColumn("prj")("project_id")
    .primaryKey()
    .references(() => projects.id),
  planApproval: oneOf(planApprovals)("plan_approval").notNull().default("never"),
  /** URLs that an OAuth connection may redirect its user to. */
  redirectUrls: text("redirect_urls").array().notNull().default([]),
  /** Quotas that are set; the others have their defaults. */
  quotas: document(quotasDocument)("quotas").notNull().default({}),
  /** Hosts that http steps of programs may send requests to, in the form of core's `parseHttpHost`. */
  httpHosts: text("http_hosts").array().notNull().default([]),
  /** Calls of its keys that a person must confirm. */
  confirm: document(projectConfirmDocument)("confirm").notNull().default(noConfirmRule),
});

/** A project's key. Only the digest of its text is stored. */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: idColumn("key")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    role: oneOf(keyRoles)("role").notNull(),
    name: text("name").notNull(),
    /** SHA-256 of the key's text. */
    digest: bytes("digest").notNull(),
    /** The key's first characters, to distinguish keys in a list. */
    hint: text("hint").notNull(),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at"),
    revokedAt: time("revoked_at"),
    /** Accurate to a minute: a write for every call would cost too much. */
    lastUsedAt: time("last_used_at"),
    /** Its scope: one entity, and the classes and toolkits of the tools it may call. Empty parts limit nothing. */
    entityId: text("entity_id").notNull().default(""),
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull().default([]),
    toolkitSlugs: text("toolkit_slugs").array().notNull().default([]),
    /** Tool groups it gets over MCP in addition to the tools of apps. */
    agentTools: text("agent_tools").array().$type<AgentToolGroup[]>().notNull().default([]),
    /** Calls that a person must confirm, in addition to those of the project's policy. */
    confirm: document(keyConfirmDocument)("confirm").notNull().default(noConfirmRule),
    /** The approver's key that created it for an agent, and with which it ends; null for a key from the administrator. */
    makerKeyId: idColumn("key")("maker_key_id"),
  },
  (table) => [
    uniqueIndex("api_keys_digest").on(table.digest),
    uniqueIndex("api_keys_project").on(table.projectId, table.id),
    uniqueIndex("api_keys_maker").on(table.makerKeyId, table.id).where(sql`${table.makerKeyId} is not null`),
  ],
);

/** One row. `version` grows with every new project and every change of an account reference. */
export const routingState = pgTable("routing_state", {
  id: smallint("id").primaryKey(),
  version: bigint("version", { mode: "number" }).notNull(),
  /** Recipients of events, as configured at the last start of a node. Null until then: the projects are older than this setting. */
  audience: oneOf(audiences)("audience"),
});

/** One row: a known text, sealed by the first node. A node that cannot open it has other vault keys and must not run. */
export const vaultCheck = pgTable("vault_check", {
  id: smallint("id").primaryKey(),
  sealed: bytes("sealed").notNull(),
});

/** A count of activity in the minute or hour that begins at `at`. */
const counted = () => ({
  projectId: idColumn("prj")("project_id").notNull(),
  /** A word of activitySeries. */
  series: text("series").notNull(),
  /** The subscription or tool counted; empty for the total. */
  subject: text("subject").notNull(),
  at: time("at").notNull(),
  /** Outcome, in the words of its series; for a latency, the number of its bucket. */
  outcome: text("outcome").notNull(),
  count: bigint("count", { mode: "number" }).notNull(),
});

/** Counts per minute, for two days. Nodes add to them; only charts use them. */
export const activityMinutes = pgTable("activity_minutes", counted(), (table) => [
  primaryKey({
    name: "activity_minutes_key",
    columns: [table.projectId, table.series, table.subject, table.at, table.outcome],
  }),
  index("activity_minutes_at").on(table.at),
]);

/** Counts per hour, kept as long as events. */
export const activityHours = pgTable("activity_hours", counted(), (table) => [
  primaryKey({
    name: "activity_hours_key",
    columns: [table.projectId, table.series, table.subject, table.at, table.outcome],
  }),
  index("activity_hours_at").on(table.at),
]);

/**
 * The audit log. A row is written before its action and gets its outcome after it. Then it gets its position in its project's chain and
 * never changes again. A trigger of the ledger adds destructive tool calls, under the UUID of the call. Rows outlive their project.
 */
export const auditEvents = pgTable(
  "audit_events",
  {
    id: idColumn("aud")("id").primaryKey(),
    /** The lowest possible id for entries of the deployment. */
    projectId: idColumn("prj")("project_id").notNull(),
    at: time("at").notNull(),
    /** Not `oneOf`: a manipulated word is detected as a change, and no reader fails on it. */
    actor: text("actor").$type<AuditActor>().notNull(),
    /** Id of the key or the job. */
    actorId: uuid("actor_id"),
    /** `AdminService.CreateApiKey`. */
    action: text("action").notNull(),
    /** An id, a slug, or the name of a secret or a limit; never personal data. */
    subject: text("subject").notNull(),
    /** Digest of the entity or person concerned: see `Sealer.entityDigest`. */
    entityDigest: bytes("about_digest"),
    /** `ok` or an error code; null while the action runs. */
    outcome: text("outcome"),
    /** From 1; null until the row is in the chain. */
    position: integer("position"),
    /** MAC of the row's content and position, under the chain's key. */
    mac: bytes("mac"),
    hash: bytes("hash"),
  },
  (table) => [
    index("audit_events_project").on(table.projectId, table.action, table.id),
    index("audit_events_action").on(table.action, table.id),
    // Also finds actors without an id, such as the administrator.
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

/** Chains of the audit log: one per project, and one for the deployment, under the lowest possible id. */
export const auditChains = pgTable("audit_chains", {
  projectId: idColumn("prj")("project_id").primaryKey(),
  /** Random key of the chain, sealed for `deployment/audit_chains/<project>`. */
  key: bytes("key").notNull(),
  length: integer("length").notNull(),
  /** Hash of the last row; empty if there is none. */
  hash: bytes("hash").notNull(),
  /** MAC of length and hash, under the key. */
  mac: bytes("mac").notNull(),
});

/**
 * Backups that this database was restored from. Until the last restore is resumed, the nodes accept posts and calls but send nothing by
 * themselves, because the original database may have sent it already.
 */
export const restores = pgTable("restores", {
  /** Identifies the restore: the id in its marker, or the text of SVC_RESTORED. */
  key: text("key").primaryKey(),
  /** Everything committed before this time is in the database. */
  backupEndsAt: time("backup_ends_at").notNull(),
  /** First start after the restore. */
  restoredAt: time("restored_at").notNull(),
  /** Null while sending is on hold. */
  resumedAt: time("resumed_at"),
  /** True if the operator confirmed that nothing was sent since the backup's end. */
  isNothingSince: boolean("is_nothing_since").notNull().default(false),
});

/**
 * Erasures, finished or running. A batch is one transaction that locks the row and updates position and counts with its deletions. So one
 * node works at a time, and another continues where it stopped. A row references no project, because it outlives what it erased.
 */
export const erasures = pgTable(
  "erasures",
  {
    id: idColumn("ers")("id").primaryKey(),
    projectId: idColumn("prj")("project_id").notNull(),
    kind: oneOf(erasureKinds)("kind").notNull(),
    /** The entity to erase; empty after the end, and for the erasure of a project. */
    entityId: text("entity_id").notNull(),
    state: oneOf(erasureStates)("state").notNull(),
    /** Number of the current pass over the tables, from 1. The last pass finds nothing. */
    pass: integer("pass").notNull().default(1),
    /** Current table, and the key of the last scanned row as JSON text; empty at the start. */
    atTable: text("at_table").notNull().default(""),
    atKey: text("at_key").notNull().default(""),
    /** Deleted rows, by table. */
    counts: document(erasureCountsDocument)("counts").notNull(),
    /** Rows deleted in this pass, and jobs skipped because they had not ended. */
    deletedInPass: bigint("deleted_in_pass", { mode: "number" }).notNull().default(0),
    jobsLeft: integer("jobs_left").notNull().default(0),
    /** Earliest start of the next pass; null while a pass runs. */
    notBefore: time("not_before"),
    createdAt: time("created_at").notNull(),
    finishedAt: time("finished_at"),
  },
  (table) => [
    // One erasure of an entity or project at a time.
    uniqueIndex("erasures_unfinished").on(table.projectId, table.entityId).where(sql`finished_at is null`),
  ],
);

/** Digests of programs whose users an erasure deleted, until svc knows if anything else uses them. */
export const erasurePrograms = pgTable(
  "erasure_programs",
  { erasureId: idColumn("ers")("erasure_id").notNull(), digest: bytes("digest").notNull() },
  (table) => [primaryKey({ name: "erasure_programs_key", columns: [table.erasureId, table.digest] })],
);
