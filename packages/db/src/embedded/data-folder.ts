import { constants } from "node:fs";
import { access, chmod, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Account, runProgram, unprivilegedAccount } from "./account.ts";
import { folderBelongsToAnother, folderCannotBeEntered, folderCannotBeMade } from "./errors.ts";

/** Where the parts of the embedded store are, below the service's data folder. */
export type DataFolder = {
  /** Appears complete, by a rename, or not at all. */
  readonly root: string;
  /** PostgreSQL's own data directory, mode 0700, owned by the account it runs as. */
  readonly cluster: string;
  /** The password of its only role, mode 0600, owned by the service's account. */
  readonly passwordFile: string;
};

/** The parts of the store whose root is `root`. */
export function dataFolderAt(root: string): DataFolder {
  return { root, cluster: join(root, "data"), passwordFile: join(root, "password") };
}

/**
 * Makes the data folder, unless it is there, and finds the account PostgreSQL has to run as: the service's own, or for
 * root the present data's owner, else uid 65534. Throws when that account cannot use the folder.
 *
 * The path it returns has no symbolic links, so that two services know each other's by comparing it.
 */
export async function prepareDataDir(path: string): Promise<{ dataDir: string; account: Account }> {
  const uid = process.getuid?.() ?? 0;
  await createFolder(path, uid === 0 ? 0o711 : 0o700);
  const dataDir = await realpath(path);
  const store = dataFolderAt(join(dataDir, "postgres"));
  if (uid === 0) return { dataDir, account: await accountForRoot(dataDir, await ownerOf(store.cluster)) };
  await assertUsable(dataDir, store.root, uid);
  return { dataDir, account: undefined };
}

async function assertUsable(dataDir: string, storeRoot: string, uid: number): Promise<void> {
  const isUsable = await access(dataDir, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  const owner = isUsable ? await ownerOf(storeRoot) : await ownerOf(dataDir);
  if (owner !== undefined && (owner.uid !== uid || !isUsable)) throw folderBelongsToAnother(dataDir, owner.uid, uid);
}

/** Every folder made here gets `mode`, whatever the umask: a parent of ours must not shut PostgreSQL out. */
async function createFolder(path: string, mode: number): Promise<void> {
  const first = await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw folderCannotBeMade(path, error.message);
  });
  if (first === undefined) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) await chmod(folder, mode);
}

async function ownerOf(path: string): Promise<Account> {
  const found = await stat(path).catch(() => undefined);
  return found && { uid: found.uid, gid: found.gid };
}

async function accountForRoot(dataDir: string, owner: Account): Promise<Account> {
  const account = owner === undefined || owner.uid === 0 ? unprivilegedAccount : owner;
  const entered = await runProgram("/bin/sh", ["-c", 'cd "$1"', "sh", dataDir], account);
  // EPERM: this root may not change its account at all, which running the binaries will tell.
  if (entered.code !== 0 && entered.error?.code !== "EPERM") {
    throw folderCannotBeEntered(dataDir, (await closedFolder(dataDir)) ?? dataDir, account.uid);
  }
  return account;
}

/** The outermost folder on the way to `path` that others may not enter. */
async function closedFolder(path: string): Promise<string | undefined> {
  const parent = dirname(path);
  const outer = parent === path ? undefined : await closedFolder(parent);
  if (outer !== undefined) return outer;
  return ((await stat(path)).mode & 0o001) === 0 ? path : undefined;
}
