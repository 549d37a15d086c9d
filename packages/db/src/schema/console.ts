import { index, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { linkTargetDocument } from "../documents/link-target.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { apiKeys, projects } from "./projects.ts";
import { linkPurposes } from "./words.ts";

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
