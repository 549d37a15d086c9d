import { constants } from "node:fs";
import { access, chmod, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Account, runProgram, unprivilegedAccount } from "./account.ts";
import { folderBelongsToAnother, folderCannotBeEntered } from "./errors.ts";

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
 * root the present data's owner, else uid 65534. Throws when that account cannot enter the folder.
 */
export async function prepareDataDir(dataDir: string): Promise<Account> {
  const uid = process.getuid?.() ?? 0;
  await createFolder(dataDir, uid === 0 ? 0o711 : 0o700);
  const { cluster } = dataFolderAt(join(dataDir, "postgres"));
  const owner = await stat(cluster).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EACCES") return stat(dirname(cluster));
    return undefined;
  });
  if (uid !== 0) {
    if (owner !== undefined && owner.uid !== uid) throw folderBelongsToAnother(cluster, owner.uid, uid);
    return undefined;
  }
  const account = owner === undefined || owner.uid === 0 ? unprivilegedAccount : { uid: owner.uid, gid: owner.gid };
  const entered = await runProgram("/bin/sh", ["-c", 'cd "$1"', "sh", dataDir], account);
  // EPERM: this root may not change its account at all; what runs the binaries says so.
  if (entered.code !== 0 && entered.error?.code !== "EPERM") {
    throw folderCannotBeEntered(dataDir, (await closedFolder(dataDir)) ?? dataDir, account.uid);
  }
  return account;
}

/** Every folder made here gets `mode`, whatever the umask: a parent of ours must not shut PostgreSQL out. */
async function createFolder(path: string, mode: number): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return access(path, constants.W_OK | constants.X_OK);
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) await chmod(folder, mode);
}

/** The outermost folder on the way to `path` that others may not enter. */
async function closedFolder(path: string): Promise<string | undefined> {
  const parent = dirname(path);
  const outer = parent === path ? undefined : await closedFolder(parent);
  if (outer !== undefined) return outer;
  return ((await stat(path)).mode & 0o001) === 0 ? path : undefined;
}
