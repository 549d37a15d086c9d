import { setTimeout as wait } from "node:timers/promises";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import type { TestCaller } from "@svc/testing/project-client";
import { call, type ServerProcess } from "@svc/testing/server-process";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { pauseMs } from "@svc/testing/until";
import { expect } from "vitest";
import {
  allowRequests,
  connectDesk,
  createJobsBench,
  examine,
  type JobAnswer,
  type JobsBench,
  look,
  startNode,
  submit,
  type Worker,
} from "./jobs-bench.ts";
import { times } from "./jobs-parts.ts";
import { kinds } from "./jobs-programs.ts";
import { promoteSkills } from "./jobs-skills.ts";

/**
 * What befalls a worker. `killed`: its process, as by kill -9. `frozen`: its process stands still for longer than its lease, and then
 * goes on where it stood. `cut`: the store ends its connections. `unanswered`: the store does what it is sent, and the answers are lost.
 */
export type Fault = "killed" | "frozen" | "cut" | "unanswered";

/** A fault, and when: at the `nth` passing of a point. `pausesAt`: before that the job is paused, at that passing of another point. */
export type Doom = {
  readonly kind: string;
  readonly fault: Fault;
  readonly point: string;
  readonly nth: number;
  readonly pausesAt?: readonly [point: string, nth: number];
};

/** A job that met a fault, or never came there. */
export type Met = { readonly job: JobAnswer; readonly isMet: boolean; readonly isPaused: boolean };

/** Workers that take over from one another on a database of their own, one at work and the next one ready, and a node that is called. */
export type Relay = {
  readonly bench: JobsBench;
  readonly database: TestDatabase;
  readonly server: ServerProcess;
  readonly receiver: Subscriber;
  /** Who calls. */
  readonly caller: TestCaller;
  /** Who is at work. */
  worker(): Worker;
  nextTag(): string;
  /** Lets the next worker begin. */
  succeed(): Promise<void>;
  /** Runs a job under a fault to its end, and looks at what it says of itself. */
  meet(doom: Doom): Promise<Met>;
  /** Brings a job to its end, answering what it asks: `proceed`, or as given. Who dies meanwhile is replaced. */
  finish(id: string, continuation?: string): Promise<JobAnswer>;
  close(): Promise<void>;
};

/** Answers of the store are lost for so long. */
const lostMs = 100;
/** Who stands still goes on after so long at the latest. */
const standsMs = 60_000;
const workers = "svc-crash-worker";

/** Starts one. `name`: so that tags of several differ. */
export async function startRelay(name: string): Promise<Relay> {
  const database = await createTestDatabase();
  const bench = await createJobsBench(database.url);
  const [server, first] = await Promise.all([startNode(bench, { SVC_ROLE: "api" }), bench.worker()]);
  let worker = first;
  let standby = bench.worker();
  let tags = 0;
  await connectDesk(server);
  await allowRequests(server, bench.provider.url);
  const receiver = await startSubscriber();
  await call(server, "JobsService/CreateAskEndpoint", { endpointUrl: receiver.url });
  await worker.tell({ start: true });
  const { projectId, keyId } = await call<Required<TestCaller>>(server, "IdentityService/GetIdentity", {});
  const caller = { projectId, keyId, role: "approver" } as const;

  const relay: Relay = {
    ...{ bench, database, server, receiver, caller },
    worker: () => worker,
    nextTag: () => `${name}${++tags}`,
    async succeed() {
      worker = await standby;
      standby = bench.worker();
      await worker.tell({ start: true });
    },
    meet: (doom) => meet(relay, doom),
    async finish(id, continuation) {
      const startedAt = performance.now();
      const doomed = worker;
      for (;;) {
        const { job, isEnded } = await look(server, id, continuation);
        if (isEnded) return job;
        if (doomed.isDead() && worker === doomed) await relay.succeed();
        if (performance.now() > startedAt + 120_000) throw new Error(`not ended: ${JSON.stringify(job)}`);
        await wait(pauseMs(startedAt));
      }
    },
    async close() {
      await server.end("SIGKILL");
      await bench.close();
      await receiver.close();
      await database.drop();
    },
  };
  await promoteSkills(server, { bench, finish: relay.finish });
  return relay;
}

