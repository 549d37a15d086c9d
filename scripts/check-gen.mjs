// Checks that gen/src equals what buf generates from proto/: generates it into another folder and compares. The work tree is not changed,
// so uncommitted changes do not matter.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeDifferences } from "./compare-folders.mjs";
import { root, run } from "./run.mjs";

const folder = mkdtempSync(join(tmpdir(), "svc-gen-"));
try {
  const { code, output } = await run("buf", ["generate", "-o", folder]);
  const differences = code === 0 ? describeDifferences(join(root, "gen/src"), join(folder, "gen/src")) : output;
  if (differences !== "") {
    process.stdout.write(`${differences}\nRun \`npm run gen\` and commit gen/.\n`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
