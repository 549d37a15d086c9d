// Code that scripts/build-console.mjs and scripts/build-site.mjs share: it builds a folder again only if its sources have changed. It runs
// on Node 20. If the build fails, it still ends without an error: the service then starts without these pages and says why.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Builds the folder `dist` of a package if its sources have changed. `sources`: files and folders of the checkout. `ignored`: pattern for
 * names in them that no build reads. `command`: builds into a folder. If the build fails, its output is written to dist/build-error.txt.
 * `isKept`: true to keep an existing folder, even if it is outdated. Returns true if a built folder exists afterwards.
 */
export function buildOnce({ name, title, sources, ignored, command }, { force = false, isKept = false } = {}) {
  const dist = join(root, "packages", name, "dist");
  const stampFile = join(dist, ".built");
  if (isKept && existsSync(stampFile)) return !existsSync(join(dist, "build-error.txt"));
  const wanted = fingerprint([...sources, "pnpm-lock.yaml", "scripts/build-once.mjs"], ignored);
  if (!force && existsSync(stampFile) && readFileSync(stampFile, "utf8") === wanted) {
    return !existsSync(join(dist, "build-error.txt"));
  }
  // The build takes seconds, or a minute on a busy machine, so this line explains the wait.
  process.stderr.write(`svc: building ${title} (once after each change)\n`);
  // The new build replaces the old one only when it is complete. So a service that starts at this moment reads either the old or the new
  // one.
  const next = join(root, ".cache", `${name}-${process.pid}`);
  const error = run(command(next));
  if (error !== undefined) {
    rmSync(next, { recursive: true, force: true });
    mkdirSync(next, { recursive: true });
    writeFileSync(join(next, "build-error.txt"), error);
  }
  writeFileSync(join(next, ".built"), wanted);
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
  if (error === undefined) return true;
  const [why = "no output"] = error.split("\n").filter((line) => /error/i.test(line));
  process.stderr.write(
    `svc: ${title.toUpperCase()} WAS NOT BUILT, everything else works: ${why.trim()} (npm run ${name === "site" ? "docs" : name}:build)\n`,
  );
  return false;
}

/** Builds a folder now, prints any errors, and sets the exit status. */
export function buildNow(build, name) {
  const isBuilt = build({ force: true });
  if (!isBuilt) process.stderr.write(readFileSync(join(root, "packages", name, "dist/build-error.txt"), "utf8"));
  process.exitCode = isBuilt ? 0 : 1;
}

/** Returns a hash of all files that a build depends on. */
function fingerprint(sources, ignored) {
  const hash = createHash("sha256");
  for (const file of sources.flatMap((path) => filesAt(path, ignored))) {
    hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

function filesAt(path, ignored) {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules" && name !== "dist" && !ignored.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesAt(`${path}/${entry.name}`, ignored) : [`${path}/${entry.name}`]));
}

/** Runs a command with the project's own tools. Returns its output if it failed. */
function run({ program, args, folder }) {
  const bin = join(root, "node_modules", ".bin");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`, NO_COLOR: "1" };
  delete env.FORCE_COLOR;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: join(root, folder),
    env,
    encoding: "utf8",
  });
  if (status === 0) return undefined;
  return error === undefined ? `${stdout}${stderr}` : error.message;
}
