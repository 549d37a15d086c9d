import { sql } from "drizzle-orm";
import { boolean, foreignKey, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { variablesDocument } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { projects } from "./projects.ts";
import { clientRegistrations, clientSecretPlaces, connectedAccountStates, toolkitSourceKinds } from "./words.ts";

/**
 * Connected accounts: each is the account of an entity (customer or user) in an app. With scheme `client_credentials` and an empty entity,
 * it is the project's own account.
 */
export const connectedAccounts = pgTable(
  "connected_accounts",
  {
    id: idColumn("acc")("id").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    toolkitSlug: text("toolkit_slug").notNull(),
    /**
     * True if the toolkit (the account's app) is private to the project. A shared toolkit may have the same slug, but accounts of the
     * private toolkit are never used for the shared one, and vice versa.
     */
    isPrivate: boolean("is_private").notNull(),
    /** True if the account was made in the sandbox. Sandbox accounts are used only in the sandbox, and other accounts only outside it. */
    isSandbox: boolean("is_sandbox").notNull().default(false),
    entityId: text("entity_id").notNull(),
    scheme: text("scheme").notNull(),
    state: oneOf(connectedAccountStates)("state").notNull(),
    variables: document(variablesDocument)("variables").notNull(),
    /** The sealed credential, bound to project and row. Null once the account may no longer send anything. */
    credential: bytes("credential"),
    /**
     * For an account of a private toolkit (published by one project for itself): SHA-256 of the addresses to which svc sends the
     * credential. They are those of the toolkit's definition at the time when the account was made.
     */
    originDigest: bytes("origin_digest"),
    grantedScopes: text("granted_scopes").array().notNull().default([]),
    /**
     * OAuth scopes that the next consent requests in addition to the scopes of the toolkit's definition. The app refused a call because the
     * account lacked them.
     */
    extraScopes: text("extra_scopes").array().notNull().default([]),
    references: text("references").array().notNull().default([]),
    lastError: text("last_error").notNull().default(""),
    /** The time at which the app last accepted or refused the credential; null before the first try. */
    credentialTriedAt: time("credential_tried_at"),
    /** True if the app accepted the credential at `credentialTriedAt`; null before the first try. */
    isCredentialTaken: boolean("is_credential_taken"),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
    /** Expiry of the credential; null if it does not expire or the app does not say. */
    expiresAt: time("expires_at"),
    /** Time of the next renewal; null if the credential cannot be renewed. */
    refreshAt: time("refresh_at"),
    /** End of the lease (time-limited right) under which one node renews the credential. No node holds the lease after this time. */
    refreshLeaseUntil: time("refresh_lease_until"),
  },
  (table) => [
    uniqueIndex("connected_accounts_active")
      .on(table.projectId, table.toolkitSlug, table.isPrivate, table.isSandbox, table.entityId, table.scheme)
      .where(sql`state = 'active'`),
    index("connected_accounts_project").on(table.projectId, table.id),
    // The indexes use expressions (`toolkit_slug || ' '`), so that PostgreSQL uses each of them only for the list that names the same
    // expression.
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

/**
 * Private toolkits: each is a definition of an app that one project made for itself. If a shared toolkit has the same slug, the project uses
 * its own one instead.
 */
export const privateToolkits = pgTable(
  "private_toolkits",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    slug: text("slug").notNull(),
    /**
     * Definition of the private toolkit (an app's tools and webhooks), as the project published it. It is JSON text and not jsonb, because
     * jsonb loses the order of a schema's properties.
     */
    definition: text("definition").notNull(),
    toolCount: integer("tool_count").notNull(),
    /**
     * SHA-256 of the hosts that receive credentials of this private toolkit (an app that the project defined). If a new definition changes
     * the value, accounts that were connected with the old value must be connected again.
     */
    originDigest: bytes("origin_digest").notNull(),
    updatedAt: time("updated_at").notNull(),
    /**
     * Search phrases that an approver added to tools of this private toolkit, as JSON text: an object of lists, by the tool's name. Empty
     * if there are none. They stay if the definition is replaced. A tool that the toolkit does not have is ignored.
     */
    phrases: text("phrases").notNull().default(""),
  },
  (table) => [primaryKey({ name: "private_toolkits_key", columns: [table.projectId, table.slug] })],
);

/**
 * Sources of private toolkits (apps that a project defined): each is the place from which a toolkit was imported, such as an OpenAPI
 * document. Changes found there wait in the row until an approver accepts them. A toolkit that was published from files has no row.
 */
export const toolkitSources = pgTable(
  "toolkit_sources",
  {
    projectId: idColumn("prj")("project_id").notNull(),
    slug: text("slug").notNull(),
    kind: oneOf(toolkitSourceKinds)("kind").notNull(),
    /** Address from which the source is read again. Empty if the caller sent the text of a document. */
    origin: text("origin").notNull(),
    /** Options of the import, such as overrides and the names of tools, as JSON text. The form depends on `kind`. */
    options: text("options").notNull(),
    /** SHA-256 of what the source said when it was last read. */
    digest: bytes("digest").notNull(),
    /**
     * Version of the project's catalog at the last change of the options or the waiting changes. So the result of a slow read does not
     * overwrite a later change, even if the row was deleted and made again.
     */
    version: integer("version").notNull(),
    /** Differences between the accepted definition and `next_definition`, as JSON text. Null if there are none. */
    changes: text("changes"),
    /** SHA-256 of the accepted definition and `next_definition` together. An approver accepts the changes by it. */
    changesDigest: bytes("changes_digest"),
    changesCount: integer("changes_count").notNull(),
    /** Definition that the source would give now, as JSON text. Null if it equals the accepted definition. */
    nextDefinition: text("next_definition"),
    refreshedAt: time("refreshed_at").notNull(),
    /** Reason that the source could not be read the last time. Empty if it was read. */
    lastError: text("last_error").notNull(),
    /** Time at which svc reads the source again by itself. Null if it never does. */
    nextAt: time("next_at"),
    /**
     * Time before which no node reads the source by itself: the end of the lease of a node that is reading it, or of the pause after that.
     * Null if neither is set.
     */
    leaseUntil: time("lease_until"),
    /**
     * The account with which svc lists the tools of an MCP server. Null if there is none, or if the account was deleted: svc then uses the
     * first active account of the toolkit.
     */
    listingAccountId: idColumn("acc")("listing_account_id").references(() => connectedAccounts.id, {
      onDelete: "set null",
    }),
  },
  (table) => [
    primaryKey({ name: "toolkit_sources_key", columns: [table.projectId, table.slug] }),
    foreignKey({
      name: "toolkit_sources_toolkit",
      columns: [table.projectId, table.slug],
      foreignColumns: [privateToolkits.projectId, privateToolkits.slug],
    }).onDelete("cascade"),
    index("toolkit_sources_next").on(table.nextAt).where(sql`next_at is not null`),
    index("toolkit_sources_waiting").on(table.changesCount).where(sql`changes_count > 0`),
    index("toolkit_sources_listing").on(table.listingAccountId).where(sql`listing_account_id is not null`),
  ],
);

/**
 * OAuth clients that projects have registered for private toolkits (apps that they defined). A client can be stored before its toolkit. It
 * is used only if the toolkit names the same issuer and token endpoint.
 */
export const toolkitClients = pgTable(
  "toolkit_clients",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    slug: text("slug").notNull(),
    /** Issuer at which the client is registered. If the toolkit names no issuer, the address of its token endpoint. */
    issuer: text("issuer").notNull(),
    /** The only address to which the client secret is sent. */
    tokenUrl: text("token_url").notNull(),
    clientId: text("client_id").notNull(),
    /** Sealed client secret. Null for a client without a secret. */
    clientSecret: bytes("client_secret"),
    /** Place of the secret in token requests, as the issuer's metadata says. Null if svc does not know it. */
    secretPlace: oneOf(clientSecretPlaces)("secret_place"),
    registration: oneOf(clientRegistrations)("registration").notNull(),
    /** Time at which the issuer ends the client secret. Null if it does not end. */
    expiresAt: time("expires_at"),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [primaryKey({ name: "toolkit_clients_key", columns: [table.projectId, table.slug] })],
);

/**
 * Embedding vectors of tools' texts. The key is a digest of endpoint address, model, project and text. A row without a vector is reserved
 * until `claimed_until` for the node that requests the vector.
 */
export const toolVectors = pgTable(
  "tool_vectors",
  {
    digest: text("digest").primaryKey(),
    /** Project that owns the private toolkit (an app that it defined itself); null for the shared catalog. */
    projectId: idColumn("prj")("project_id").references(() => projects.id),
    /**
     * Embedding vector of a tool's text. Each component is one signed byte. The components are scaled so that the largest is 127. Null
     * while a node requests the vector.
     */
    vector: bytes("vector"),
    claimedUntil: time("claimed_until").notNull(),
    /** Time at which a node last read this embedding vector, accurate to about a day. */
    usedAt: time("used_at").notNull(),
  },
  (table) => [
    uniqueIndex("tool_vectors_project").on(table.projectId, table.digest),
    index("tool_vectors_used").on(table.usedAt),
  ],
);
