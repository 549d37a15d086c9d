import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Account, programOptions } from "./data-folder.ts";

/** Exit of the server. */
export type ServerExit = {
  /** PostgreSQL's exit status; null if its guard was killed. */
  readonly code: number | null;
  /** The last lines of its log. */
  readonly log: string;
};

/** A starting or running PostgreSQL server. */
export type ServerProcess = {
  /** Resolves when it has ended, for any reason. */
  readonly exited: Promise<ServerExit>;
  /** Shuts it down: sessions end at once, and no commit is lost. Resolves when it has ended. */
  stop(): Promise<ServerExit>;
};

/** Options of `spawnServer`. */
export type ServerProcessOptions = {
  readonly file: string;
  readonly args: readonly string[];
  readonly account: Account;
  /** A process id that PostgreSQL must not take for the holder of its lock. */
  readonly ignoredPid: number;
  readonly onLog: (line: string) => void;
};

/**
 * Starts PostgreSQL under a shell that shuts it down when the shell's standard input ends. The service holds the other end of that pipe, so
 * the server cannot outlive it, even if it is killed. Both are in their own process group. So a terminal's Ctrl-C reaches only the service,
 * which stops its server last.
 */
export function spawnServer(options: ServerProcessOptions): ServerProcess {
  const { env, ...account } = programOptions(options.account);
  const child = spawn("/bin/sh", ["-c", guardScript, "sh", options.file, ...options.args], {
    ...account,
    env: { ...env, PG_GRANDPARENT_PID: String(options.ignoredPid) },
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  // The guard may have ended before its input is closed.
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

// The reader is killed after the server's end. Otherwise it would signal any process that gets the server's id later. A background process
// of sh ignores SIGINT, but PostgreSQL sets its own handler.
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
  // A fast shutdown does not wait for clients, but a backend may hang in the kernel.
  const timer = setTimeout(() => pid !== undefined && quitGroup(pid), stopMs);
  try {
    return await exited;
  } finally {
    clearTimeout(timer);
  }
}

const stopMs = 20_000;

/** Ends the server at once; its next start replays the log, so no commit is lost. */
function quitGroup(group: number): void {
  try {
    process.kill(-group, "SIGQUIT");
  } catch {
    // It has already ended.
  }
}
