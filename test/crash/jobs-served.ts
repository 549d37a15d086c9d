import { call } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { expect } from "vitest";
import { type EventAnswer, examine, type JobAnswer, submit } from "./jobs-bench.ts";
import { kinds, programText } from "./jobs-programs.ts";
import { endFirst, type Relay } from "./jobs-relay.ts";

// A node dies while it serves a call that changes a job. The client then repeats the call at another node.

/** A call that changes a job. */
export type Move = "submitJob" | "rerunJob" | "retryJob" | "answerAsk" | "pauseJob" | "resumeJob" | "cancelJob";

/** A call on a job that is in the right state for it, and the expected result. */
type Served = {
  readonly tag: string;
  readonly kind: string;
  readonly request: object;
  /** The job, if it exists before the call. */
  readonly id?: string;
  readonly ends?: string;
  /** Types of entries that the job's log must have exactly once. */
  readonly once: readonly string[];
  /** Reason with which the second call may be refused because the first one took effect. */
  readonly refusedAs?: string;
};

/** The fault points that a node passes while it serves a call, or while it runs the job it has just stored. */
const stored = [
  "before-call",
  "after-insert",
  "after-send",
  "after-call",
  "before-commit",
  "after-commit",
  "after-served",
];
const moved = ["before-commit", "after-commit", "after-served"];
export const servedPoints: Readonly<Record<Move, readonly string[]>> = {
  submitJob: stored,
  rerunJob: stored,
  retryJob: moved,
  answerAsk: moved,
  pauseJob: moved,
  resumeJob: moved,
  cancelJob: moved,
};

/** Lets the worker serve the call and die at a point of it. Then repeats the call and checks the job. Returns true if the worker died. */
export async function dieServing(relay: Relay, move: Move, point: string): Promise<boolean> {
  const { server, bench, caller, database } = relay;
  const served = await prepare[move](relay, relay.nextTag());
  const { tag, kind, request, once, refusedAs, ends } = served;
  const doomed = relay.worker();
  await doomed.tell({ arm: { point, nth: 1, act: "kill" } });
  const answer = await doomed.tell({ serve: { move, request, caller } });
  expect(answer?.refused ?? "", `${move} at ${point}`).toBe("");
  const again = await repeat(relay, move, served);
  const id = served.id ?? again;
  const job = await relay.finish(id);
  // The worker may come to its point only after the job has ended, if another worker has taken the job over.
  const isDead = await until(() => doomed.isDead(), "the worker is dead", 30_000).then(
    () => true,
    () => false,
  );
  await doomed.tell({ arm: null });
  if (isDead && relay.worker() === doomed) await relay.succeed();
  const events = await examine(server, { job, kind, tag, provider: bench.provider, ends });
  for (const type of once) expect(countOf(events, type), `${move} at ${point}: ${type}`).toBe(1);
  const [stored] = await database.db.sql<{ jobs: number }[]>`
    select count(*)::int as jobs from jobs where idempotency_key = ${tag}`;
  expect(stored?.jobs, `${move} at ${point}: refused again as ${refusedAs}`).toBe(1);
  return isDead;
}

/** Repeats the call, as a client does that got no answer. Returns the job in the second answer. */
async function repeat({ server }: Relay, move: Move, { request, refusedAs }: Served): Promise<string> {
  const method = `JobsService/${move[0]?.toUpperCase()}${move.slice(1)}`;
  try {
    return (await call<{ job: JobAnswer }>(server, method, request)).job.id;
  } catch (error) {
    if (refusedAs === undefined || !String(error).includes(refusedAs)) throw error;
    return "";
  }
}

function countOf(events: readonly EventAnswer[], type: string): number {
  return events.filter((event) => event.type === type).length;
}

const prepare: Readonly<Record<Move, (relay: Relay, tag: string) => Promise<Served>>> = {
  async submitJob({ bench }, tag) {
    const kind = "write";
    const programJson = programText(kinds[kind]?.program ?? {}, tag, bench.provider.url);
    return { tag, kind, request: { programJson, idempotencyKey: tag }, once: ["job-submitted"] };
  },
  async rerunJob(relay, tag) {
    const { server, bench } = relay;
    const kind = "keyed write";
    const id = await submit(server, kind, `${tag}-first`, bench.provider.url);
    await relay.finish(id);
    const request = { id, inputJson: JSON.stringify({ tag }), idempotencyKey: tag };
    return { tag, kind, request, once: ["job-submitted"] };
  },
  async retryJob(relay, tag) {
    const kind = "retried write";
    const id = await endFirst(relay, kind, tag);
    return { tag, kind, id, request: { id, idempotencyKey: `${tag}-again` }, once: ["job-retried"] };
  },
  async answerAsk(relay, tag) {
    const { id, requestId } = await ask(relay, tag);
    const request = { jobId: id, requestId, principalId: "owner", continuation: "proceed" };
    return { tag, kind: "judge", id, request, once: ["ask-settled"], refusedAs: "ASK_SETTLED" };
  },
  async pauseJob(relay, tag) {
    const { id } = await ask(relay, tag);
    return { tag, kind: "judge", id, request: { id }, once: ["job-paused", "job-resumed"] };
  },
  async resumeJob(relay, tag) {
    const { id, requestId } = await ask(relay, tag);
    await call(relay.server, "JobsService/PauseJob", { id });
    const answer = { jobId: id, requestId, principalId: "owner", continuation: "proceed" };
    const { job } = await call<{ job: JobAnswer }>(relay.server, "JobsService/AnswerAsk", answer);
    expect(job.park?.reason).toBe("paused");
    return { tag, kind: "judge", id, request: { id }, once: ["job-resumed"], refusedAs: "JOB_" };
  },
  async cancelJob(relay, tag) {
    const { id } = await ask(relay, tag);
    // The job's question can still be answered until the job has ended.
    return { tag, kind: "judge", id, request: { id }, once: [], ends: "CANCELLED" };
  },
};

/** Submits a job and waits until it waits for an answer. */
async function ask({ server, bench }: Relay, tag: string): Promise<{ id: string; requestId: string }> {
  const id = await submit(server, "judge", tag, bench.provider.url);
  let requestId: string | undefined;
  await until(async () => {
    const { job } = await call<{ job: JobAnswer }>(server, "JobsService/GetJob", { id });
    requestId = job.park?.judgment?.requestId;
    return requestId !== undefined;
  });
  return { id, requestId: requestId ?? "" };
}
