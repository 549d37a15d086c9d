import { setTimeout as wait } from "node:timers/promises";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { type Job, JobStatus, type JobsService } from "@svc/gen/jobs";
import { pauseMs } from "@svc/testing/until";
import type { SentRequest } from "./app-request.ts";
import type { EngineCaller, EngineUnderTest } from "./engine-under-test.ts";
import type { Act, Standing } from "./history.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** An act that is still to be done. While a run is recorded, which request an act belongs to is known only once an app has it. */
export type PendingAct = {
  readonly when: Act["when"] | ((request: SentRequest) => boolean);
  readonly does: Act["does"];
};

/** A job that is driven to its end, and what it takes to do so. */
export type Driven = {
  readonly engine: EngineUnderTest;
  readonly clock: VirtualClock;
  readonly caller: EngineCaller;
  readonly jobId: string;
  /** What is still to be done from outside; done acts are taken off. */
  readonly acts: PendingAct[];
  /** Does the first of them; `performNext` unless somebody watches. */
  readonly perform?: () => Promise<void>;
  /** Told when time was moved on to work that is due later. */
  readonly onClock?: () => Promise<void>;
  /** What to do about a question that no act answers and no clock ends. */
  readonly unforeseen: "proceed" | "throw";
};

/** More rounds than any run needs, so that one that never ends is a fault. */
const roundsMax = 300;
/** Real time in which what is under way must come to its end. */
const patienceMs = 20_000;
/** Real time after which what is under way may be waiting for the clock; on a busy machine, as long as this many looks at the store take. */
const stillMs = 500;
/** Real time in which a lease is renewed. */
const renewalMs = 10_000;
const stillLooks = 200;

/**
 * Drives a job until it has ended and no work is left: whenever nothing moves, the next act is done if its time has come, else
 * time moves on to what is due next.
 */
export async function driveToEnd(driven: Driven): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const nextDueMs = await untilQuiet(driven);
    const job = await readJob(driven);
    const [act] = driven.acts;
    if (act !== undefined && isStanding(act.when) && standsSo(job, act.when)) {
      await (driven.perform?.() ?? performNext(driven));
    } else if (nextDueMs !== undefined) {
      driven.clock.moveTo(nextDueMs);
      await driven.onClock?.();
      driven.engine.wake();
    } else if (job.finishedAt !== undefined) return;
    else await proceed(driven, job);
  }
  throw new Error(`the job did not end within ${roundsMax} rounds`);
}

/** Waits until no work is due and none is held; answers when the next is due. */
async function untilQuiet({ clock, engine }: Driven): Promise<number | undefined> {
  const startedAt = performance.now();
  let longestLookMs = 0;
  for (let movedAt = startedAt; ; await wait(pauseMs(movedAt))) {
    const lookedAt = performance.now();
    const { isBusy, nextDueMs, leaseEndsMs = Number.POSITIVE_INFINITY } = await engine.work();
    longestLookMs = Math.max(longestLookMs, performance.now() - lookedAt);
    if (engine.faults.length > 0) throw new Error(`the engine failed: ${engine.faults.map(textOf).join("; ")}`);
    if (!isBusy) return nextDueMs;
    const now = performance.now();
    if (now - startedAt > patienceMs + 10 * stillLooks * longestLookMs)
      throw new Error("work is due, and nothing moves");
    // An act that waits by the clock holds its work meanwhile. Where the clock would move on past the end of a lease, the renewal of
    // that lease is on its way.
    const nextMs = clock.nextMs() ?? clock.now();
    const enoughMs = nextMs < leaseEndsMs ? stillMs : renewalMs;
    if (now - movedAt < Math.max(enoughMs, stillLooks * longestLookMs)) continue;
    clock.moveTo(nextMs);
    movedAt = now;
  }
}

function textOf(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}

async function readJob({ engine, caller, jobId }: Driven): Promise<Job> {
  const { job } = await engine.jobs(caller).getJob({ id: jobId });
  if (job === undefined) throw new Error(`there is no job ${jobId}`);
  return job;
}

/** How a job stands. */
export function standingOf({ status, park, pendingAsk }: Job): Required<Standing> {
  return {
    status: Object.entries(JobStatus).find(([, value]) => value === status)?.[0] ?? "",
    reason: park?.reason ?? "",
    stepId: park?.stepId ?? "",
    hopIndex: pendingAsk?.hopIndex ?? -1,
    isExhausted: pendingAsk?.exhausted ?? false,
    isDelivered: pendingAsk?.deliveredAt !== undefined,
  };
}

/** Whether a job stands as is said. */
export function standsSo(job: Job, standing: Standing): boolean {
  const now = standingOf(job);
  return Object.entries(standing).every(([name, value]) => now[name as keyof Standing] === value);
}

function isStanding(when: PendingAct["when"]): when is Standing {
  return typeof when === "object" && !("request" in when);
}

/** Does the first act that is left. */
export async function performNext({ engine, caller, jobId, acts }: Driven): Promise<void> {
  const act = acts.shift();
  if (act === undefined) throw new Error("no act is left");
  await performAct(engine.jobs(caller), jobId, act.does);
}

/** Does what a person does. Throws when that is refused as it was not before. */
export async function performAct(jobs: Jobs, jobId: string, does: Act["does"]): Promise<void> {
  await (does.kind === "cancel" ? jobs.cancelJob({ id: jobId }) : answer(jobs, jobId, does));
}

type Jobs = Client<typeof JobsService>;

async function answer(jobs: Jobs, jobId: string, does: Act["does"] & { kind: "answer" }): Promise<void> {
  const refusal = await jobs.answerAsk({ jobId, ...does.answer }).then(() => undefined, reasonOf);
  if (refusal !== does.refusal) throw new Error(`the answer was refused as ${refusal}, not as ${does.refusal}`);
}

function reasonOf(error: unknown): string {
  const connect = ConnectError.from(error);
  if (connect.code === Code.Unknown) throw error;
  return connect.findDetails(ErrorDetailSchema)[0]?.reason ?? "";
}

/** Answers a question that the recorded run was not asked. */
async function proceed({ engine, caller, jobId, unforeseen }: Driven, job: Job): Promise<void> {
  const principalId = job.pendingAsk?.deliveredPrincipals[0];
  if (unforeseen === "throw" || principalId === undefined) {
    throw new Error(`the job stays as it is: ${JSON.stringify(standingOf(job))} ${job.lastError}`);
  }
  await engine.jobs(caller).answerAsk({ jobId, principalId, continuation: "proceed" });
}
