import { roles } from "@svc/core";
import { sql } from "drizzle-orm";
import { boolean, index, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, oneOf, time } from "./columns.ts";
import { apiKeys, projects } from "./projects.ts";

/**
 * People who sign in with an account of the company's identity provider. A person is known by the provider's address (`issuer`) and the
 * provider's id of the account (`subject`). The mail address and the name may change.
 */
export const people = pgTable(
  "people",
  {
    id: idColumn("per")("id").primaryKey(),
    issuer: text("issuer").notNull(),
    subject: text("subject").notNull(),
    /** Mail address of the person as the provider reports it. Empty if the provider reports none. */
    mail: text("mail").notNull(),
    /** Name of the person as the provider reports it. Empty if the provider reports none. */
    name: text("name").notNull(),
    /** True if a group of the person gives the role administrator. */
    isAdministrator: boolean("is_administrator").notNull(),
    /**
     * Refresh token of the last sign-in, with which svc asks the provider if the person still has access. Encrypted for the context
     * `deployment/people/<id>/refresh`. Null if the provider gave none, or if the access has ended.
     */
    refresh: bytes("refresh"),
    createdAt: time("created_at").notNull(),
    /** Time of the last sign-in. */
    signedInAt: time("signed_in_at").notNull(),
    /** Time at which a node last began to ask the provider about the person. */
    checkedAt: time("checked_at").notNull(),
    /** Time at which the provider last confirmed the person. */
    confirmedAt: time("confirmed_at").notNull(),
  },
  (table) => [
    uniqueIndex("people_subject").on(table.issuer, table.subject),
    index("people_checked").on(table.checkedAt).where(sql`refresh is not null`),
  ],
);

/** Seats of people: one row for each person and project. The calls of the person in the project use the seat's key. */
export const personSeats = pgTable(
  "person_seats",
  {
    personId: idColumn("per")("person_id")
      .notNull()
      .references(() => people.id, { onDelete: "cascade" }),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    /** Key of the seat. It has the role of the person in the project. A revoked key is replaced at the next sign-in. */
    keyId: idColumn("key")("key_id")
      .notNull()
      .references(() => apiKeys.id),
    /** Role that an invitation or an administrator gave. Null if only the groups of the person give the seat. */
    givenRole: oneOf(roles)("given_role"),
  },
  (table) => [
    primaryKey({ name: "person_seats_key", columns: [table.personId, table.projectId] }),
    uniqueIndex("person_seats_of_key").on(table.keyId),
    index("person_seats_project").on(table.projectId, table.personId),
  ],
);

/** Invitations: each gives a role in a project to the first person who signs in with its link. Only the digest of the token is stored. */
export const invitations = pgTable(
  "invitations",
  {
    digest: bytes("digest").primaryKey(),
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    role: oneOf(roles)("role").notNull(),
    /** Mail address of the only account that can accept the invitation, in lower case. Empty if every account that may sign in can. */
    mail: text("mail").notNull(),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at").notNull(),
    spentAt: time("spent_at"),
  },
  (table) => [index("invitations_expires").on(table.expiresAt), index("invitations_project").on(table.projectId)],
);

/** Sign-ins of programs that wait for a person to approve them in a browser (RFC 8628). Only digests of the codes are stored. */
export const deviceCodes = pgTable(
  "device_codes",
  {
    /** Digest of the code that the program sends to get its key. */
    digest: bytes("digest").primaryKey(),
    /** Digest of the code that the person types or confirms. */
    userDigest: bytes("user_digest").notNull(),
    /** Name of the program, for example of its computer. The page on which the person approves shows it. */
    clientName: text("client_name").notNull(),
    expiresAt: time("expires_at").notNull(),
    /** Key of the person who approved. The key of the program has its role and ends with it. Null while no person has approved. */
    voucherKeyId: idColumn("key")("voucher_key_id"),
    /** Time at which a person denied, or at which the program got its key. Null before that. */
    spentAt: time("spent_at"),
  },
  (table) => [uniqueIndex("device_codes_user").on(table.userDigest), index("device_codes_expires").on(table.expiresAt)],
);

/**
 * Tokens of the identity provider that svc has accepted and must not accept again, until they expire. Only the digest of a token's id is
 * stored.
 */
export const usedAssertions = pgTable(
  "used_assertions",
  { digest: bytes("digest").primaryKey(), expiresAt: time("expires_at").notNull() },
  (table) => [index("used_assertions_expires").on(table.expiresAt)],
);
