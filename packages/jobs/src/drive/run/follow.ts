import { apply, type WorkingJob } from "../../state/apply.ts";
import type { Change, Edit, Next } from "../../state/change.ts";
import { keptOfPlan } from "../../state/confirmed.ts";
import { question } from "../ask/ask.ts";
import type { Follower, Port } from "../port.ts";
import { endOf, finish, limitOf } from "./end.ts";
import { failureOf } from "./failure.ts";

/**
 * Applies the edits of a change to the job. Then does what the change's `next` says: continue, commit, ask a question, or fail or end the
 * job. Returns the resulting job, or undefined if this node is to stop its work on the job.
 */
export async function follow(
  before: WorkingJob,
  { edits, next }: Change,
  driver: Follower,
): Promise<WorkingJob | undefined> {
  const { port } = driver;
  const work = edits.length === 0 ? before : apply(before, edits, port.clock.now());
  const { state } = work;
  switch (next.kind) {
    case "on":
      return work;
    case "commit":
      return driver.isSliceOver()
        ? leave(work, driver, port.clock.now())
        : (await port.commit(work, { task: "keep" })).work;
    case "until":
      return leave(work, driver, next.atMs, true);
    case "wait":
      return follow(work, parkUntil(next, port.clock.now()), driver);
    case "leave":
      await port.commit(work, { task: "end" });
      if (work.pending.asks.length > 0) await port.onFaultPoint?.("after-ask-commit", { stepId: "" });
      return undefined;
    case "await":
      await port.awaitChildren(work, next);
      return undefined;
    case "ask":
      return follow(work, await question(state, next.question, port), driver);
    case "fail":
      return follow(work, failureOf(state, next), driver);
    case "limit":
      return follow(work, limitOf(state, next), driver);
    case "end":
      return follow(work, endOf(state, next), driver);
    case "undo":
      return beginUndo(work, next.chain, port);
    case "finish":
      await finish(work, next, port);
      driver.trace?.noteEnd(next.status, state);
      return undefined;
  }
}

/** Returns the change that parks (suspends) a job at a wait step until the time `atMs`. */
function parkUntil({ stepId, atMs }: Extract<Next, { kind: "wait" }>, nowMs: number): Change {
  return {
    edits: [
      { kind: "move", to: "parked", reason: "wait" },
      { kind: "park", park: { reason: "wait", stepId, since: nowMs, wakeAt: atMs } },
    ],
    next: { kind: "until", atMs },
  };
}

/**
 * Commits the pending work and releases the job, so that its task is due again at `atMs`, or at the job's deadline if that is earlier.
 * `isWait`: true if the job has not progressed.
 */
export async function leave(work: WorkingJob, driver: Follower, atMs: number, isWait = false): Promise<undefined> {
  const { deadline } = work.state;
  const dueAtMs = "atMs" in deadline ? Math.min(atMs, deadline.atMs) : atMs;
  await driver.port.commit(work, { task: { dueAtMs }, isWait });
}

/**
 * Prepares a job for the undo of its calls: withdraws its pending question to a person. Returns the job. `chain`: the keys and programs
 * that caused the undo.
 */
async function beginUndo(work: WorkingJob, chain: readonly string[], port: Port): Promise<WorkingJob> {
  const { used, plan } = work.state;
  if (used.asks === 0 && plan?.askId === undefined) return work;
  return port.locked(async (job) => {
    const { events } = await job.closeAsks(chain);
    const edits: Edit[] = [
      { kind: "withdrawn", events },
      { kind: "plan", plan: keptOfPlan(plan) },
    ];
    const withdrawn = apply(work, edits, port.clock.now());
    return (await job.commit(withdrawn, { task: "keep" })).work;
  });
}
