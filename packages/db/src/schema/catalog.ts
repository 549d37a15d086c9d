import { integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytes, idColumn, time } from "./columns.ts";
import { projects } from "./projects.ts";

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
