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
 * A fault of a worker. `killed`: its process dies, as by kill -9. `frozen`: its process stops for longer than its lease and then continues.
 * `cut`: the store's connections end. `unanswered`: the store executes statements, and their answers are lost.
 */
export type Fault = "killed" | "frozen" | "cut" | "unanswered";

/** A fault and its time: the `nth` passing of a point. `pausesAt`: the job is paused before, at that passing of another point. */
export type Doom = {
  readonly kind: string;
  readonly fault: Fault;
  readonly point: string;
  readonly nth: number;
  readonly pausesAt?: readonly [point: string, nth: number];
};

/** A job after a fault. `isMet` is false if the job never came to the point of the fault. */
export type Met = { readonly job: JobAnswer; readonly isMet: boolean; readonly isPaused: boolean };

/** Two workers on a database of their own, one at work and one ready to take over, and a server node for the API calls. */
export type Relay = {
  readonly bench: JobsBench;
  readonly database: TestDatabase;
  readonly server: ServerProcess;
  readonly receiver: Subscriber;
  /** The client of the API. */
  readonly caller: TestCaller;
  /** Returns the worker that is at work. */
  worker(): Worker;
  nextTag(): string;
  /** Lets the next worker start. */
  succeed(): Promise<void>;
  /** Runs a job under a fault to its end, and checks its receipt and log. */
  meet(doom: Doom): Promise<Met>;
  /** Runs a job to its end, and answers its questions with `proceed` or as given. A worker that dies meanwhile is replaced. */
  finish(id: string, continuation?: string): Promise<JobAnswer>;
  close(): Promise<void>;
};

/** Time in milliseconds for which the store's answers are lost. */
const lostMs = 100;
/** Longest time in milliseconds for which a frozen worker stays frozen. */
const standsMs = 60_000;
const workers = "svc-crash-worker";

/** Starts a relay. `name` keeps the tags of several relays apart. */
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
    // The job may learn and log only after its end how the publication of a question went.
    const { updatedAt, ...after } = (await look(server, id)).job;
    expect(after, `${kind} ${tag}, when who was frozen has gone on`).toEqual({ ...job, updatedAt: undefined });
    expect(updatedAt).toBeTypeOf("string");
  }
  if (doomed.isDead() && relay.worker() === doomed) await relay.succeed();
  const events = await examine(server, { job, kind, tag, provider: bench.provider });
  return { job, isMet, isPaused: events.some(({ payloadJson }) => payloadJson.includes('"paused"')) };
}

/** A fault that is prepared for a worker. */
type Strike = {
  /** Sets the fault in the worker. */
  arm(): Promise<void>;
  /** Called when the job is over: removes the fault, and lets a frozen worker continue. */
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
    // At the other points the worker freezes itself. If it were stopped twice, the second time after the thaw, it would never continue.
    if (point === "in-send") doomed.freeze();
    // Every second frozen worker continues while the next worker is at work. The others continue when the next one is done, or when it
    // cannot proceed. A worker frozen between two messages of one statement keeps its locks, whatever the store's timeouts are.
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
      // A worker that dies after the last commit is dead before it answers this message.
      else await doomed.tell({ arm: null });
    },
  };
}

/** Pauses a job when its worker comes to a point. The worker then continues. */
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
      // A worker that comes to the point late finds that another one has ended the job.
      if (!String(error).includes("JOB_FINISHED")) throw error;
    });
    // A pause waits for a worker that is frozen inside a transaction, so this does not wait for the pause.
    await Promise.race([paused, new Promise((resolve) => setTimeout(resolve, 500))]);
    await onPaused();
    await doomed.tell({ go: true });
    await paused;
  };
  await doomed.tell({ arm: { point, nth, act: "tell" } });
}

/** Brings the first attempt of a job to its end, which is not a success, and removes the cause. */
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
