import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { stopProcess } from "./child.ts";
import { childrenOf } from "./cpu.ts";
import { freePort } from "./free-port.ts";
import { delay, monotonicMicros } from "./monotonic.ts";
import { postKind } from "./post-kinds.ts";
import type { System, SystemSetup } from "./system.ts";

/** A subscription to create before the run. */
export type ServerSubscription = {
  readonly endpointUrl: string;
  readonly toolkitSlug: string;
  readonly triggerSlug: string;
};

/**
 * The results that a run counts: deliveries made, events stored, waiting deliveries, jobs that succeeded, or runs of standing programs with
 * a job.
 */
export type RecordedKind = "delivered" | "events" | "pending" | "jobs" | "runs";

/** Options of `startServer`. */
export type ServerOptions = {
  readonly subscriptions: readonly ServerSubscription[];
  /** The results that `recorded` counts. */
  readonly counts: RecordedKind;
  /** Options for Node itself, such as those of the profiler. */
  readonly nodeOptions: readonly string[];
  /** Folders of definitions in addition to the usual ones. */
  readonly toolkitFolders?: readonly string[];
  /** Further environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Text of the deployment file. Default: no file. */
  readonly deployment?: string;
  /** Calls to make once the server is ready: the path below `svc.v1.`, and the message. */
  readonly calls?: readonly (readonly [path: string, message: object])[];
};

/** API key of the server in every run. Each run has a new database, so the key gives access to nothing else. */
export const benchApiKey = "bench-0123456789abcdef0123456789abcdef";

/** The administrator's token of the server. */
export const benchAdminToken = "bench-administrator-0123456789abcdef";

const deploymentFile = "deployment.yaml";
const root = fileURLToPath(new URL("..", import.meta.url));
const readyMicros = 180e6;

/**
 * Starts the server as a user would, by `svc serve` with environment variables, on the given database. Creates its subscriptions by calls.
 * Resolves when it is ready. Throws with the end of its log if it ends before.
 */
export async function startServer(setup: SystemSetup, options: ServerOptions): Promise<System> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
  if (options.deployment !== undefined) await writeFile(join(folder, deploymentFile), options.deployment);
  const { checkout = root, processes = 1 } = setup;
  const child = spawn(process.execPath, [...options.nodeOptions, entryOf(checkout), "serve"], {
    cwd: checkout,
    env: { ...inheritedEnvironment(), ...serverEnvironment(setup, port, options, folder) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = keepLog(child);
  const sql = postgres(setup.databaseUrl, { max: 1, onnotice: () => {} });
  const onUnexpectedEnd = () => process.stderr.write(`the service ended by itself:\n${log()}`);
  child.on("close", onUnexpectedEnd);
  const stop = async () => {
    child.off("close", onUnexpectedEnd);
    await stopProcess(child, () => child.kill("SIGTERM"), 40_000);
    await sql.end();
    await rm(folder, { recursive: true });
  };
  try {
    await untilReady(child, { port, processes });
    for (const subscription of options.subscriptions)
      await callServer(port, "TriggersService/CreateSubscription", subscription);
    for (const [path, message] of options.calls ?? []) await callServer(port, path, message);
  } catch (error) {
    await stop();
    throw new Error(`the service did not start: ${String(error)}\n${log()}`);
  }
  const pid = child.pid ?? 0;
  const otherPids = processes === 1 ? [] : childrenOf(pid);
  return { pid, otherPids, port, recorded: () => countRecorded(sql, options.counts), stop };
}

/** Returns the path of the command line, which is JavaScript in the package, and was in another package before 0.2. */
function entryOf(checkout: string): string {
  const entries = ["packages/cli/src/main.ts", "packages/cli/src/main.js", "packages/server/src/main.ts"];
  const entry = entries.find((path) => existsSync(join(checkout, path)));
  if (entry === undefined)
    throw new Error(`${checkout} is no checkout of this project: it has none of ${entries.join(", ")}`);
  return entry;
}

/** Makes one call with the run's key or another one, as plain JSON. Throws unless the answer is 200. */
export async function callServer(port: number, path: string, request: object, key = benchApiKey): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/svc.v1.${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(request),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** Variables for svc are removed from the environment, so that those of the user's own service do not change the measurement. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SVC_")));
}

function serverEnvironment(
  setup: SystemSetup,
  port: number,
  { toolkitFolders = [], deployment, environment }: ServerOptions,
  folder: string,
): Record<string, string> {
  const secrets = (["calendar", "order"] as const).map(postKind).map(({ secretEnv, secret }) => [secretEnv, secret]);
  return {
    ...Object.fromEntries(secrets),
    SVC_PORT: String(port),
    SVC_DATABASE_URL: setup.databaseUrl,
    SVC_TOOLKITS: ["toolkits", "bench/toolkits", ...toolkitFolders].join(","),
    SVC_VAULT_KEY: `bench:${Buffer.alloc(32, 1).toString("base64")}`,
    SVC_BOOTSTRAP_KEY: benchApiKey,
    SVC_ADMIN_TOKEN: benchAdminToken,
    SVC_ENDPOINT_CONCURRENCY: String(setup.endpointConnections),
    SVC_LOG_LEVEL: "warn",
    ...(setup.processes !== undefined && { SVC_PROCESSES: String(setup.processes) }),
    ...(deployment !== undefined && { SVC_DEPLOYMENT: join(folder, deploymentFile) }),
    ...environment,
  };
}

/** Waits until the server reports that it is ready. If it has several processes, each of them must answer as well. */
async function untilReady(
  child: ChildProcess,
  { port, processes }: { port: number; processes: number },
): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const looks = processes === 1 ? [] : [`${url}/metrics`];
  const giveUpAt = monotonicMicros() + readyMicros;
  while (monotonicMicros() < giveUpAt) {
    if (child.exitCode !== null) throw new Error(`it ended with exit status ${child.exitCode}`);
    const answers = [`${url}/readyz`, ...looks].map((look) =>
      fetch(look).then(
        async (answer) => (answer.ok ? await answer.text() : ""),
        () => "",
      ),
    );
    const [ready, metrics = `svc_processes ${processes}\n`] = await Promise.all(answers);
    if (ready !== "" && metrics.includes(`svc_processes ${processes}\n`)) return;
    await delay(50);
  }
  throw new Error("it was not ready within three minutes");
}

async function countRecorded(sql: postgres.Sql, counts: RecordedKind): Promise<number> {
  const [row] = await countRows(sql, counts);
  return row?.count ?? 0;
}

function countRows(sql: postgres.Sql, counts: RecordedKind): postgres.PendingQuery<{ count: number }[]> {
  switch (counts) {
    case "events":
      return sql`select count(*)::int4 as count from events`;
    case "jobs":
      return sql`select count(*)::int4 as count from jobs where status = 'succeeded'`;
    case "runs":
      return sql`select count(job_id)::int4 as count from standing_runs`;
    default:
      return sql`select count(*)::int4 as count from deliveries where state = ${counts}`;
  }
}

/** Keeps the end of a process's output, for an error message. */
function keepLog(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      text = `${text}${chunk}`.slice(-4_000);
    });
  }
  return () => text;
}
