import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytes, idColumn, time } from "./columns.ts";
import { projects } from "./projects.ts";

/** What a project keeps by name for the requests of its programs. The value is sealed for its project and name, and no call returns it. */
export const secrets = pgTable(
  "secrets",
  {
    projectId: idColumn("prj")("project_id")
      .notNull()
      .references(() => projects.id),
    name: text("name").notNull(),
    value: bytes("value").notNull(),
    createdAt: time("created_at").notNull(),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [primaryKey({ name: "secrets_key", columns: [table.projectId, table.name] })],
);

/** What the deployment itself sends, by name. The value is sealed for `deployment/deployment_secrets/<name>`, and no call returns it. */
export const deploymentSecrets = pgTable("deployment_secrets", {
  name: text("name").primaryKey(),
  value: bytes("value").notNull(),
  createdAt: time("created_at").notNull(),
  updatedAt: time("updated_at").notNull(),
});
