// packages/db/migrations is what the schema asks for: lets drizzle-kit look for changes against a copy of the folder and
// expects none. Its exit status says little: asked about a rename without a terminal it crashes with status 0.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describeDifferences } from "./compare-folders.mjs";
import { root, run } from "./run.mjs";

const migrations = join(root, "packages/db/migrations");
const folder = mkdtempSync(join(tmpdir(), "svc-migrations-"));
try {
  cpSync(migrations, folder, { recursive: true });
  // drizzle-kit reads --out as relative to the working folder, whatever it begins with.
  const out = relative(root, folder);
  const schema = "./packages/db/src/schema/index.ts";
  const { code, output } = await run("drizzle-kit", [
    "generate",
    "--dialect=postgresql",
    `--schema=${schema}`,
    `--out=${out}`,
  ]);
  const differences = describeDifferences(migrations, folder);
  if (code !== 0 || differences !== "" || !output.includes("No schema changes")) {
    process.stdout.write(
      `${differences}\n${output}\nThe schema has changes without a migration: see CONTRIBUTING.md, "Change the schema".\n`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
