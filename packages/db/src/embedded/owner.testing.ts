import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A process that owns an embedded PostgreSQL, for a test to kill. */
export type Owner = {
  /** The next line it printed; undefined when it has ended. */
  nextLine(): Promise<string | undefined>;
  /** The last line it printed before it ended. */
  kill(signal?: NodeJS.Signals): Promise<string | undefined>;
  /** Kills it and everything in its process group, such as a running initdb, but not its server. */
  killGroup(): Promise<void>;
};

/** Runs owner.fixture.ts on `dataDir`. */
export function startOwner(dataDir: string, mode: "write" | "idle", account: { uid?: number; gid?: number } = {}): Owner {
  const fixture = fileURLToPath(new URL("./owner.fixture.ts", import.meta.url));
  const child = spawn(process.execPath, [fixture, dataDir, mode], {
    ...account,
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => {
    const { value, done } = await lines.next();
    return done === true ? undefined : value;
  };
  return {
    nextLine,
    kill: async (signal = "SIGKILL") => {
      child.kill(signal);
      let last: string | undefined;
      for (let line = await nextLine(); line !== undefined; line = await nextLine()) last = line;
      await ended(child);
      return last;
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
