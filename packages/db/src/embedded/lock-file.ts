import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** PostgreSQL's own lock on a data directory: the process that holds, or held, it. */
export type LockFile = {
  readonly pid: number;
  /** Whether that server said that it is shutting down. */
  readonly isStopping: boolean;
};

/** Reads postmaster.pid; undefined when there is none. */
export async function readLockFile(cluster: string): Promise<LockFile | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0)) return undefined;
  return { pid, isStopping: /^stopping/m.test(text) };
}

/**
 * Whether the process of a lock is known to be something else: the server is gone, and its number, which a container's
 * few processes reuse soon, was given to another. False where that cannot be told.
 */
export async function isReusedPid(lock: LockFile, cluster: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${lock.pid}/cmdline`, "utf8").catch(() => undefined);
  return commandLine !== undefined && commandLine !== "" && !commandLine.split("\0").includes(cluster);
}
