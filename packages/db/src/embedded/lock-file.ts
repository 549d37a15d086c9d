import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** PostgreSQL's own lock on a data directory: the server that holds, or held, it. */
export type LockFile = {
  readonly pid: number;
  /** NaN until the server has got so far. */
  readonly port: number;
  /** What the server last said: `starting`, `ready`, `standby`, `stopping`; empty until it has said something. */
  readonly status: string;
};

/** Reads postmaster.pid; undefined when there is none. Its lines: pid, folder, start, port, socket, address, key, status. */
export async function readLockFile(cluster: string): Promise<LockFile | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number.parseInt(lines[0] ?? "", 10);
  if (!(pid > 0)) return undefined;
  return { pid, port: Number.parseInt(lines[3] ?? "", 10), status: lines[7] ?? "" };
}

/** Whether the server of a lock takes connections: one that follows another takes those that read. */
export function takesConnections({ status }: LockFile): boolean {
  return status === "ready" || status === "standby";
}

/**
 * Whether the process of a lock is known to be something else: the server is gone, and its number, which a container's
 * few processes reuse soon, was given to another. False where that cannot be told.
 */
export async function isReusedPid(lock: LockFile, cluster: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${lock.pid}/cmdline`, "utf8").catch(() => undefined);
  return commandLine !== undefined && commandLine !== "" && !commandLine.split("\0").includes(cluster);
}
