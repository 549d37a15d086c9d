import { type AgentToolGroup, noConfirmRule } from "@svc/core";
import { sql } from "drizzle-orm";
import { bigint, pgTable, smallint, text, uniqueIndex } from "drizzle-orm/pg-core";
import { keyConfirmDocument, projectConfirmDocument } from "../documents/confirm.ts";
import { quotasDocument } from "../documents/quotas.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { type AccessClass, audiences, keyRoles, planApprovals } from "./words.ts";

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
    accessClasses: text("access_classes").array().$type<AccessClass[]>().notNull().default([]),
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
