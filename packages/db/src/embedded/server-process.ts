import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Account, programOptions } from "./data-folder.ts";

/** How the server ended. */
export type ServerExit = {
  /** PostgreSQL's exit status; null when its guard was killed. */
  readonly code: number | null;
  /** The end of what it logged. */
  readonly log: string;
};

/** A running, or starting, PostgreSQL server. */
export type ServerProcess = {
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<ServerExit>;
  /** Shuts it down: sessions end at once, and nothing committed is lost. Resolves when it has ended. */
  stop(): Promise<ServerExit>;
};

/** What `spawnServer` runs. */
export type ServerProcessOptions = {
  readonly file: string;
  readonly args: readonly string[];
  readonly account: Account;
  /** A process number PostgreSQL shall not take for the holder of its lock. */
  readonly ignoredPid: number;
  readonly onLog: (line: string) => void;
};

/**
 * Starts PostgreSQL behind a shell that shuts it down when its standard input ends. The service holds the other end of
 * that pipe, so the server cannot outlive it, not even when it is killed. Both are in a process group of their own: a
 * terminal's Ctrl-C reaches only the service, which stops its server last.
 */
export function spawnServer(options: ServerProcessOptions): ServerProcess {
  const { env, ...account } = programOptions(options.account);
  const child = spawn("/bin/sh", ["-c", guardScript, "sh", options.file, ...options.args], {
    ...account,
    env: { ...env, PG_GRANDPARENT_PID: String(options.ignoredPid) },
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  // The guard may be gone before its input is closed.
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

// The reader is killed once the server has ended, or it would signal whatever has got the server's number by then. A
// background process of sh ignores SIGINT, but PostgreSQL sets its own handler.
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
  // A fast shutdown waits for no client, but a backend may hang in the kernel.
  const timer = setTimeout(() => pid !== undefined && quitGroup(pid), stopMs);
  try {
    return await exited;
  } finally {
    clearTimeout(timer);
  }
}

const stopMs = 20_000;

/** Ends the server at once; its next start replays the log, so nothing committed is lost. */
function quitGroup(group: number): void {
  try {
    process.kill(-group, "SIGQUIT");
  } catch {
    // It ended meanwhile.
  }
}
