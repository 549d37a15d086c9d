import { defineConfig } from "drizzle-kit";

// Run from the repository's root: drizzle-kit generate --config packages/db/drizzle.config.ts --name <what_changes>
export default defineConfig({
  dialect: "postgresql",
  schema: "./packages/db/src/schema/index.ts",
  out: "./packages/db/migrations",
});
