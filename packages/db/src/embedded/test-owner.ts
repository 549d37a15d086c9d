import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundled } from "@svc/testing/bundled";

/** A process that owns an embedded PostgreSQL, for a test to kill. */
export type ClusterOwner = {
  /** The next line it printed; undefined when it has ended. */
  nextLine(): Promise<string | undefined>;
  /** Kills it, but not its server. Resolves with the last number it printed; one whose server is gone may have told of that since. */
  kill(): Promise<number>;
  /** Kills it and what shares its process group, such as a running initdb. */
  killGroup(): Promise<void>;
};

const fixture = await bundled(fileURLToPath(new URL("./owner.fixture.ts", import.meta.url)));

/** Runs owner.fixture.ts on `dataDir`. */
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
