import { sql } from "drizzle-orm";
import { bigint, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { erasureCountsDocument } from "../documents/erasure.ts";
import { bytes, document, idColumn, oneOf, time } from "./columns.ts";
import { erasureKinds, erasureStates } from "./words.ts";

/**
 * What was erased, or is. A batch is one transaction, which holds the row and moves position and counts with what is deleted: one node
 * works at it at a time, and another goes on where that one stopped. It outlives what it erased: it refers to no project.
 */
export const erasures = pgTable(
  "erasures",
  {
    id: idColumn("ers")("id").primaryKey(),
    projectId: idColumn("prj")("project_id").notNull(),
    kind: oneOf(erasureKinds)("kind").notNull(),
    /** Whom it erases; empty once it is done, and of a project. */
    entityId: text("entity_id").notNull(),
    state: oneOf(erasureStates)("state").notNull(),
    /** From 1: how often the tables are gone through. The last pass finds nothing. */
    pass: integer("pass").notNull().default(1),
    /** The table that is gone through, and the key of the last row that was looked at, as JSON text; empty at a beginning. */
    atTable: text("at_table").notNull().default(""),
    atKey: text("at_key").notNull().default(""),
    /** Rows that were deleted, by table. */
    counts: document(erasureCountsDocument)("counts").notNull(),
    /** Rows that this pass deleted, and jobs that it left since they have not ended. */
    deletedInPass: bigint("deleted_in_pass", { mode: "number" }).notNull().default(0),
    jobsLeft: integer("jobs_left").notNull().default(0),
    /** The next pass begins then at the earliest; null while one is under way. */
    notBefore: time("not_before"),
    createdAt: time("created_at").notNull(),
    finishedAt: time("finished_at"),
  },
  (table) => [
    // Of one entity, or one project, one is under way at a time.
    uniqueIndex("erasures_unfinished").on(table.projectId, table.entityId).where(sql`finished_at is null`),
  ],
);

/** Programs that rows ran which an erasure deleted, by their digests, until it is known whether anything else uses them. */
export const erasurePrograms = pgTable(
  "erasure_programs",
  { erasureId: idColumn("ers")("erasure_id").notNull(), digest: bytes("digest").notNull() },
  (table) => [primaryKey({ name: "erasure_programs_key", columns: [table.erasureId, table.digest] })],
);
