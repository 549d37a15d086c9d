import { index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, idColumn, time } from "./columns.ts";
import { projects } from "./projects.ts";

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
