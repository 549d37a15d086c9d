import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startDatabaseServer } from "@svc/testing/database";
import { createLevel, newestMigration } from "./level.ts";
import { createPresent } from "./migrate-stores.ts";
import { recordDatabase } from "./record-database.ts";
import { recordHistory } from "./record-history.ts";
import { databaseText, historyText } from "./recording-text.ts";
import { scenarios } from "./scenarios/index.ts";

// node test/recorded/record.ts <version> <folder> [name …]: records every scenario, or those named, into a folder that does not exist.

const [version, folder, ...names] = process.argv.slice(2);
if (version === undefined || folder === undefined) {
  throw new Error(
    "say which version is recorded, and into which folder: node test/recorded/record.ts 0.1 test/recorded/0.1",
  );
}
if (existsSync(folder)) throw new Error(`${folder} exists: the recordings of a released version are never changed`);

const server = await startDatabaseServer();
process.env["SVC_TEST_DATABASE_URL"] = server.url;
try {
  const migration = await newestMigration();
  const level = await createLevel(migration);
  const present = await createPresent(level);
  await mkdir(join(folder), { recursive: true });
  for (const scenario of scenarios.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const history = await recordHistory(scenario, { version, migration, ...present });
    const text = historyText(history);
    await writeFile(join(folder, `${scenario.name}.json`), text);
    const facts = `${history.entries.length} entries, ${history.endings.length} endings, ${text.length} bytes`;
    process.stdout.write(`${scenario.name}: ${facts}\n`);
  }
  if (names.length === 0 || names.includes("database")) {
    const text = databaseText(await recordDatabase(level, { version, migration }));
    await writeFile(join(folder, "database.json"), text);
    process.stdout.write(`database: ${text.length} bytes\n`);
  }
  await present.drop();
  await level.drop();
} catch (error) {
  // Told at once: what still talks to the server fails when it stops.
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
} finally {
  await server.stop();
}
