import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { installedBinaries, runnableBinaries } from "./binaries.ts";
import { type Account, type DataFolder, dataFolderAt, runProgram } from "./data-folder.ts";
import { serverFailed } from "./errors.ts";

/** The only role of the embedded server; it owns everything. */
export const embeddedRole = "svc";

/** Options for the creation of a new database. */
export type InitializeOptions = {
  readonly dataDir: string;
  readonly binaries: string;
  readonly account: Account;
  /** True if it must survive a power failure and ask for its password. */
  readonly durable: boolean;
  readonly password: string | undefined;
};

/**
 * Returns the database of a data folder; runs initdb if there is none. It creates it under another name and renames it, so an interrupted
 * creation is never used. If two services create it at once, the second uses the first's.
 */
export async function openStore(options: InitializeOptions): Promise<DataFolder> {
  const store = dataFolderAt(join(options.dataDir, "postgres"));
  if (existsSync(store.root)) return store;
  const unfinished = dataFolderAt(await mkdtemp(join(options.dataDir, unfinishedPrefix)));
  try {
    await initialize(unfinished, options);
    if (options.durable) await syncFolder(unfinished.root);
    await rename(unfinished.root, store.root);
    if (options.durable) await syncFolder(options.dataDir);
  } catch (error) {
    await rm(unfinished.root, { recursive: true, force: true });
    if (!existsSync(store.root)) throw error;
  }
  return store;
}

/** Returns the password of the database's role. */
export async function readPassword(store: DataFolder): Promise<string> {
  return (await readFile(store.passwordFile, "utf8")).trim();
}

/** Name prefix of a database under creation; leftovers are removed at the next start. */
export const unfinishedPrefix = "postgres.new-";

async function initialize(store: DataFolder, options: InitializeOptions): Promise<void> {
  const { account, durable, binaries } = options;
  const password = options.password ?? randomBytes(24).toString("base64url");
  await writeSynced(store.passwordFile, `${password}\n`);
  await chmod(store.root, account === undefined ? 0o700 : 0o711);
  await mkdir(store.cluster, { mode: 0o700 });
  // initdb may not read the password file itself, which belongs to the service.
  const initialPassword = join(store.root, "initial-password");
  await writeFile(initialPassword, password, { mode: 0o600 });
  if (account !== undefined) {
    for (const path of [store.cluster, initialPassword]) await chown(path, account.uid, account.gid);
  }
  const access = durable ? ["-A", "scram-sha-256", "--pwfile", initialPassword] : ["-A", "trust", "--no-sync"];
  const args = ["-D", store.cluster, "-U", embeddedRole, "-E", "UTF8", "--locale=C", ...access];
  const { code, output, error } = await runProgram(join(binaries, "bin", "initdb"), args, account);
  await rm(initialPassword);
  if (code !== 0) throw serverFailed("could not make its data folder", error?.message ?? output);
}

/** Files that control a server: its settings and access lists. */
export const settingsFiles = ["postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "pg_ident.conf"];

/** Gives a cluster the settings of a new one, which is created below `place` and left there. */
export async function createSettings(
  cluster: string,
  { place, account }: { readonly place: string; readonly account: Account },
): Promise<void> {
  const binaries = await runnableBinaries(installedBinaries(), place, account);
  const scratch = dataFolderAt(await mkdtemp(join(place, "settings-")));
  await initialize(scratch, { dataDir: place, binaries, account, durable: true, password: undefined });
  for (const name of settingsFiles) await rename(join(scratch.cluster, name), join(cluster, name));
}

async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(text);
  await file.sync();
}

/** Flushes a folder: a rename survives a power failure only after its folder is on disk. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}
