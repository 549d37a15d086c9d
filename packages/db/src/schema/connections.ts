import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { variablesDocument } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { connectedAccountStates } from "./words.ts";

/** An entity's account in an app; with scheme `client_credentials` and an empty entity, the project's own. */
export const connectedAccounts = pgTable(
  "connected_accounts",
  {
    id: idColumn("acc")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    toolkitSlug: text("toolkit_slug").notNull(),
    /** Whether the toolkit is the project's private one: the same slug may be shared too, and the two never meet. */
    isPrivate: boolean("is_private").notNull(),
    /** Whether it was made in the sandbox. Such accounts and real ones never meet: each is used where it was made. */
    isSandbox: boolean("is_sandbox").notNull().default(false),
    entityId: text("entity_id").notNull(),
    scheme: text("scheme").notNull(),
    state: oneOf(connectedAccountStates)("state").notNull(),
    variables: document(variablesDocument)("variables").notNull(),
    /** Sealed, bound to project and row; null once nothing may be sent with it. */
    credential: bytes("credential"),
    /** Of a private toolkit: SHA-256 of where its definition sent credentials when the account was made. */
    originDigest: bytes("origin_digest"),
    grantedScopes: text("granted_scopes").array().notNull().default([]),
    references: text("references").array().notNull().default([]),
    lastError: text("last_error").notNull().default(""),
    /** The time at which the app last accepted or refused the credential; null before the first try. */
    credentialTriedAt: time("credential_tried_at"),
    /** True if the app took the credential then; null before the first try. */
    isCredentialTaken: boolean("is_credential_taken"),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    /** When the credential runs out; null when it does not, or the app does not say. */
    expiresAt: time("expires_at"),
    /** When it is renewed next; null when it cannot be. */
    refreshAt: time("refresh_at"),
    /** While in the future, one node renews it. */
    refreshLeaseUntil: time("refresh_lease_until"),
  },
  (table) => [
    uniqueIndex("connected_accounts_active")
      .on(table.projectId, table.toolkitSlug, table.isPrivate, table.isSandbox, table.entityId, table.scheme)
      .where(sql`state = 'active'`),
    index("connected_accounts_project").on(table.projectId, table.id),
    // Of expressions, so that no statement but the list that is written for it is planned by one.
    index("connected_accounts_toolkit").on(sql`(toolkit_slug || ' ')`, table.projectId, table.id),
    index("connected_accounts_state").on(sql`(state || ' ')`, table.projectId, table.id),
    index("connected_accounts_toolkit_state").on(sql`(state || ' ' || toolkit_slug)`, table.projectId, table.id),
    index("connected_accounts_run_out")
      .on(table.projectId, table.expiresAt)
      .where(sql`state = 'active' and expires_at is not null`),
    index("connected_accounts_entity").on(table.projectId, table.entityId, table.id),
    index("connected_accounts_refresh")
      .on(table.isSandbox, table.refreshAt)
      .where(sql`state = 'active' and refresh_at is not null`),
  ],
);

/** A toolkit definition that a project keeps for itself. It hides a shared one of the same slug from the project. */
export const privateToolkits = pgTable(
  "private_toolkits",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    slug: text("slug").notNull(),
    /** As it was published: JSON text, not jsonb, which would lose the order of a schema's properties. */
    definition: text("definition").notNull(),
    toolCount: integer("tool_count").notNull(),
    /** SHA-256 of what decides where credentials are sent; accounts made under another one must be connected anew. */
    originDigest: bytes("origin_digest").notNull(),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [primaryKey({ name: "private_toolkits_key", columns: [table.projectId, table.slug] })],
);

/**
 * Where the texts of tools lie for the embeddings endpoint, by the digest of what was asked: its address, the model, the text, and whose it is.
 * A row without a vector is claimed by the node that asks for it, until then.
 */
export const toolVectors = pgTable(
  "tool_vectors",
  {
    digest: text("digest").primaryKey(),
    /** Whose private toolkit it is of; null in the shared catalog. */
    projectId: idColumn("prj")("project_id").references(() => projects.id),
    /** A signed byte for each number of it, the largest as 127. */
    vector: bytes("vector"),
    claimedUntil: time("claimed_until").notNull(),
    /** When a node last read it, give or take a day. */
    usedAt: time("used_at").notNull(),
  },
  (table) => [
    uniqueIndex("tool_vectors_project").on(table.projectId, table.digest),
    index("tool_vectors_used").on(table.usedAt),
  ],
);
