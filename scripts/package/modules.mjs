// Finds the dependencies that the service needs to run, as the lockfile has installed them here.
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../run.mjs";
import { readManifest, workspace } from "./sources.mjs";

/**
 * Returns every package that is not part of the workspace, with its place below `node_modules`: at the top, or inside the package that
 * needs it if another version is at the top.
 */
export function runtimeModules(names) {
  const placed = new Map();
  const waiting = names.flatMap((name) =>
    dependenciesOf(join(root, workspace.get(name).folder)).map((found) => ({ ...found, within: "" })),
  );
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { name, folder, within } = next;
    if (workspace.has(name) || seenFrom(placed, name, within) === folder) continue;
    const place = placed.has(name) ? `${within}/node_modules/${name}` : name;
    if (placed.has(place)) throw new Error(`two versions of ${name} are needed at ${place}`);
    placed.set(place, folder);
    waiting.push(...dependenciesOf(folder).map((found) => ({ ...found, within: place })));
  }
  return placed;
}

/** Returns the module that Node finds by a name from a place in the package. Node looks into each node_modules on the way up. */
function seenFrom(placed, name, within) {
  for (let at = within; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const inside = placed.get(`${at}/node_modules/${name}`);
    if (inside !== undefined) return inside;
  }
  return placed.get(name);
}

/**
 * Returns the installed dependencies of the package in `folder`. Optional dependencies for other machines are not installed and left out.
 */
function dependenciesOf(folder) {
  const { dependencies = {}, optionalDependencies = {} } = readManifest(folder);
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const found = installed(name, folder);
    if (found !== undefined) return [{ name, folder: found }];
    if (name in optionalDependencies) return [];
    throw new Error(`${name}, which ${folder} needs, is not installed`);
  });
}

/** Returns the folder of a module. It looks into each node_modules from `folder` upwards, as Node does. */
function installed(name, folder) {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
    if (at === dirname(at)) return undefined;
  }
}
