import { fork } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openDatabase } from "@svc/db";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { adminToken, call, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { expect } from "vitest";
import { kinds, programOf } from "./jobs-programs.ts";
import { itemsMax, type JobsProvider, startJobsProvider, writeDefinitions } from "./jobs-provider.ts";

/** Where a worker is killed: at a fault point of its own process, or by the app that holds its request. */
export type KillPoint = { readonly point: string; readonly nth: number };

/** A worker's process. */
export type Worker = {
  isDead(): boolean;
  /** Sends a message and waits for its echo, or for the worker's end. */
  tell(message: object): Promise<void>;
  /** Kills it as a kill -9 does; resolves once it has ended. */
  kill(): Promise<void>;
};

/** A job as GetJob answers it, as far as the tests look. */
export type JobAnswer = {
  id: string;
  status: string;
  lastError?: string;
  park?: { reason: string; judgment?: { requestId: string; continuations: string[] } };
  stepReceipts: { stepId: string; kind: string; state: string; rows?: Counts; calls?: Counts; undo?: Counts }[];
  receipt?: {
    outcome: string;
    lastSeq: number;
    rows?: Counts;
    calls?: Counts;
    actual?: Counts;
    saga?: Counts;
    resultJson?: string;
  };
};
/** Counts of rows, calls, undo entries and the like; what is nought is absent. */
type Counts = Partial<Record<CountName, number>>;
type CountName = "in" | "ok" | "failed" | "skipped" | "unknown" | CallCountName | "done" | "entries" | "calls";
type CallCountName = "read" | "write" | "destructive" | "retried";

/** What the tests of jobs that die run on: an app, its definitions, and the environment of the nodes. */
export type JobsBench = {
  readonly provider: JobsProvider;
  readonly env: Record<string, string>;
  /** Starts a worker's process, which does nothing yet. */
  worker(): Promise<Worker>;
  close(): Promise<void>;
};

/** Times of the workers, in milliseconds. The second is longer than any call of the programs. */
const leaseMs = 1_000;
const runningMaxMs = 4_500;

/** Makes the bench over a database. */
export async function createJobsBench(databaseUrl: string): Promise<JobsBench> {
  const folder = await mkdtemp(join(tmpdir(), "svc-jobs-"));
  await chmod(folder, 0o755);
  const provider = await startJobsProvider();
  const definitions = await writeDefinitions(folder, provider.url);
  const key = vaultKey();
  const env = {
    SVC_DATABASE_URL: databaseUrl,
    SVC_VAULT_KEY: key,
    SVC_TOOLKITS: definitions.toolkits,
    SVC_DEPLOYMENT: definitions.deployment,
  };
  const workers: Promise<Worker>[] = [];
  return {
    provider,
    env,
    worker() {
      const limits = { leaseMs, pollMs: 50, undoBackoffMs: 50, inDoubtPollMs: 200 };
      const given = { ...definitions, databaseUrl, vaultKey: key, limits, runningMaxMs };
      const worker = startWorker(given);
      workers.push(worker);
      return worker;
    },
    async close() {
      for (const worker of await Promise.all(workers)) await worker.kill();
      await provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const fixture = fileURLToPath(new URL("worker.fixture.ts", import.meta.url));

async function startWorker(given: object): Promise<Worker> {
  const env = { ...compileCache, PATH: process.env["PATH"] };
  const child = fork(await bundled(fixture), [JSON.stringify(given)], { execArgv: [], env });
  const exited = once(child, "exit");
  const [first] = await Promise.race([once(child, "message"), exited]);
  if (first !== "ready") throw new Error(`the worker ended with ${first}`);
  return {
    isDead: () => child.exitCode !== null || child.signalCode !== null,
    async tell(message) {
      // One that is dead is told nothing.
      child.send(message, () => {});
      await Promise.race([once(child, "message"), exited]);
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Starts a node of the server on the bench. */
export function startNode(bench: JobsBench, env: Record<string, string> = {}): Promise<ServerProcess> {
  return startServerProcess({ ...bench.env, ...env });
}

/** Connects what the programs call. */
export async function connectDesk(server: ServerProcess): Promise<void> {
  try {
    await call(server, "ConnectionsService/InitiateConnection", { toolkitSlug: "desk", entityId: "ops" });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${server.output()}`);
  }
}

/** Lets programs make requests to the app themselves, with a secret. */
export async function allowRequests(server: ServerProcess, appUrl: string): Promise<void> {
  const { projectId } = await call<{ projectId: string }>(server, "IdentityService/GetIdentity", {});
  const http = { hosts: [new URL(appUrl).host] };
  await call(server, "AdminService/SetProjectPolicy", { projectId, http }, adminToken);
  // Nothing that a job shows holds a marker.
  await call(server, "SecretsService/PutSecret", { name: "desk_token", value: "marker-of-the-vault" });
}

/** Submits a job of a kind; the tag is its idempotency key, too. */
export async function submit(server: { url: string }, kind: string, tag: string, appUrl = ""): Promise<string> {
  const { job } = await call<{ job: { id: string } }>(server, "JobsService/SubmitJob", {
    programJson: programOf(kind, tag, appUrl),
    idempotencyKey: tag,
  });
  return job.id;
}

/** A job as it is now. A question it waits for is answered: proceed. */
export async function look(server: { url: string }, id: string): Promise<{ job: JobAnswer; isEnded: boolean }> {
  const { job } = await call<{ job: JobAnswer }>(server, "JobsService/GetJob", { id });
  const requestId = job.status === "JOB_STATUS_PARKED" ? job.park?.judgment?.requestId : undefined;
  if (requestId !== undefined) {
    const answer = { jobId: id, requestId, principalId: "owner", continuation: "proceed" };
    await call(server, "JobsService/AnswerAsk", answer);
  }
  return { job, isEnded: job.receipt !== undefined };
}

/** Waits until a job has ended, answering what it asks. */
export async function untilEnded(server: { url: string }, id: string, timeoutMs: number): Promise<JobAnswer> {
  let seen: JobAnswer | undefined;
  const looked = async () => {
    const { job, isEnded } = await look(server, id);
    seen = job;
    return isEnded;
  };
  try {
    await until(looked, timeoutMs, `the end of ${id}`);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}: ${JSON.stringify(seen)}`);
  }
  return seen as JobAnswer;
}

type EventAnswer = { seq: number; type: string; payloadJson: string };

async function eventsOf(server: { url: string }, jobId: string): Promise<EventAnswer[]> {
  const events: EventAnswer[] = [];
  for (let pageToken = ""; ; ) {
    const page = await call<{ events?: EventAnswer[]; nextPageToken?: string }>(server, "JobsService/ListJobEvents", {
      jobId,
      pageSize: 100,
      pageToken,
    });
    events.push(...(page.events ?? []));
    pageToken = page.nextPageToken ?? "";
    if (pageToken === "") return events;
  }
}

/** Whether a job that ended tells the truth about what the app saw. */
export async function examine(
  server: { url: string },
  { job, kind, tag, provider }: { job: JobAnswer; kind: string; tag: string; provider: JobsProvider },
): Promise<void> {
  const what = `${kind} ${tag}`;
  expect(job.status, `${what}: ${job.lastError}`).toBe(`JOB_STATUS_${kinds[kind]?.ends}`);
  const events = await eventsOf(server, job.id);
  expect(
    events.map(({ seq }) => seq),
    what,
  ).toEqual(events.map((_event, index) => index + 1));
  // How a question's publication went may be known only after the end.
  const after = events.slice(job.receipt?.lastSeq ?? 0).filter(({ type }) => type !== "ask-delivery-changed");
  expect(after, what).toEqual([]);
  expect(events[(job.receipt?.lastSeq ?? 0) - 1]?.type, what).toBe("job-status-changed");
  expect(
    events.filter(({ type }) => type === "job-submitted"),
    what,
  ).toHaveLength(1);
  expect(JSON.stringify([job, events]), what).not.toContain("marker-");
  examineReceipts(job, what);
  examineWrites(job, ownRequests(provider, tag), what);
  if (kind === "sets") {
    const text = Array.from({ length: itemsMax }, (_, n) => `i${itemsMax - 1 - n}`).join("");
    expect(JSON.parse(job.receipt?.resultJson ?? "{}"), what).toEqual({ all: itemsMax, text, alone: 0, taken: 3 });
  }
  if (kind === "filter") expect(JSON.parse(job.receipt?.resultJson ?? "{}"), what).toEqual({ all: 8 });
}

/** The requests of one job: its writes name its tag. */
function ownRequests({ seen }: JobsProvider, tag: string) {
  return seen.filter(({ method, text }) => {
    return method === "POST" ? text.startsWith(`${tag}/`) : method === "DELETE" && text.startsWith(`note-${tag}.`);
  });
}

/** Rows and calls add up, in every step and over all. */
function examineReceipts({ stepReceipts, receipt }: JobAnswer, what: string): void {
  const total = (name: keyof Counts, of: "rows" | "calls") =>
    stepReceipts.reduce((sum, step) => sum + (step[of]?.[name] ?? 0), 0);
  for (const { stepId, kind, rows, state } of stepReceipts) {
    expect(state, `${what}: ${stepId} has a state`).not.toBe("");
    if (rows === undefined) continue;
    const { in: all = 0, ok = 0, failed = 0, skipped = 0, unknown = 0 } = rows;
    if (kind === "call" || kind === "map" || kind === "filter")
      expect(all, `${what}: rows of ${stepId}`).toBe(itemsMax);
    if (kind !== "filter") expect(ok + failed + skipped + unknown, `${what}: rows of ${stepId}`).toBe(all);
  }
  for (const name of ["read", "write", "destructive", "unknown"] as const) {
    expect(receipt?.calls?.[name] ?? 0, `${what}: calls, ${name}`).toBe(total(name, "calls"));
  }
  expect(receipt?.saga?.entries ?? 0, what).toBe((receipt?.saga?.done ?? 0) + (receipt?.saga?.failed ?? 0));
}

/** No write without a key arrived twice, those with one came with the same, and nothing is missing in silence. */
function examineWrites(job: JobAnswer, seen: ReturnType<typeof ownRequests>, what: string): void {
  const counted = new Map<string, number>();
  const keys = new Map<string, string | undefined>();
  for (const { path, text, key } of seen) {
    counted.set(text, (counted.get(text) ?? 0) + 1);
    if (path !== "/keyed") {
      expect(key, what).toBeUndefined();
      expect(counted.get(text), `${what}: ${text} arrived twice`).toBe(1);
      continue;
    }
    expect(key, `${what}: ${text} has a key`).toBeTypeOf("string");
    if (keys.has(text)) expect(key, `${what}: ${text} came again with its key`).toBe(keys.get(text));
    keys.set(text, key);
  }
  expect(new Set(keys.values()).size, `${what}: every write has a key of its own`).toBe(keys.size);
  const { write = 0, destructive = 0, unknown = 0, retried = 0 } = job.receipt?.calls ?? {};
  // What never arrived is in doubt, and every call that ended well did arrive.
  expect(counted.size, `${what}: writes that arrived`).toBeGreaterThanOrEqual(write + destructive - unknown - retried);
}

/** Waits until no job has work left. */
export async function untilIdle(databaseUrl: string, timeoutMs = 10_000): Promise<void> {
  const db = openDatabase({ url: databaseUrl, connectionsMax: 1 });
  let left: unknown[] = [];
  const idle = async () => {
    left = await db.sql.unsafe(
      "select job_id::text, kind, subject, due_at::text, lease_until::text, attempt from job_tasks",
    );
    return left.length === 0;
  };
  await until(idle, timeoutMs, "an empty task table").catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(left)}`);
  });
  await db.close();
}
