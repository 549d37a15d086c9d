import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, chmod, mkdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { folderBelongsToAnother, folderCannotBeEntered, folderCannotBeMade } from "./errors.ts";

/** Account that runs PostgreSQL's programs. Undefined: the service's own account. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/**
 * Account that runs PostgreSQL if the service runs as root, because PostgreSQL refuses to run as root. uid 65534 exists on every system.
 */
export const unprivilegedAccount = { uid: 65534, gid: 65534 };

/** Result of a program. `code` is null if a signal ended the program. `error` is set if the program could not be started. */
export type ProgramResult = {
  readonly code: number | null;
  readonly output: string;
  readonly error?: NodeJS.ErrnoException;
};

/**
 * Runs a program to its end as `account`, and returns its result. The program runs in the folder `/` without the service's environment. The
 * promise never rejects.
 */
export function runProgram(file: string, args: readonly string[], account: Account): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { ...programOptions(account), stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const append = (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-4000);
    };
    child.stdout.on("data", append);
    child.stderr.on("data", append);
    child.on("error", (error) => resolve({ code: null, output, error }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/**
 * Returns the spawn options for all PostgreSQL programs. The environment is minimal, because PGDATA, PGPORT and similar variables would
 * change the programs' behaviour. The folder is `/`, which every account can enter.
 */
export function programOptions(account: Account) {
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
  return { cwd: "/", env, ...account };
}

/** Paths of the parts of the embedded database, in the service's data folder. */
export type DataFolder = {
  /** Root folder of the database. A rename creates it complete, so it is never partly there. */
  readonly root: string;
  /** PostgreSQL's own data directory, mode 0700. It belongs to the account that runs PostgreSQL. */
  readonly cluster: string;
  /** File with the password of the database's only role, mode 0600. It belongs to the service's account. */
  readonly passwordFile: string;
};

/** Returns the paths of the files and folders of an embedded database. `root`: the database's folder. */
export function dataFolderAt(root: string): DataFolder {
  return { root, cluster: join(root, "data"), passwordFile: join(root, "password") };
}

/**
 * Creates the data folder if it is missing. Returns its path without symbolic links, so that two services can compare paths, and the account
 * that must run PostgreSQL. If the service runs as root, this is the owner of existing data, or uid 65534. Throws an error if the account
 * cannot use the folder.
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

/**
 * Creates the folder `path` and its missing parent folders, all with `mode`, independent of the umask. The parent folders get `mode` too,
 * because PostgreSQL may run as another account and must be able to enter them.
 */
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
  // EPERM means that this process runs as root but is not allowed to run a program as another account. The error is ignored here, because
  // the start of PostgreSQL reports the same problem later.
  if (entered.code !== 0 && entered.error?.code !== "EPERM") {
    throw folderCannotBeEntered(dataDir, (await closedFolder(dataDir)) ?? dataDir, account.uid);
  }
  return account;
}

/** Returns the outermost folder on the path that other users of the system cannot enter. Undefined if they can enter all folders. */
async function closedFolder(path: string): Promise<string | undefined> {
  const parent = dirname(path);
  const outer = parent === path ? undefined : await closedFolder(parent);
  if (outer !== undefined) return outer;
  return ((await stat(path)).mode & 0o001) === 0 ? path : undefined;
}

/** PostgreSQL's lock file in a data directory. It describes the server that holds the directory, or that held it last. */
type LockFile = {
  readonly pid: number;
  /** Port of the PostgreSQL server. NaN until PostgreSQL has written the port into its lock file. */
  readonly port: number;
  /** Last status that the server wrote: `starting`, `ready`, `standby` or `stopping`. Empty until the server has written one. */
  readonly status: string;
};

/**
 * Returns the content of postmaster.pid. Undefined if the file is missing. Its lines are: pid, folder, start, port, socket, address, key,
 * status.
 */
export async function readLockFile(cluster: string): Promise<LockFile | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number.parseInt(lines[0] ?? "", 10);
  if (!(pid > 0)) return undefined;
  return { pid, port: Number.parseInt(lines[3] ?? "", 10), status: lines[7] ?? "" };
}

/**
 * Returns true if the database server accepts connections, according to its lock file (postmaster.pid). Also returns true for a standby
 * server, which accepts only reads.
 */
export function takesConnections({ status }: LockFile): boolean {
  return status === "ready" || status === "standby";
}

/**
 * Returns true if the process id in PostgreSQL's lock file now belongs to another program. The PostgreSQL server has then ended. Returns
 * false if this cannot be determined. `platform`: operating system; default: that of this process.
 */
export async function isReusedPid(
  lock: LockFile,
  cluster: string,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  if (platform !== "linux") {
    const listed = await listCommandLine(lock.pid);
    return listed !== undefined && !listed.includes(cluster);
  }
  const commandLine = await readFile(`/proc/${lock.pid}/cmdline`, "utf8").catch(() => undefined);
  return commandLine !== undefined && commandLine !== "" && !commandLine.split("\0").includes(cluster);
}

/** Returns the command line of a process on a system without /proc, such as macOS. Undefined if there is no such process. */
async function listCommandLine(pid: number): Promise<string | undefined> {
  const { code, output } = await runProgram("/bin/ps", ["-ww", "-o", "command=", "-p", String(pid)], undefined);
  return code === 0 && output.trim() !== "" ? output : undefined;
}
