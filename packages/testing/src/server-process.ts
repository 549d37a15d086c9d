import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { bundled } from "./bundled.ts";
import { compileCache } from "./compile-cache.ts";
import { patienceMs, pauseMs } from "./until.ts";

/** The server as users run it: a separate process. */
export type ServerProcess = {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  /** Resolves with the exit code, or null if a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Sends the signal and waits until the process ends. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Returns everything that the server has written to stdout and stderr so far. */
  output(): string;
};

const main = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const checkout = fileURLToPath(new URL("../../..", import.meta.url));

/** The secret of the calendar's webhook in every started server. */
export const calendarSecret = "calendar-test-secret";
/** Approver key of the project `default` in every started server. */
export const bootstrapKey = "bootstrap-key-of-the-tests-0123456789";
/** Token of AdminService in every started server. */
export const adminToken = "admin-token-of-the-tests-0123456789";

/**
 * Settings of the memory allocator. A server that starts without them sets them and starts itself again. The tests give the settings, so
 * that the server starts only once.
 */
const allocator = { MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_TRIM_THRESHOLD_: "131072", MALLOC_ARENA_MAX: "2" };

/**
 * Returns a port that was free a moment ago, for tests that must know the port before a server listens. The port is outside the range that
 * systems assign automatically, so that no other process gets it while a test restarts a server.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(randomInt(20_000, 30_000), "127.0.0.1", () => resolve(true));
    });
    const address = server.address();
    if (isFree) server.close();
    if (isFree && address !== null && typeof address === "object") return address.port;
  }
}

/** Returns a new random vault key in the form that SVC_VAULT_KEY requires. */
export function vaultKey(): string {
  return `test:${randomBytes(32).toString("base64")}`;
}

/**
 * Starts the server from its bundle, and waits until it is ready. Rejects with its output if it ends before that. The server gets a free
 * port, unless SVC_PORT names one. The port is read from the server's own log line, because another process may answer on a known port.
 */
export async function startServerProcess(env: Record<string, string>): Promise<ServerProcess> {
  // If SVC_TEST_PROGRAM is set, it is the command of an installed package, and the test starts this package instead of the bundle.
  const [program, ...args] = process.env["SVC_TEST_PROGRAM"]?.split(" ") ?? [process.execPath, await bundled(main)];
  const child = spawn(program ?? process.execPath, [...args, "serve"], {
    cwd: checkout,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...compileCache,
      ...allocator,
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      // The log level must include `info`, because the line with the port has this level.
      SVC_LOG_LEVEL: "info",
      SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret,
      SVC_BOOTSTRAP_KEY: bootstrapKey,
      SVC_ADMIN_TOKEN: adminToken,
      ...(env["SVC_DEPLOYMENT"] === undefined && { SVC_WEBHOOK_AUDIENCE: "projects" }),
      SVC_PORT: "0",
      ...env,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  }
  const exited = once(child, "exit").then(([code]) => code as number | null);
  let port: number | undefined;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}:\n${output}`);
    port ??= listeningPort(output);
    return port !== undefined && (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  }, 240_000);
  if (port === undefined) throw new Error("a server that is ready listens nowhere");
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    process: child,
    exited,
    output: () => output,
    async end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

/** Returns the port that a server logs when it listens. Returns undefined if the output does not contain the port yet. */
function listeningPort(output: string): number | undefined {
  const [, port] = /"url":"https?:\/\/[^"]*:(\d+)"[^\n]* listens on [^\n]*\n/.exec(output) ?? [];
  return port === undefined ? undefined : Number(port);
}

/**
 * Waits until `condition` returns true. Rejects after `timeoutMs` milliseconds with an error that names `what`. An error of `condition`
 * (for example a refused connection) counts as false. Only the error that the server has ended rejects at once.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = patienceMs,
  what = "condition",
): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    try {
      if (await condition()) return;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("the service ended")) throw error;
    }
    if (performance.now() > startedAt + timeoutMs) throw new Error(`${what} did not hold within ${timeoutMs} ms`);
    await wait(pauseMs(startedAt));
  }
}

/** Calls an API method by a plain JSON POST with the bootstrap key. Throws an Error with the answer if the status is not 200. */
export async function call<Answer>(
  server: { url: string },
  method: string,
  body: object,
  key = bootstrapKey,
): Promise<Answer> {
  const response = await fetch(`${server.url}/svc.v1.${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

/** Posts one message of a calendar channel, as the calendar app does. Resolves with the HTTP status. */
export async function postCalendar(server: { url: string }, channel: string, message: number): Promise<number> {
  const response = await fetch(`${server.url}/webhooks/calendar?token=${calendarSecret}`, {
    method: "POST",
    headers: {
      "x-calendar-channel-id": channel,
      "x-calendar-message-number": String(message),
      "x-calendar-resource-id": "resource-1",
      "x-calendar-resource-state": "exists",
      "x-calendar-resource-uri": "https://calendar.example/calendar/v3/calendars/primary/events?alt=json",
    },
  });
  await response.arrayBuffer();
  return response.status;
}
