// Runs every check that needs no database (`npm run check`). Prints a line with the time of each check when it ends, and the output of
// failed checks at the end. Ends with status 1 if a check has failed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPassedChecks } from "./passed-checks.mjs";
import { root, run } from "./run.mjs";

const concurrency = 2;

/** The paths of all files that can influence a check. A check that has passed is not repeated as long as its files do not change. */
const everything = ["."];

/** The checks, the longest first. A check without files depends on more than files, or takes no time. */
const checks = [
  ["format and lint", formatAndLint, everything],
  // Files that have not changed are not checked again; tsconfig.json says where this is stored. Only one checker runs, because each checker
  // computes the shared types again: four of them would need a third more processor time, which the other checks can use.
  ["types", () => run("tsc", ["-p", ".", "--noEmit", "--checkers", "1"]), everything],
  ["types of the console", () => run("tsc", ["-p", "packages/console", "--noEmit", "--checkers", "1"]), everything],
  ["types of the documentation's pages", () => run("tsc", ["-p", "packages/site", "--noEmit"]), ["packages/site"]],
  ["layers, doc references, commands", () => run("vitest", ["run", "--config", "test/static.config.ts"]), everything],
  ["unused code and dependencies", () => run("knip", ["--no-progress", "--cache"]), everything],
  [
    "migrations equal the schema",
    () => script("check-migrations.mjs"),
    ["packages/db/src/schema", "packages/db/src/documents", "packages/db/migrations", "packages/core"],
  ],
  [
    "gen equals proto",
    () => script("check-gen.mjs"),
    ["proto", "gen", "buf.yaml", "buf.gen.yaml", "scripts/openapi", "scripts/protoc-gen-openapi.mjs"],
  ],
  [
    "definitions are as they were checked",
    () => script("toolkits.mjs", "--check"),
    ["toolkits", "packages/catalog", "packages/core"],
  ],
  [
    "the reference is of its sources",
    () => script("reference.mjs", "--check"),
    ["proto", "gen", "packages/cli", "packages/server", "packages/core", "test/golden/calls", "docs/reference"],
  ],
  ["the first table of benchmarks is of its figures", () => run("node", [join("bench", "summarize.ts"), "--check"])],
  ["buf breaking", () => script("check-breaking.mjs")],
  ["buf lint", () => run("buf", ["lint"]), ["proto", "buf.yaml"]],
  ["buf format", () => run("buf", ["format", "-d", "--exit-code"]), ["proto", "buf.yaml"]],
  ["size of the house", () => script("count-house.mjs", "--check"), ["packages"]],
  ["plain words", () => script("check-words.mjs"), everything],
  ["lockfile names no host", checkLockfile],
  ["the console within its budgets", () => script("check-console.mjs")],
];

/** Lint rules that read several files. They check all files, whichever has changed. */
const acrossFiles = [
  "correctness/noPrivateImports",
  "correctness/useImportExtensions",
  "nursery/noFloatingPromises",
  "nursery/noMisusedPromises",
  "suspicious/noImportCycles",
];

/**
 * Checks the format of files, and the lint rules that read a single file, only for files that have changed since all passed. These are half
 * of the work of checking all files.
 */
async function formatAndLint() {
  const changed = passed.changedFiles(["biome.json"]);
  // A package's declaration (package.json) influences all of its files.
  const isMost =
    changed === undefined || changed.length > 500 || changed.some((file) => file.endsWith("/package.json"));
  const runs = isMost
    ? [["ci", "."]]
    : [
        ["ci", "--formatter-enabled=false", ...acrossFiles.map((rule) => `--only=${rule}`), "."],
        ["format", "--no-errors-on-unmatched", ...changed],
        ["lint", "--no-errors-on-unmatched", ...acrossFiles.map((rule) => `--skip=${rule}`), ...changed],
      ];
  const results = await Promise.all(runs.map((options) => run("biome", [...options, "--colors=off"])));
  const failed = results.filter(({ code }) => code !== 0);
  if (failed.length === 0) passed.keepFiles(["biome.json"]);
  return { code: failed.length, output: failed.map(({ output }) => output).join("\n") };
}

function script(name, ...options) {
  return run("node", [join("scripts", name), ...options]);
}

/** Checks that the lockfile names no host, because it could then be installed only from that host. Integrity hashes are sufficient. */
function checkLockfile() {
  const lines = readFileSync(join(root, "pnpm-lock.yaml"), "utf8").split("\n");
  const found = lines.flatMap((line, index) =>
    /https?:\/\/|^\s+(?:tarball|registry):/.test(line) ? [`pnpm-lock.yaml:${index + 1}: ${line.trim()}`] : [],
  );
  return { code: found.length, output: found.join("\n") };
}

const passed = await openPassedChecks();
const failures = [];
const waiting = [...checks];

/** Runs the remaining checks, one after another. If a check prints a line `skipped: why` or `note: what`, it is shown next to its name. */
async function work() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const [name, perform, paths] = check;
    const startedAt = performance.now();
    const isKnown = paths !== undefined && passed.has(name, paths);
    const { code, output } = isKnown ? { code: 0, output: "note: nothing it looks at has changed" } : await perform();
    if (code === 0 && paths !== undefined && !isKnown) passed.keep(name, paths);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const said = code === 0 ? /^(?:skipped: |note: (?=.))(.*)$/m.exec(output) : null;
    if (code !== 0) failures.push({ name, output });
    process.stdout.write(`${code === 0 ? "ok    " : "FAILED"} ${seconds.padStart(5)} s  ${name}${note(said)}\n`);
  }
}

function note(said) {
  if (said === null) return "";
  const [line, words] = said;
  return ` (${line.startsWith("note: ") ? words : line})`;
}

await Promise.all(Array.from({ length: concurrency }, work));
for (const { name, output } of failures) process.stdout.write(`\n--- ${name}\n${output.trim()}\n`);
const count = checks.length - failures.length;
process.stdout.write(`\n${count} of ${checks.length} checks passed\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
