import type { AgentToolGroup } from "@svc/core";
import { index, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { asWritten, documentType } from "../documents/document.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { apiKeys, projects } from "./projects.ts";
import { grantTokenKinds, linkPurposes, type StoredAccessClass } from "./words.ts";

/** Whom a link of the console is for, and for what; what its purpose does not need is left out. */
type LinkTarget = {
  /** Of a link to an answer. */
  readonly answer?: {
    readonly jobId: string;
    readonly requestId: string;
    readonly principalId: string;
    /** When that contact was made, epoch milliseconds: a later one of the same name is another. Links of before 0.2 have none. */
    readonly contactCreatedAt?: number;
  };
  /** Of what a user confirms in a client: which call it is good for. */
  readonly confirm?: { readonly name: string };
  /** Of a link to a connection. */
  readonly connect?: {
    readonly toolkitSlug: string;
    readonly entityId: string;
    readonly scheme: string;
    readonly redirectUrl: string;
    /** The account that it made and that may wait for consent; empty for none. */
    readonly accountId: string;
  };
};

/** How `console_links.target` is stored. */
const linkTargetDocument = documentType<LinkTarget>("console_links.target", [asWritten]);

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
    accessClasses: text("access_classes").array().$type<StoredAccessClass[]>().notNull(),
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

/** A browser that signed in. Both of its secrets are kept by their digests alone. */
export const consoleSessions = pgTable(
  "console_sessions",
  {
    id: idColumn("ses")("id").primaryKey(),
    cookieDigest: bytes("cookie_digest").notNull(),
    halfDigest: bytes("half_digest").notNull(),
    /** Of the administrator's token as it signed in: another token is another administrator. Null without that seat. */
    adminDigest: bytes("admin_digest"),
    userAgent: text("user_agent").notNull(),
    createdAt: time("created_at").notNull(),
    /** Within a minute of the truth. */
    usedAt: time("used_at").notNull(),
  },
  (table) => [
    uniqueIndex("console_sessions_cookie").on(table.cookieDigest),
    index("console_sessions_used").on(table.usedAt),
  ],
);

/** A key that a session may make calls as. */
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

/** A link that lets a person do one thing without a key. Its token is kept by its digest alone. */
export const consoleLinks = pgTable(
  "console_links",
  {
    id: idColumn("lnk")("id").primaryKey(),
    digest: bytes("digest").notNull(),
    purpose: oneOf(linkPurposes)("purpose").notNull(),
    /** Whom it is for, and for what. */
    target: document(linkTargetDocument)("target").notNull(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    /** The key that vouches for it: the link ends with it. */
    keyId: idColumn("key")("key_id")
      .notNull()
      .references(() => apiKeys.id),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at").notNull(),
    spentAt: time("spent_at"),
  },
  (table) => [uniqueIndex("console_links_digest").on(table.digest), index("console_links_expires").on(table.expiresAt)],
);
