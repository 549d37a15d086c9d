import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, idColumn, time } from "./columns.ts";
import type { AuditActor } from "./words.ts";

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
