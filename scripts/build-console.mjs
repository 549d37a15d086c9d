// Builds packages/console where its sources changed: scripts/setup.mjs calls it, and `npm run console:build` forces it. It runs on
// Node 20, and ends well also where the build fails: the service then starts without a console and says why.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "packages", "console");
const dist = join(folder, "dist");
const stampFile = join(dist, ".built");

/**
 * Makes packages/console/dist what its sources say, unless it is already. What a build that fails printed is left in
 * dist/build-error.txt. Returns whether the console is there.
 */
export function buildConsole({ force = false } = {}) {
  const wanted = fingerprint();
  if (!force && existsSync(stampFile) && readFileSync(stampFile, "utf8") === wanted) {
    return !existsSync(join(dist, "build-error.txt"));
  }
  // Beside the old one until it is whole: a service that starts meanwhile reads either.
  const next = join(root, ".cache", `console-${process.pid}`);
  const error = runVite(next);
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
    `svc: THE CONSOLE WAS NOT BUILT, everything else works: ${why.trim()} (npm run console:build)\n`,
  );
  return false;
}

/** What a build depends on, as a hash. */
function fingerprint() {
  const hash = createHash("sha256");
  const files = [folder, join(root, "gen")].flatMap(sourcesIn);
  for (const file of [...files, join(root, "pnpm-lock.yaml"), fileURLToPath(import.meta.url)]) {
    hash.update(`${file.slice(root.length)}\n`).update(readFileSync(file));
  }
  return hash.digest("hex");
}

function sourcesIn(directory) {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules" && name !== "dist" && !/\.test\.tsx?$|\.md$/.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? sourcesIn(path) : [path];
    });
}

/** Builds into a folder. Returns what was printed where that failed. */
function runVite(outDir) {
  const bin = join(root, "node_modules", ".bin");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`, NO_COLOR: "1" };
  delete env.FORCE_COLOR;
  const args = ["build", "--outDir", outDir, "--emptyOutDir", "--logLevel", "warn"];
  const vite = join(folder, "node_modules", ".bin", "vite");
  const { status, stdout, stderr, error } = spawnSync(vite, args, { cwd: folder, env, encoding: "utf8" });
  if (status === 0) return undefined;
  return error === undefined ? `${stdout}${stderr}` : error.message;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const built = buildConsole({ force: true });
  if (!built) process.stderr.write(readFileSync(join(dist, "build-error.txt"), "utf8"));
  process.exitCode = built ? 0 : 1;
}
