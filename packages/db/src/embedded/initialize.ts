import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { installedBinaries, runnableBinaries } from "./binaries.ts";
import { type Account, type DataFolder, dataFolderAt, runProgram } from "./data-folder.ts";
import { serverFailed } from "./errors.ts";

/** The only role of the embedded server. It owns all objects. */
export const embeddedRole = "svc";

/** Options for `openStore`, which may create a new database. */
export type InitializeOptions = {
  readonly dataDir: string;
  readonly binaries: string;
  readonly account: Account;
  /**
   * True if the database must survive a power failure and must ask for its password. False for data that may be lost; the server then asks
   * for no password.
   */
  readonly durable: boolean;
  readonly password: string | undefined;
};

/**
 * Returns the database of a data folder. Runs initdb if there is no database. A new database is created under another name and then
 * renamed, so svc never uses an incomplete one. If two services create it at the same time, the second service uses the database of the
 * first.
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

/**
 * Prefix of the name of a folder in which svc is creating a database. The folder is renamed when the database is complete. The next start
 * removes folders that an interrupted start has left.
 */
export const unfinishedPrefix = "postgres.new-";

async function initialize(store: DataFolder, options: InitializeOptions): Promise<void> {
  const { account, durable, binaries } = options;
  const password = options.password ?? randomBytes(24).toString("base64url");
  await writeSynced(store.passwordFile, `${password}\n`);
  await chmod(store.root, account === undefined ? 0o700 : 0o711);
  await mkdir(store.cluster, { mode: 0o700 });
  // initdb gets its own copy of the password, because only the service may read the password file.
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

/** The files of a PostgreSQL data folder that control the server: its settings, and the lists of who may connect. */
export const settingsFiles = ["postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "pg_ident.conf"];

/**
 * Replaces the settings files of a restored PostgreSQL data folder with those of a newly created one, because a backup may contain unsafe
 * settings. The new data folder is created below `place`, and this function does not remove it.
 */
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

/** Writes a folder's list of files to disk. Call it after a rename in the folder, because the rename survives a power failure only then. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}
