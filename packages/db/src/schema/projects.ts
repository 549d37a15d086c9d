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
 * A tenant. `routingVersion` grows with every change of its subscriptions, `catalogVersion` with every change of its private
 * toolkits: nodes check their cached copies against them.
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

/** What a project's administrator decided; a project without a row has the defaults. */
export const projectPolicies = pgTable("project_policies", {
  projectId: idColumn("prj")("project_id")
    .primaryKey()
    .references(() => projects.id),
  planApproval: oneOf(planApprovals)("plan_approval").notNull().default("never"),
  /** Where an OAuth connection may send its user back to. */
  redirectUrls: text("redirect_urls").array().notNull().default([]),
  /** Those that are set; the others have their defaults. */
  quotas: document(quotasDocument)("quotas").notNull().default({}),
  /** Where http steps of programs may send requests, as core's `parseHttpHost` writes hosts. */
  httpHosts: text("http_hosts").array().notNull().default([]),
  /** Which calls of its keys a person confirms. */
  confirm: document(projectConfirmDocument)("confirm").notNull().default(noConfirmRule),
});

/** A project's key. Only the digest of its text is kept. */
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
    /** The key's first characters, to tell keys apart in a list. */
    hint: text("hint").notNull(),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at"),
    revokedAt: time("revoked_at"),
    /** Within a minute of the truth: a write for every call would cost more than it tells. */
    lastUsedAt: time("last_used_at"),
    /** What it is bound to: one entity, and the classes and toolkits of the tools it may call; empty parts bound nothing. */
    entityId: text("entity_id").notNull().default(""),
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull().default([]),
    toolkitSlugs: text("toolkit_slugs").array().notNull().default([]),
    /** What it is given over MCP beside the tools of apps. */
    agentTools: text("agent_tools").array().$type<AgentToolGroup[]>().notNull().default([]),
    /** Which of its calls a person confirms, beside those that its project's policy says. */
    confirm: document(keyConfirmDocument)("confirm").notNull().default(noConfirmRule),
    /** The approver's key that made it for an agent, and that it ends with; null for a key that the administrator issued. */
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
  /** Who receives events, as a node was last told at its start. Null until then: projects are from before that was asked for. */
  audience: oneOf(audiences)("audience"),
});

/** One row: a known text, sealed by the first node. A node that cannot open it holds other vault keys, and must not run. */
export const vaultCheck = pgTable("vault_check", {
  id: smallint("id").primaryKey(),
  sealed: bytes("sealed").notNull(),
});

/** A count of something that happened within a minute or an hour, which begins `at`. */
const counted = () => ({
  projectId: idColumn("prj")("project_id").notNull(),
  /** In the words of activitySeries. */
  series: text("series").notNull(),
  /** The subscription or tool that it happened to; empty: to all of them together. */
  subject: text("subject").notNull(),
  at: time("at").notNull(),
  /** How it went, in the words of its series; of a latency the number of its bucket. */
  outcome: text("outcome").notNull(),
  count: bigint("count", { mode: "number" }).notNull(),
});

/** What happened minute by minute, for two days. Nodes add to it; nothing else than charts is made of it. */
export const activityMinutes = pgTable("activity_minutes", counted(), (table) => [
  primaryKey({
    name: "activity_minutes_key",
    columns: [table.projectId, table.series, table.subject, table.at, table.outcome],
  }),
  index("activity_minutes_at").on(table.at),
]);

/** The same hour by hour, as long as events are kept. */
export const activityHours = pgTable("activity_hours", counted(), (table) => [
  primaryKey({
    name: "activity_hours_key",
    columns: [table.projectId, table.series, table.subject, table.at, table.outcome],
  }),
  index("activity_hours_at").on(table.at),
]);

/**
 * Who did what. A row is written before its deed and gets its outcome after it; then it gets its place in the chain of its project, and never
 * changes again. A destructive call of a tool is entered by a trigger of the ledger, under the UUID of the call. Rows outlive their project.
 */
