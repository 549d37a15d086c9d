import { fork } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openDatabase } from "@svc/db/connect";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { adminToken, call, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { expect } from "vitest";
import { times } from "./jobs-parts.ts";
import { kinds, programText } from "./jobs-programs.ts";
import { itemsMax, type JobsProvider, type SeenRequest, startJobsProvider, writeDefinitions } from "./jobs-provider.ts";
import { openStoreLine, type StoreLine } from "./store-line.ts";

/** The process of a worker. */
export type Worker = {
  readonly nodeId: string;
  /** The worker's connection to the store. */
  readonly line: StoreLine;
  /** Called when the worker comes to the fault point that was set for it, unless the fault kills the worker. */
  onReached: () => void;
  isDead(): boolean;
  /** Sends a message and waits for the answer. Returns undefined if the worker died before it answered. */
  tell(message: object): Promise<WorkerAnswer | undefined>;
  /** Stops the process without ending it. */
  freeze(): void;
  /** Lets the stopped process continue. */
  thaw(): void;
  /** Kills the process as kill -9 does. Resolves once it has ended. */
  kill(): Promise<void>;
};

/** The answer of a worker that served a call: the reason of its refusal, or the job. */
export type WorkerAnswer = {
  readonly id: number;
  readonly nodeId?: string;
  readonly refused?: string;
  readonly jobId?: string;
};

/** A job as GetJob returns it, with the fields that the tests check. */
export type JobAnswer = {
  id: string;
  updatedAt?: string;
  status: string;
  lastError?: string;
  park?: { reason: string; childJobId?: string; judgment?: { requestId: string; continuations: string[] } };
  stepReceipts: { stepId: string; kind: string; state: string; rows?: Counts; calls?: Counts; undo?: Counts }[];
  attempts?: object[];
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
/** Counts of rows, calls, undo entries and similar. A count of zero is absent. */
type Counts = Partial<Record<CountName, number>>;
type CountName = "in" | "ok" | "failed" | "skipped" | "unknown" | CallCountName | "done" | "entries" | "calls";
type CallCountName = "read" | "write" | "destructive" | "retried";

/** The environment for tests in which workers die: an app, its tool definitions, and the variables of the nodes. */
export type JobsBench = {
  readonly provider: JobsProvider;
  readonly env: Record<string, string>;
  /** Starts a worker process, which does nothing until it gets a message. `runsMax` limits how many jobs it runs at a time. */
  worker(limits?: { readonly runsMax: number }): Promise<Worker>;
  close(): Promise<void>;
};

/** Creates the environment over a database. */
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
    worker(others = undefined) {
      const { leaseMs, runningMaxMs } = times;
      const limits = { ...others, leaseMs, pollMs: 50, undoBackoffMs: 50, inDoubtPollMs: 200 };
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
let messages = 0;

async function startWorker(given: { readonly databaseUrl: string }): Promise<Worker> {
  // A cut of the store disconnects all of its workers at once. A worker that is just starting ends then, and is started again.
  for (let tries = 0; tries < 3; tries++) {
    const worker = await tryWorker(given);
    if (worker !== undefined) return worker;
  }
  throw new Error("a worker ended before it was ready");
}

/** Starts a worker. Returns undefined if it ended before it was ready. */
async function tryWorker(given: { readonly databaseUrl: string }): Promise<Worker | undefined> {
  const env = { ...compileCache, PATH: process.env["PATH"] };
  const line = await openStoreLine(() => given.databaseUrl);
  const child = fork(await bundled(fixture), [JSON.stringify({ ...given, databaseUrl: line.url })], {
    execArgv: [],
    env,
  });
  const answers = new Map<number, (answer: WorkerAnswer) => void>();
  const exited = once(child, "exit").then(() => undefined);
  void exited.then(() => line.close());
  const answered = (id: number) => new Promise<WorkerAnswer>((resolve) => answers.set(id, resolve));
  const ready = answered(0);
  child.on("message", (message: WorkerAnswer | { readonly at: string }) => {
    if ("at" in message) worker.onReached();
    else answers.get(message.id)?.(message);
  });
  const nodeId = (await Promise.race([ready, exited]))?.nodeId;
  if (nodeId === undefined) return undefined;
  const worker: Worker = {
    ...{ nodeId, line },
    onReached: () => {},
    isDead: () => child.exitCode !== null || child.signalCode !== null,
    tell(message) {
      const id = ++messages;
      const answer = answered(id);
      // A dead worker cannot receive a message, and the error of sending is ignored.
      child.send({ ...message, id }, () => {});
      return Promise.race([answer, exited]);
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
  return worker;
}

/** Starts a server node with the settings of the bench. */
export function startNode(bench: JobsBench, env: Record<string, string> = {}): Promise<ServerProcess> {
  return startServerProcess({ ...bench.env, ...env });
}

/** Creates the connection that the programs' calls use. */
export async function connectDesk(server: ServerProcess): Promise<void> {
  try {
    await call(server, "ConnectionsService/InitiateConnection", { toolkitSlug: "desk", entityId: "ops" });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${server.output()}`);
  }
}

/** Allows programs to make their own HTTP requests to the app, with a secret. */
export async function allowRequests(server: ServerProcess, appUrl: string): Promise<void> {
  const { projectId } = await call<{ projectId: string }>(server, "IdentityService/GetIdentity", {});
  const http = { hosts: [new URL(appUrl).host] };
  await call(server, "AdminService/SetProjectPolicy", { projectId, http }, adminToken);
  // A secret with a marker: no text that a job shows may contain it.
  await call(server, "SecretsService/PutSecret", { name: "desk_token", value: "marker-of-the-vault" });
}

/** Submits a job of a kind. The tag also is its idempotency key. */
export function submit(server: { url: string }, kind: string, tag: string, appUrl = ""): Promise<string> {
  const { program = {}, simulateFirst } = kinds[kind] ?? {};
  return submitProgram(server, { program, tag, appUrl, options: { ...(simulateFirst && { simulateFirst }) } });
}

/** Submits a job of a program, with its tag as idempotency key. */
export async function submitProgram(
  server: { url: string },
  { program, tag, appUrl, options }: { program: object; tag: string; appUrl: string; options?: object },
): Promise<string> {
  const { job } = await call<{ job: { id: string } }>(server, "JobsService/SubmitJob", {
    programJson: programText(program, tag, appUrl),
    idempotencyKey: tag,
    ...options,
  });
  return job.id;
}

/**
 * Reads a job, and helps it on: answers its open question with proceed, or as `continuation` says, and ends a pause. It also releases a job
 * that was parked because its nodes lost their leases on a busy machine.
 */
export async function look(
  server: { url: string },
  id: string,
  continuation = "proceed",
): Promise<{ job: JobAnswer; isEnded: boolean }> {
  const { job } = await call<{ job: JobAnswer }>(server, "JobsService/GetJob", { id });
  if (job.receipt !== undefined) return { job, isEnded: true };
  const requestId = job.park?.judgment?.requestId;
  if (requestId !== undefined) {
    const answer = { jobId: id, requestId, principalId: "owner", continuation };
    // The question may have been settled or withdrawn since the job was read.
    await call(server, "JobsService/AnswerAsk", answer).catch((error: unknown) => {
      if (!/ASK_(?:STALE|SETTLED)/.test(String(error))) throw error;
    });
  }
  if (job.park?.reason === "poisoned") await release(server, id);
  if (job.park?.childJobId) await look(server, job.park.childJobId, continuation);
  if (job.park?.reason === "paused") await call(server, "JobsService/ResumeJob", { id });
  return { job, isEnded: false };
}

async function release(server: { url: string }, id: string): Promise<void> {
  const { projectId } = await call<{ projectId: string }>(server, "IdentityService/GetIdentity", {});
  // Another reader may have released the job already.
  await call(server, "AdminService/ReleaseJob", { projectId, jobId: id }, adminToken).catch(() => {});
  process.stderr.write(`${id} was parked as poisoned, and is released\n`);
}

/** Waits until a job has ended, and answers its questions. */
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

/** An entry of a job's log. */
export type EventAnswer = { seq: number; type: string; payloadJson: string };

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

/** A job that has ended. `ends`: its expected status, if it differs from that of its kind. */
type Examined = {
  readonly job: JobAnswer;
  readonly kind: string;
  readonly tag: string;
  readonly provider: JobsProvider;
  readonly ends?: string | undefined;
};

/** Checks that the receipt and the log of an ended job agree with the requests that the app received. Returns the log. */
export async function examine(
  server: { url: string },
  { job, kind, tag, provider, ends = kinds[kind]?.ends }: Examined,
): Promise<readonly EventAnswer[]> {
  const what = `${kind} ${tag}`;
  expect(job.status, `${what}: ${job.lastError}`).toBe(`JOB_STATUS_${ends}`);
  const events = await eventsOf(server, job.id);
  expect(
    events.map(({ seq }) => seq),
    what,
  ).toEqual(events.map((_event, index) => index + 1));
  expect(job.attempts ?? [], what).toHaveLength(kinds[kind]?.first === undefined ? 0 : 1);
  // The job may learn only after its end how the publication of a question went.
  const after = events.slice(job.receipt?.lastSeq ?? 0).filter(({ type }) => type !== "ask-delivery-changed");
  expect(after, what).toEqual([]);
  expect(events[(job.receipt?.lastSeq ?? 0) - 1]?.type, what).toBe("job-status-changed");
  expect(
    events.filter(({ type }) => type === "job-submitted"),
    what,
  ).toHaveLength(1);
  expect(JSON.stringify([job, events]), what).not.toContain("marker-");
  examineReceipts(job, what);
  examinePauses(events, what);
  examineWrites(job, ownRequests(provider, tag), what);
  if (kind === "sets") {
    const text = Array.from({ length: itemsMax }, (_, n) => `i${itemsMax - 1 - n}`).join("");
    expect(JSON.parse(job.receipt?.resultJson ?? "{}"), what).toEqual({ all: itemsMax, text, alone: 0, taken: 3 });
  }
  if (kind === "filter") expect(JSON.parse(job.receipt?.resultJson ?? "{}"), what).toEqual({ all: 8 });
  return events;
}

/** Checks that while a job is paused, its log has only entries about its questions. */
function examinePauses(events: readonly EventAnswer[], what: string): void {
  let isPaused = false;
  for (const { type, payloadJson } of events) {
    const { reason } = JSON.parse(payloadJson || "{}") as { reason?: string };
    if (type === "job-status-changed") isPaused = reason === "paused";
    else if (isPaused) expect(type, `${what}: while it is paused`).toMatch(/^job-(?:paused|resumed)$|^ask-/);
  }
}

/** Finds the requests of one job. Its own writes carry its tag; those of a row's child job carry `<tag>.<row>`. */
function ownRequests({ seen }: JobsProvider, tag: string) {
  return seen.filter(({ method, text }) => {
    return method === "POST"
      ? text.startsWith(`${tag}/`) || text.startsWith(`${tag}.`)
      : method === "DELETE" && text.startsWith(`note-${tag}.`);
  });
}

/** Checks that the counts of rows and calls add up, in every step and in total. */
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

/**
 * Checks the writes of a job: none without an idempotency key arrived twice, a repeated one had the same key, and none is missing without
 * being reported.
 */
function examineWrites(job: JobAnswer, seen: readonly SeenRequest[], what: string): void {
  const counted = new Map<string, number>();
  const keys = new Map<string, string | undefined>();
  let refused = 0;
  for (const { path, text, key, isRefused } of seen) {
    if (isRefused === true) {
      refused++;
      continue;
    }
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
  // A write that never arrived must be reported as in doubt, and every call that ended well must have arrived.
  const arrived = write + destructive - unknown - retried - refused;
  expect(counted.size, `${what}: writes that arrived`).toBeGreaterThanOrEqual(arrived);
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
