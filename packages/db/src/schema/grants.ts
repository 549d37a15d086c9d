import type { AgentToolGroup } from "@svc/core";
import { index, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { asWritten, documentType } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { apiKeys, projects } from "./projects.ts";
import { grantTokenKinds, linkPurposes, type StoredAccessClass } from "./words.ts";

/** Recipient and subject of a console link; fields that its purpose does not need are absent. */
type LinkTarget = {
  /** For links to an answer. */
  readonly answer?: {
    readonly jobId: string;
    readonly requestId: string;
    readonly principalId: string;
    /**
     * When the contact was created, epoch milliseconds. A contact created later under the same name is another one. Links from before 0.2
     * have no value.
     */
    readonly contactCreatedAt?: number;
  };
  /** For a confirmation in a client: the call it is valid for. */
  readonly confirm?: { readonly name: string };
  /** For links to a connection. */
  readonly connect?: {
    readonly toolkitSlug: string;
    readonly entityId: string;
    readonly scheme: string;
    readonly redirectUrl: string;
    /** The account created through the link, which may wait for consent; empty for none. */
    readonly accountId: string;
  };
};

/** How `console_links.target` is stored. */
const linkTargetDocument = documentType<LinkTarget>("console_links.target", [asWritten]);

/** An OAuth client that registered itself to request grants. */
export const grantClients = pgTable(
  "grant_clients",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    redirectUris: text("redirect_uris").array().notNull(),
    createdAt: time("created_at").notNull(),
    /** When it last received a grant or tokens, accurate to a day; null if never. */
    usedAt: time("used_at"),
  },
  (table) => [index("grant_clients_used").on(table.usedAt, table.createdAt)],
);

/** An agent's permission from a person. The agent's calls use a separate key whose text does not exist; the grant ends with that key. */
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
    /** Key of the person who gave the grant: the grant also ends with it. */
    voucherKeyId: idColumn("key")("voucher_key_id")
      .notNull()
      .references(() => apiKeys.id),
    clientId: text("client_id").notNull(),
    clientName: text("client_name").notNull(),
    /** Origin that its code was sent to, without path and query. */
    clientOrigin: text("client_origin").notNull(),
    /** Address that accepts its tokens. */
    resource: text("resource").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [uniqueIndex("grants_project").on(table.projectId, table.id), uniqueIndex("grants_key").on(table.keyId)],
);

/** An authorization code, which the client exchanges once for a grant. Only its digest is stored. */
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
    /** Scope of the grant's key. */
    entityId: text("entity_id").notNull(),
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull(),
    toolkitSlugs: text("toolkit_slugs").array().notNull(),
    /** Tool groups it gets in addition to the tools of apps. */
    agentTools: text("agent_tools").array().$type<AgentToolGroup[]>().notNull().default([]),
    expiresAt: time("expires_at").notNull(),
    spentAt: time("spent_at"),
    /** The grant it was exchanged for; null if the exchange was refused. */
    grantId: idColumn("grt")("grant_id"),
  },
  (table) => [index("grant_codes_expires").on(table.expiresAt)],
);

/**
 * A token of a grant; only its digest is stored. A spent refresh token stays until it expires. If it is presented again, it was stolen from
 * one of its two users.
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

/** A signed-in browser. Only the digests of its two secrets are stored. */
export const consoleSessions = pgTable(
  "console_sessions",
  {
    id: idColumn("ses")("id").primaryKey(),
    cookieDigest: bytes("cookie_digest").notNull(),
    halfDigest: bytes("half_digest").notNull(),
    /** Digest of the administrator's token at sign-in: another token is another administrator. Null without the administrator's seat. */
    adminDigest: bytes("admin_digest"),
    userAgent: text("user_agent").notNull(),
    createdAt: time("created_at").notNull(),
    /** Accurate to a minute. */
    usedAt: time("used_at").notNull(),
  },
  (table) => [
    uniqueIndex("console_sessions_cookie").on(table.cookieDigest),
    index("console_sessions_used").on(table.usedAt),
  ],
);

/** A key that a session may use for calls. */
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

/** A link that lets a person do one thing without a key. Only the digest of its token is stored. */
export const consoleLinks = pgTable(
  "console_links",
  {
    id: idColumn("lnk")("id").primaryKey(),
    digest: bytes("digest").notNull(),
    purpose: oneOf(linkPurposes)("purpose").notNull(),
    /** Recipient and subject. */
    target: document(linkTargetDocument)("target").notNull(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    /** Key that the link relies on: the link ends with it. */
    keyId: idColumn("key")("key_id")
      .notNull()
      .references(() => apiKeys.id),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at").notNull(),
    spentAt: time("spent_at"),
  },
  (table) => [uniqueIndex("console_links_digest").on(table.digest), index("console_links_expires").on(table.expiresAt)],
);
