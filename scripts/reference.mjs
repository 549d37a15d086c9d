// Writes the pages of docs/reference that are generated from the contract, the commands and the configuration (`npm run reference`). With
// `--check`, writes nothing, and ends with status 1 if a page differs from what it would write.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commandHelp } from "@svc/cli";
import { configVariables } from "@svc/server/config";
import { writeApi } from "./reference/api.mjs";
import { writeCli } from "./reference/cli.mjs";
import { readContract } from "./reference/contract.mjs";
import { readMetrics } from "./reference/metrics.mjs";
import { paddedTable } from "./reference/write.mjs";
import { root } from "./run.mjs";

const read = (path) => readFileSync(join(root, path), "utf8");

/** Returns the commands for an API call, from the table that people maintain. */
function commandsOf(table) {
  const cells = new Map(
    [...table.matchAll(/^\| `(\w+)`\s*\| (.*?)\s*\|$/gm)].map(([, method, cell]) => [method, cell]),
  );
  return ({ name }) => cells.get(name) ?? "none";
}

/** Returns a page in which the first table is replaced. */
function withTable(path, table) {
  return read(path).replace(/^\|.*\|\n(?:\|.*\|\n)+/m, () => `${table}\n`);
}

function configurationPage() {
  const escaped = (text) => text.replaceAll("<", "\\<");
  const rows = configVariables.map(({ name, default: fallback, meaning }) => [
    `\`${name}\``,
    escaped(fallback),
    escaped(meaning),
  ]);
  return withTable("docs/reference/configuration.md", paddedTable(["variable", "default", "meaning"], rows));
}

/** Returns the page of metrics. People maintain the meanings in the page; names, types and labels come from the code. */
function metricsPage() {
  const path = "docs/reference/metrics.md";
  const meanings = new Map(
    [...read(path).matchAll(/^\| `(svc_\w+)`.*\| (.*?)\s*\|$/gm)].map(([, name, says]) => [name, says]),
  );
  const rows = readMetrics().map(({ name, type, labels, help }) => [
    ...[`\`${name}\``, type, labels.join(", ")],
    meanings.get(name)?.replaceAll("\\|", "|") ?? help,
  ]);
  return withTable(path, paddedTable(["metric", "type", "labels", "meaning"], rows));
}

const contract = await readContract();
const pages = new Map([
  ...writeApi(contract, commandsOf(read("docs/reference/calls-and-commands.md"))),
  ...writeCli(commandHelp()),
  ["docs/reference/configuration.md", configurationPage()],
  ["docs/reference/metrics.md", metricsPage()],
]);
const present = globSync("docs/reference/{api,cli}/**/*.md", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
const gone = present.filter((path) => !pages.has(path));
const changed = [...pages].filter(([path, text]) => !existsSync(join(root, path)) || read(path) !== text);
if (process.argv.includes("--check")) {
  for (const path of [...gone, ...changed.map(([path]) => path)]) {
    process.stdout.write(`${path} is not what its sources say: npm run reference\n`);
    process.exitCode = 1;
  }
} else {
  for (const path of gone) rmSync(join(root, path));
  for (const [path, text] of changed) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  process.stdout.write(`${pages.size} pages, ${changed.length} written, ${gone.length} removed\n`);
}
