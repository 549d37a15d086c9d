// Installs the packages of the lockfile, and builds the console and the documentation, if this was not done yet. Every npm script runs this
// script first. It runs on Node 20, before the project's own Node 24 is installed, so it uses nothing newer and no dependency.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildConsole } from "./build-console.mjs";
import { buildSite } from "./build-site.mjs";

const pnpmVersion = "12.21.0";
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampFile = join(root, "node_modules", ".setup");

/**
 * Returns a hash of everything that an install depends on. If it equals the stored stamp, nothing must be installed. Without it, npx would
 * ask the registry each time.
 */
function fingerprint() {
  const hash = createHash("sha256").update(`${pnpmVersion} ${process.platform} ${process.arch}\n`);
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) hash.update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/** Returns the environment for npx. If the home folder is not writable, caches go to .cache/. */
function installEnvironment() {
  const env = { ...process.env };
  const cache = env.npm_config_cache ?? join(homedir(), ".npm");
  if (isWritable(homedir()) && (!existsSync(cache) || isWritable(cache))) return env;
  const local = (name) => {
    const folder = join(root, ".cache", name);
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  return {
    ...env,
    npm_config_cache: local("npm"),
    XDG_CACHE_HOME: local("xdg-cache"),
    XDG_DATA_HOME: local("xdg-data"),
    XDG_STATE_HOME: local("xdg-state"),
    XDG_CONFIG_HOME: local("xdg-config"),
  };
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const wanted = fingerprint();
const installed = existsSync(stampFile) ? readFileSync(stampFile, "utf8") : "";
if (installed !== wanted) {
  process.stderr.write("svc: installing dependencies (first run, or the lockfile changed) ...\n");
  const args = ["-y", `pnpm@${pnpmVersion}`, "install", "--frozen-lockfile", "--reporter=append-only"];
  const result = spawnSync("npx", args, { cwd: root, env: installEnvironment(), stdio: ["ignore", 2, 2] });
  if (result.status !== 0) {
    process.stderr.write(`svc: the install failed (${result.error?.message ?? `exit ${result.status}`}).\n`);
    process.exit(1);
  }
  writeFileSync(stampFile, wanted);
}
buildConsole();
buildSite({ isKept: true });
