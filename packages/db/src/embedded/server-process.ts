import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Account, programOptions } from "./data-folder.ts";

/** How the server ended. */
export type ServerExit = {
  /** Exit status of PostgreSQL. Null if a signal killed the guard (the shell that starts and stops PostgreSQL). */
  readonly code: number | null;
  /** The last lines of the server's log. */
  readonly log: string;
};

/** A PostgreSQL server that starts or runs. */
export type ServerProcess = {
  /** Resolves when the server has ended, for any reason. */
  readonly exited: Promise<ServerExit>;
  /** Shuts the server down and resolves when it has ended. Sessions end at once. No commit is lost. */
  stop(): Promise<ServerExit>;
};

/** Options of `spawnServer`. */
export type ServerProcessOptions = {
  readonly file: string;
  readonly args: readonly string[];
  readonly account: Account;
  /** Process id that PostgreSQL ignores in an old lock file. The process with this id is not a PostgreSQL server. */
  readonly ignoredPid: number;
  readonly onLog: (line: string) => void;
};

/**
 * Starts PostgreSQL below a shell (the guard). The guard stops PostgreSQL when its standard input closes, which happens even if the service
 * is killed. Both have their own process group, so Ctrl-C reaches only the service, which stops PostgreSQL last.
 */
export function spawnServer(options: ServerProcessOptions): ServerProcess {
  const { env, ...account } = programOptions(options.account);
  const child = spawn("/bin/sh", ["-c", guardScript, "sh", options.file, ...options.args], {
    ...account,
    env: { ...env, PG_GRANDPARENT_PID: String(options.ignoredPid) },
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  // Ignores the error of a guard that has ended before its input is closed.
  child.stdin.on("error", () => {});
  const tail: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    tail.push(line);
    if (tail.length > 20) tail.shift();
    options.onLog(line);
  });
  child.on("error", (error) => tail.push(error.message));
  const exited = once(child, "close").then(
    ([code]) => ({ code, log: tail.join("\n") }) as ServerExit,
    (error: Error) => ({ code: null, log: error.message }),
  );
  return { exited, stop: () => stopServer(child.stdin, child.pid, exited) };
}

// Shell script of the guard, which starts PostgreSQL and a background process (the reader) that waits for the end of the standard input.
// The guard kills the reader when the server has ended. Otherwise the reader could later signal another process that got the server's id. A
// background process of sh ignores SIGINT, but PostgreSQL sets its own handler for SIGINT.
const guardScript = `
trap "" INT TERM HUP
exec 3<&0
"$@" 3<&- </dev/null & server=$!
{ read -r _; kill -INT "$server"; } <&3 >/dev/null 2>&1 & reader=$!
exec 3<&-
wait "$server"; status=$?
kill -KILL "$reader" 2>/dev/null
exit "$status"
`;

async function stopServer(
  stdin: NodeJS.WritableStream,
  pid: number | undefined,
  exited: Promise<ServerExit>,
): Promise<ServerExit> {
  stdin.end();
  // A fast shutdown does not wait for clients, but a PostgreSQL process may still hang in the kernel. After `stopMs` milliseconds, all
  // processes of the server are therefore ended at once.
  const timer = setTimeout(() => pid !== undefined && quitGroup(pid), stopMs);
  try {
    return await exited;
  } finally {
    clearTimeout(timer);
  }
}

const stopMs = 20_000;

/** Ends all processes of the server at once. No commit is lost, because the server's next start replays the log. */
function quitGroup(group: number): void {
  try {
    process.kill(-group, "SIGQUIT");
  } catch {
    // The signal fails only if the process group has already ended, so the error is ignored.
  }
}
