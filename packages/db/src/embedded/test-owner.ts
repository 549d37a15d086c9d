import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundled } from "@svc/testing/bundled";

/** For tests: a process that owns an embedded PostgreSQL and that the test can kill. */
export type ClusterOwner = {
  /** Returns the next line that the process printed. Undefined after the end of the process. */
  nextLine(): Promise<string | undefined>;
  /** Kills the test process, but not its PostgreSQL server. Returns the number of the last row that the process reported. */
  kill(): Promise<number>;
  /** Kills the process and its process group, including a running initdb. */
  killGroup(): Promise<void>;
};

const fixture = await bundled(fileURLToPath(new URL("./owner.fixture.ts", import.meta.url)));

/** For tests: starts owner.fixture.ts, a process that runs an embedded PostgreSQL on `dataDir`, and returns the process. */
export function startOwner(
  dataDir: string,
  mode: "write" | "idle",
  account: { uid?: number; gid?: number } = {},
): ClusterOwner {
  const child = spawn(process.execPath, [fixture, dataDir, mode], {
    ...account,
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let lastNumber = 0;
  const nextLine = async () => {
    const { value, done } = await lines.next();
    if (done === true) return undefined;
    if (/^\d+$/.test(value)) lastNumber = Number(value);
    return value;
  };
  return {
    nextLine,
    kill: async () => {
      child.kill("SIGKILL");
      while ((await nextLine()) !== undefined);
      await ended(child);
      return lastNumber;
    },
    killGroup: async () => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
