import { type ClaimedJobTask, endJobTask, findJobTwin, loadJob, requestJobCancel, withTransaction } from "@svc/db";
import { advanceCall } from "./call-step.ts";
import type { EngineContext } from "./context.ts";
import { resumeDeadline } from "./deadline.ts";
import { resumeFromAsk } from "./decide.ts";
import type { ReceiptDocument } from "./documents.ts";
import { endJob, finishJob } from "./end.ts";
import type { Instruction } from "./flow.ts";
import { advanceMap } from "./map-step.ts";
import { advanceIf, advanceJudge, advanceWait, resumeWait } from "./plain-steps.ts";
import { requestPlanApproval } from "./plan-approval.ts";
import { Run } from "./run.ts";
import { compensate } from "./saga.ts";
import { advanceFilter, advanceReduce } from "./set-steps.ts";
import { leaveUntil, type Next } from "./step-end.ts";

/** Reads a job for the driver that holds its run task; undefined when there is nothing to drive any more. */
export async function openRun(context: EngineContext, task: ClaimedJobTask): Promise<Run | undefined> {
  const found = await context.jobs.add(task.jobId);
  if (found === undefined || found.job.finishedAt !== null) {
    await endJobTask(context.db, task);
    return undefined;
  }
  const { job, steps } = found;
  const loaded = await context.programs.get(context.db, job.projectId, job.programDigest);
  return new Run(context, task.leaseToken, { job, steps, loaded });
}

/** Moves a job on, act by act, until it ends, waits, or gives way. */
export async function drive(run: Run): Promise<void> {
  await run.faultPoint("after-claim");
  let next: Next = "on";
  while (next === "on") next = await advance(run);
}

/** One act. What interrupts a job is looked at between any two. */
async function advance(run: Run): Promise<Next> {
  const isEnding = run.status === "compensating" || (run.status === "parked" && run.saga.state === "stuck");
  if (run.isCancelSeen && run.status !== "compensating") return cancel(run);
  if (run.isStopping || run.isSliceOver()) return leaveUntil(run, run.now);
  if (run.isOverdue() && !isEnding) return finishJob(run, "expired", { reason: "deadline", chain: ["clock"] });
  switch (run.status) {
    case "simulating":
      return followTwin(run);
    case "pending_plan_approval":
      return resumeFromAsk(run);
    case "queued":
      run.move("running", "started");
      return "on";
    case "parked":
      return run.job.park?.["reason"] === "wait" ? resumeWait(run) : resumeFromAsk(run);
    case "compensating":
      return compensate(run);
    case "running":
      return advanceStep(run);
    default:
      throw new Error(`a job that is ${run.status} is not driven`);
  }
}

function advanceStep(run: Run): Promise<Next> | Next {
  const instruction = run.loaded.flow.instructions[run.job.position];
  if (instruction === undefined) return finishJob(run, "succeeded", { reason: "finished", chain: run.chain });
  if (instruction.kind === "jump") {
    run.setPosition(instruction.to);
    return "on";
  }
  if (instruction.kind === "if") return advanceIf(run, instruction);
  return advancePlain(run, instruction);
}

function advancePlain(run: Run, { step }: Instruction & { kind: "step" }): Promise<Next> {
  switch (step.kind) {
    case "call":
      return advanceCall(run, step);
    case "filter":
      return advanceFilter(run, step);
    case "map":
      return advanceMap(run, step);
    case "reduce":
      return advanceReduce(run, step);
    case "judge":
      return advanceJudge(run, step);
    case "wait":
      return advanceWait(run, step);
  }
}

/** Ends a job that somebody asked to end. What its calls did so far is undone first, where the program says so. */
async function cancel(run: Run): Promise<Next> {
  // The request may be known from the lease alone; who made it stands in the row.
  if (run.job.cancelRequestedAt === null) await run.commit("keep");
  const chain = run.job.cancelChain ?? run.chain;
  if (run.status === "simulating") await cancelTwin(run, chain);
  if (run.status === "running" || (run.status === "parked" && run.saga.state !== "stuck")) {
    return endJob(run, "cancelled", chain);
  }
  const reason = run.saga.state === "stuck" ? "undo_stuck" : "cancelled";
  return finishJob(run, "cancelled", { reason, chain });
}

async function cancelTwin({ db, job, now }: Run, chain: readonly string[]): Promise<void> {
  const twin = await findJobTwin(db, job.id);
  if (twin !== undefined) await requestJobCancel(db, { jobId: twin, projectId: job.projectId, chain, nowMs: now });
}

/** A job that is simulated first goes on when its twin has ended. The twin's end makes this task due. */
async function followTwin(run: Run): Promise<Next> {
  const id = await findJobTwin(run.db, run.job.id);
  const twin = await withTransaction(run.db, async (tx) => {
    // Under the twin's lock: one that ends meanwhile makes the task due after this commit has removed it.
    const found = id && (await loadJob(tx, id, { lock: true }));
    if (found !== undefined && found.finishedAt === null) await run.commit("end", { db: tx });
    return found;
  });
  if (twin !== undefined && twin.finishedAt === null) return "left";
  const receipt = twin?.receipt as ReceiptDocument | null | undefined;
  const payload = { simulationId: id ?? "", status: twin?.status ?? "", outcome: receipt?.outcome ?? "" };
  run.note("simulation-finished", "", payload);
  if (twin?.status !== "succeeded") {
    run.job.lastError = `SIMULATION_FAILED: ${twin?.lastError ?? "the simulation is gone"}`;
    return finishJob(run, "failed", { reason: "simulation", chain: run.chain });
  }
  if (run.progress?.needsApproval === true) return requestPlanApproval(run);
  run.setProgress(undefined);
  run.move("queued", "simulated");
  resumeDeadline(run);
  return "on";
}
