import type { AgentToolGroup } from "@svc/core";
import { index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, oneOf, time } from "./columns.ts";
import { apiKeys, projects } from "./projects.ts";
import { type AccessClass, grantTokenKinds } from "./words.ts";

/** A program that registered itself to ask people for grants. */
export const grantClients = pgTable(
  "grant_clients",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    redirectUris: text("redirect_uris").array().notNull(),
    createdAt: time("created_at").notNull(),
    /** When it last was given a grant, or tokens of one; null until then. Within a day of the truth. */
    usedAt: time("used_at"),
  },
  (table) => [index("grant_clients_used").on(table.usedAt, table.createdAt)],
);

/** What a person let an agent do. Its calls are made as a key of its own, whose text nobody has: that key's end is the grant's. */
export const grants = pgTable(
  "grants",
  {
    id: idColumn("grt")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    keyId: idColumn("key")("key_id")
      .notNull()
      .references(() => apiKeys.id),
    /** The key by which the person gave it: the grant ends with it, too. */
    voucherKeyId: idColumn("key")("voucher_key_id")
      .notNull()
      .references(() => apiKeys.id),
    clientId: text("client_id").notNull(),
    clientName: text("client_name").notNull(),
    /** Where its code was sent, without path and query. */
    clientOrigin: text("client_origin").notNull(),
    /** The address that its tokens are good at. */
    resource: text("resource").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [uniqueIndex("grants_project").on(table.projectId, table.id), uniqueIndex("grants_key").on(table.keyId)],
);

/** The word of a person to a client, which it changes once into a grant. Kept by its digest alone. */
export const grantCodes = pgTable(
  "grant_codes",
  {
    digest: bytes("digest").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    voucherKeyId: idColumn("key")("voucher_key_id")
      .notNull()
      .references(() => apiKeys.id),
    clientId: text("client_id").notNull(),
    clientName: text("client_name").notNull(),
    redirectUri: text("redirect_uri").notNull(),
    /** SHA-256 of the client's verifier, base64url (RFC 7636). */
    challenge: text("challenge").notNull(),
    resource: text("resource").notNull(),
    /** What the grant's key will be bound to. */
    entityId: text("entity_id").notNull(),
    accessClasses: text("access_classes").array().$type<AccessClass[]>().notNull(),
    toolkitSlugs: text("toolkit_slugs").array().notNull(),
    /** What it will be given beside the tools of apps. */
    agentTools: text("agent_tools").array().$type<AgentToolGroup[]>().notNull().default([]),
    expiresAt: time("expires_at").notNull(),
    spentAt: time("spent_at"),
    /** What it was changed into; null where it was refused. */
    grantId: idColumn("grt")("grant_id"),
  },
  (table) => [index("grant_codes_expires").on(table.expiresAt)],
);

/** A token of a grant, kept by its digest alone. A refresh token that is spent stays until its time is over: who shows it again has stolen it, or was robbed. */
export const grantTokens = pgTable(
  "grant_tokens",
  {
    digest: bytes("digest").primaryKey(),
    grantId: idColumn("grt")("grant_id")
      .notNull()
      .references(() => grants.id, { onDelete: "cascade" }),
    kind: oneOf(grantTokenKinds)("kind").notNull(),
    expiresAt: time("expires_at").notNull(),
    spentAt: time("spent_at"),
  },
  (table) => [index("grant_tokens_expires").on(table.expiresAt), index("grant_tokens_grant").on(table.grantId)],
);
