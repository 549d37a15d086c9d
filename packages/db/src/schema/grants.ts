import type { AgentToolGroup } from "@svc/core";
import { sql } from "drizzle-orm";
import { index, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { asWritten, documentType } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { people } from "./people.ts";
import { apiKeys, projects } from "./projects.ts";
import { grantTokenKinds, linkPurposes, type StoredAccessClass } from "./words.ts";

/** Recipient and subject of a console link. Fields that the link's purpose does not need are absent. */
type LinkTarget = {
  /** Present if a person answers a question of a job through this link. */
  readonly answer?: {
    readonly jobId: string;
    readonly requestId: string;
    readonly principalId: string;
    /**
     * When the contact was created, in epoch milliseconds. A contact with the same name that was created later is a different one. Absent
     * if a version of svc before 0.2 stored this data.
     */
    readonly contactCreatedAt?: number;
  };
  /** Present if the link's purpose is a confirmation in an MCP client: the call that the link is valid for. */
  readonly confirm?: { readonly name: string };
  /** Data of a link through which a person connects an account. Absent if the link is for another purpose. */
  readonly connect?: {
    readonly toolkitSlug: string;
    readonly entityId: string;
    readonly scheme: string;
    readonly redirectUrl: string;
    /** The account created through the link, which may still wait for consent; empty if there is no such account yet. */
    readonly accountId: string;
  };
};

/** Reads and writes the JSON of the column `console_links.target`: what a link opens, and for whom. */
const linkTargetDocument = documentType<LinkTarget>("console_links.target", [asWritten]);

/** OAuth clients that registered themselves to request grants (people's permissions for agents). */
export const grantClients = pgTable(
  "grant_clients",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    redirectUris: text("redirect_uris").array().notNull(),
    createdAt: time("created_at").notNull(),
    /** When the client last received a grant (a person's permission for an agent) or tokens, accurate to a day; null if it never did. */
    usedAt: time("used_at"),
  },
  (table) => [index("grant_clients_used").on(table.usedAt, table.createdAt)],
);

/**
 * Grants: each is a permission that a person gave to an agent. The agent's calls use a separate key. This key has no text, so no caller can
 * present it. The grant ends when this key ends.
 */
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
    /** Key of the person who gave the grant (permission) to the agent. The grant also ends when this key ends. */
    voucherKeyId: idColumn("key")("voucher_key_id")
      .notNull()
      .references(() => apiKeys.id),
    clientId: text("client_id").notNull(),
    clientName: text("client_name").notNull(),
    /** Origin of the address that received the authorization code, without path and query. */
    clientOrigin: text("client_origin").notNull(),
    /** Address of the resource that accepts the tokens of the grant (a person's permission for an agent). */
    resource: text("resource").notNull(),
    /**
     * Access classes for which an identity assertion opened the grant. The key has fewer if a person narrowed the grant. Null if a person
     * gave the grant on the consent page.
     */
    assertedClasses: text("asserted_classes").array().$type<StoredAccessClass[]>(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [uniqueIndex("grants_project").on(table.projectId, table.id), uniqueIndex("grants_key").on(table.keyId)],
);

/**
 * Authorization codes. A client exchanges a code once for a grant (a person's permission for an agent). Only the code's digest is stored.
 */
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
    /**
     * The entity (customer or user) of the grant. `accessClasses`, `toolkitSlugs`: the access classes and toolkits that the grant allows.
     */
    entityId: text("entity_id").notNull(),
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull(),
    toolkitSlugs: text("toolkit_slugs").array().notNull(),
    /** Tool groups that the agent gets in addition to the tools of apps. */
    agentTools: text("agent_tools").array().$type<AgentToolGroup[]>().notNull().default([]),
    expiresAt: time("expires_at").notNull(),
    spentAt: time("spent_at"),
    /** The grant (a person's permission for an agent) that the client got for the code; null if the exchange was refused. */
    grantId: idColumn("grt")("grant_id"),
  },
  (table) => [index("grant_codes_expires").on(table.expiresAt)],
);

/**
 * Tokens of grants (people's permissions for agents). Only a token's digest is stored. A used refresh token stays until it expires. If it
 * is presented again, two parties have it, so one of them stole it.
 */
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

/**
 * Console sessions: each is a signed-in browser. A session has two secrets, of which only the digests are stored: the cookie, and a text
 * that the browser sends in a header.
 */
export const consoleSessions = pgTable(
  "console_sessions",
  {
    id: idColumn("ses")("id").primaryKey(),
    cookieDigest: bytes("cookie_digest").notNull(),
    halfDigest: bytes("half_digest").notNull(),
    /**
     * Digest of the administrator's token at sign-in. If the token has changed since then, the session no longer counts as the
     * administrator's. Null if the user did not sign in as administrator.
     */
    adminDigest: bytes("admin_digest"),
    /** Person who signed in with a company account. Null if the session was opened with keys or links. */
    personId: idColumn("per")("person_id").references(() => people.id, { onDelete: "cascade" }),
    /** Id of the session at the identity provider (the claim `sid`). Null if the provider reported none. */
    providerSession: text("provider_session"),
    userAgent: text("user_agent").notNull(),
    createdAt: time("created_at").notNull(),
    /** Last use of the session, accurate to a minute. */
    usedAt: time("used_at").notNull(),
  },
  (table) => [
    uniqueIndex("console_sessions_cookie").on(table.cookieDigest),
    index("console_sessions_used").on(table.usedAt),
    index("console_sessions_person").on(table.personId).where(sql`person_id is not null`),
  ],
);

/** Keys that each console session may use for calls: one row for each session and key. */
export const consoleSeats = pgTable(
  "console_seats",
  {
    sessionId: idColumn("ses")("session_id")
      .notNull()
      .references(() => consoleSessions.id, { onDelete: "cascade" }),
    keyId: idColumn("key")("key_id")
      .notNull()
      .references(() => apiKeys.id),
    createdAt: time("created_at").notNull(),
  },
  (table) => [
    primaryKey({ name: "console_seats_key", columns: [table.sessionId, table.keyId] }),
    uniqueIndex("console_seats_of_key").on(table.keyId, table.sessionId),
  ],
);

/** Console links. A link lets a person do one thing without a key. Only the digest of the link's token is stored. */
export const consoleLinks = pgTable(
  "console_links",
  {
    id: idColumn("lnk")("id").primaryKey(),
    digest: bytes("digest").notNull(),
    purpose: oneOf(linkPurposes)("purpose").notNull(),
    /**
     * The thing that the link opens, and the person for whom it was made. For example, this is a question and the contact who may answer
     * it.
     */
    target: document(linkTargetDocument)("target").notNull(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    /** Key that the link relies on. The link ends when this key ends. */
    keyId: idColumn("key")("key_id")
      .notNull()
      .references(() => apiKeys.id),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at").notNull(),
    spentAt: time("spent_at"),
  },
  (table) => [uniqueIndex("console_links_digest").on(table.digest), index("console_links_expires").on(table.expiresAt)],
);
