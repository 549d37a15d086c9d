// What scripts/build-console.mjs and scripts/build-site.mjs share: a folder that is built again only if its sources changed. It runs on
// Node 20, and ends well also if the build fails: the service then starts without those pages and says why.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Makes `dist` of a package what its sources say, unless it is already. `sources` are files and folders of the checkout, `ignored` a pattern
 * of names in them that no build reads, and `command` builds into a folder. The output of a build that fails is left in dist/build-error.txt.
 * `isKept` keeps what is there, however old. Returns true if what was built is there.
 */
export function buildOnce({ name, title, sources, ignored, command }, { force = false, isKept = false } = {}) {
  const dist = join(root, "packages", name, "dist");
  const stampFile = join(dist, ".built");
  if (isKept && existsSync(stampFile)) return !existsSync(join(dist, "build-error.txt"));
  const wanted = fingerprint([...sources, "pnpm-lock.yaml", "scripts/build-once.mjs"], ignored);
  if (!force && existsSync(stampFile) && readFileSync(stampFile, "utf8") === wanted) {
    return !existsSync(join(dist, "build-error.txt"));
  }
  // It takes seconds, or a minute on a busy machine: nobody should wonder what they wait for.
  process.stderr.write(`svc: building ${title} (once after each change)\n`);
  // Not in the place of the old one until it is whole: a service that starts meanwhile reads either.
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

/** Builds now, prints what is wrong, and sets the exit status. */
export function buildNow(build, name) {
  const isBuilt = build({ force: true });
  if (!isBuilt) process.stderr.write(readFileSync(join(root, "packages", name, "dist/build-error.txt"), "utf8"));
  process.exitCode = isBuilt ? 0 : 1;
}

/** What a build depends on, as a hash. */
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

/** Runs a command with the project's own tools. Returns the output of one that failed. */
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
