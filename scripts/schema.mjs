// Writes packages/db/schema.sql, the schema that the migrations create, as read from the catalogs of a new database. With --check, only
// says if the file is up to date. Needs the project's own Node: `npm run schema`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSchemaText } from "../packages/db/src/schema-text.ts";
import { createTestDatabase, startDatabaseServer } from "../packages/testing/src/database.ts";
import { root } from "./run.mjs";

const path = "packages/db/schema.sql";
const server = await startDatabaseServer();
process.env.SVC_TEST_DATABASE_URL = server.url;
try {
  const { db, drop } = await createTestDatabase();
  const text = await readSchemaText(db.sql);
  await drop();
  const isCurrent = readOrEmpty() === text;
  if (!process.argv.includes("--check")) writeFileSync(join(root, path), text);
  else if (!isCurrent) {
    process.stdout.write(`${path} is not what the migrations make: npm run schema\n`);
    process.exitCode = 1;
  }
} finally {
  await server.stop();
}

function readOrEmpty() {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return "";
  }
}