async function meet(relay: Relay, doom: Doom): Promise<Met> {
  const { server, bench } = relay;
  const { kind, fault, pausesAt } = doom;
  const tag = relay.nextTag();
  const isRetried = kinds[kind]?.first !== undefined;
  const earlier = isRetried ? await endFirst(relay, kind, tag) : undefined;
  const doomed = relay.worker();
  const striking = createStrike(relay, doomed, doom);
  const begun = Promise.withResolvers<string>();
  if (pausesAt === undefined) await striking.arm();
  else await pauseAt(relay, { doomed, at: pausesAt, jobId: begun.promise, onPaused: striking.arm });
  const id = earlier ?? (await submit(server, kind, tag, bench.provider.url));
  begun.resolve(id);
  if (earlier !== undefined) await retry(relay, { id, kind, tag });
  const job = await relay.finish(id);
  await striking.end();
  const isMet = striking.isMet();
  if (isMet && fault === "frozen") {
    await doomed.tell({ drain: true });
    await doomed.kill();
    // How a question's publication went may be known, and logged, only after the end.
    const { updatedAt, ...after } = (await look(server, id)).job;
    expect(after, `${kind} ${tag}, when who was frozen has gone on`).toEqual({ ...job, updatedAt: undefined });
    expect(updatedAt).toBeTypeOf("string");
  }
  if (doomed.isDead() && relay.worker() === doomed) await relay.succeed();
  const events = await examine(server, { job, kind, tag, provider: bench.provider });
  return { job, isMet, isPaused: events.some(({ payloadJson }) => payloadJson.includes('"paused"')) };
}

/** A fault that waits for a worker. */
type Strike = {
  /** Lays it for the worker. */
  arm(): Promise<void>;
  /** The job is over: nothing more befalls the worker, and one that stands still goes on. */
  end(): Promise<void>;
  isMet(): boolean;
};

const acts = { killed: "kill", frozen: "freeze", cut: "tell", unanswered: "tell" } as const;

function createStrike(relay: Relay, doomed: Worker, { fault, point, nth }: Doom): Strike {
  const { provider } = relay.bench;
  let isMet = false;
  const strike = async () => {
    isMet = true;
    if (fault === "killed") await doomed.kill();
    if (fault === "cut") await cutConnections(relay.database);
    if (fault === "unanswered") doomed.line.loseAnswers(lostMs);
    if (fault !== "frozen") return;
    // Elsewhere it stops itself: stopped twice, the second time behind the thaw, it would stand for good.
    if (point === "in-send") doomed.freeze();
    // Every other one goes on while the next one is at work, the others when that is done, or can do nothing for them.
    // Who stands between two messages of one statement keeps its locks, whatever the store's timeouts are, until it goes on.
    setTimeout(() => doomed.thaw(), nth % 2 === 0 ? times.leaseMs * 1.5 : standsMs).unref();
    await relay.succeed();
  };
  return {
    isMet: () => isMet || (fault === "killed" && doomed.isDead()),
    async arm() {
      doomed.onReached = () => void strike().then(() => doomed.tell({ go: true }));
      if (point !== "in-send") {
        await doomed.tell({ arm: { point, nth, act: acts[fault] } });
        return;
      }
      let left = nth;
      provider.onRequest = () => {
        if (--left !== 0) return false;
        void strike();
        return fault === "killed";
      };
    },
    async end() {
      provider.onRequest = () => false;
      if (fault === "frozen" && isMet) doomed.thaw();
      // Whoever dies after the last commit is dead by its answer.
      else await doomed.tell({ arm: null });
    },
  };
}

/** Pauses a job when its worker comes to a point; then the worker goes on. */
async function pauseAt(
  { server }: Relay,
  {
    doomed,
    at: [point, nth],
    jobId,
    onPaused,
  }: { doomed: Worker; at: readonly [string, number]; jobId: Promise<string>; onPaused: () => Promise<void> },
): Promise<void> {
  doomed.onReached = async () => {
    const paused = call(server, "JobsService/PauseJob", { id: await jobId }).catch((error: unknown) => {
      // Who comes to the point late finds the job ended by another.
      if (!String(error).includes("JOB_FINISHED")) throw error;
    });
    // Who stands within a transaction is waited for by that.
    await Promise.race([paused, new Promise((resolve) => setTimeout(resolve, 500))]);
    await onPaused();
    await doomed.tell({ go: true });
    await paused;
  };
  await doomed.tell({ arm: { point, nth, act: "tell" } });
}

/** Brings the first attempt of a job to its end, which is no good one, and mends what was in its way. */
export async function endFirst(relay: Relay, kind: string, tag: string): Promise<string> {
  const { server, bench } = relay;
  const { provider } = bench;
  const first = kinds[kind]?.first;
  const id = await submit(server, kind, tag, provider.url);
  let sent = 0;
  if (first === "CANCELLED") {
    provider.onRequest = ({ method }) => {
      if (method === "POST" && ++sent === 3) void call(server, "JobsService/CancelJob", { id });
      return false;
    };
  }
  const ended = await relay.finish(id, first === "ABORTED" ? "abort" : "proceed");
  provider.onRequest = () => false;
  expect(ended.status, `${kind} ${tag}: ${ended.lastError}`).toBe(`JOB_STATUS_${first}`);
  provider.mended.add(tag);
  return id;
}

async function retry({ server }: Relay, { id, kind, tag }: { id: string; kind: string; tag: string }): Promise<void> {
  const resendUnknown = kind === "resent unknown";
  await call(server, "JobsService/RetryJob", { id, resendUnknown, idempotencyKey: tag });
}

async function cutConnections({ db }: TestDatabase): Promise<void> {
  await db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = ${workers}`;
}