export const auditEvents = pgTable(
  "audit_events",
  {
    id: idColumn("aud")("id").primaryKey(),
    /** The first of all ids for what concerns the deployment. */
    projectId: idColumn("prj")("project_id").notNull(),
    at: time("at").notNull(),
    /** Not `oneOf`: a row in which somebody wrote another word is found as changed, and no reader fails at it. */
    actor: text("actor").$type<AuditActor>().notNull(),
    /** Of the key or the job. */
    actorId: uuid("actor_id"),
    /** `AdminService.CreateApiKey`. */
    action: text("action").notNull(),
    /** An id, a slug, or the name of a secret or a limit: nothing that tells of a person. */
    subject: text("subject").notNull(),
    /** Of the entity or the person that it is about: see `Sealer.entityDigest`. */
    entityDigest: bytes("about_digest"),
    /** `ok`, or the code of the error; null while it is under way. */
    outcome: text("outcome"),
    /** From 1; null until the row stands in the chain. */
    position: integer("position"),
    /** Of what the row says, and of its place, under the key of the chain. */
    mac: bytes("mac"),
    hash: bytes("hash"),
  },
  (table) => [
    index("audit_events_project").on(table.projectId, table.action, table.id),
    index("audit_events_action").on(table.action, table.id),
    // What is done by one without an id, such as the administrator, is found as well.
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

/** The chains of the audit log: one of each project, and one of the deployment, under the first of all ids. */
export const auditChains = pgTable("audit_chains", {
  projectId: idColumn("prj")("project_id").primaryKey(),
  /** What the chain is made with: random, sealed for `deployment/audit_chains/<project>`. */
  key: bytes("key").notNull(),
  length: integer("length").notNull(),
  /** The hash of the last row; empty for none. */
  hash: bytes("hash").notNull(),
  /** Of length and hash, under the key. */
  mac: bytes("mac").notNull(),
});

/**
 * Backups that the store was restored from. Until the last one is resumed the nodes take posts and calls, and send nothing by
 * themselves: what they would send, the store that the backup was taken of may have sent since.
 */
export const restores = pgTable("restores", {
  /** What the restore was told by: the id in its marker, or the text of SVC_RESTORED. */
  key: text("key").primaryKey(),
  /** All that was committed before it is in the store. */
  backupEndsAt: time("backup_ends_at").notNull(),
  /** When the restored store was first started. */
  restoredAt: time("restored_at").notNull(),
  /** Null while it is held. */
  resumedAt: time("resumed_at"),
  /** Whether nothing was sent since the backup's end, as who resumed it said. */
  isNothingSince: boolean("is_nothing_since").notNull().default(false),
});

/**
 * What was erased, or is. A batch is one transaction, which holds the row and moves position and counts with what is deleted: one node
 * works at it at a time, and another goes on where that one stopped. It outlives what it erased: it refers to no project.
 */
export const erasures = pgTable(
  "erasures",
  {
    id: idColumn("ers")("id").primaryKey(),
    projectId: idColumn("prj")("project_id").notNull(),
    kind: oneOf(erasureKinds)("kind").notNull(),
    /** Whom it erases; empty once it is done, and of a project. */
    entityId: text("entity_id").notNull(),
    state: oneOf(erasureStates)("state").notNull(),
    /** From 1: how often the tables are gone through. The last pass finds nothing. */
    pass: integer("pass").notNull().default(1),
    /** The table that is gone through, and the key of the last row that was looked at, as JSON text; empty at a beginning. */
    atTable: text("at_table").notNull().default(""),
    atKey: text("at_key").notNull().default(""),
    /** Rows that were deleted, by table. */
    counts: document(erasureCountsDocument)("counts").notNull(),
    /** Rows that this pass deleted, and jobs that it left since they have not ended. */
    deletedInPass: bigint("deleted_in_pass", { mode: "number" }).notNull().default(0),
    jobsLeft: integer("jobs_left").notNull().default(0),
    /** The next pass begins then at the earliest; null while one is under way. */
    notBefore: time("not_before"),
    createdAt: time("created_at").notNull(),
    finishedAt: time("finished_at"),
  },
  (table) => [
    // Of one entity, or one project, one is under way at a time.
    uniqueIndex("erasures_unfinished").on(table.projectId, table.entityId).where(sql`finished_at is null`),
  ],
);

/** Programs that rows ran which an erasure deleted, by their digests, until it is known whether anything else uses them. */
export const erasurePrograms = pgTable(
  "erasure_programs",
  { erasureId: idColumn("ers")("erasure_id").notNull(), digest: bytes("digest").notNull() },
  (table) => [primaryKey({ name: "erasure_programs_key", columns: [table.erasureId, table.digest] })],
);
