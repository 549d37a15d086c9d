import { beginSpan, isTraced, spanned, withinSpan } from "@svc/core";
import type { Step } from "@svc/program";
import { apply, type WorkingJob } from "../../state/apply.ts";
import type { Change, Next } from "../../state/change.ts";
import { keptOfPlan } from "../../state/confirmed.ts";
import type { StepInstruction } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import { isParkable } from "../../state/statuses.ts";
import { goesOn } from "../../steps/children.ts";
import { stepKinds } from "../../steps/index.ts";
import { resumeFromAsk } from "../ask/answer.ts";
import { confirmFirst, requestConfirmation, requestPlanApproval } from "../ask/put-question.ts";
import type { Driver, Interrupts, Port } from "../port.ts";
import { holdAfterLosses, never, waitForRelease } from "../schedule/park.ts";
import { clockStops, pauseNow } from "../schedule/pause.ts";
import { cancel } from "../start/twin.ts";
import { advance, atTime, beginCommitted, endRound, type JobBeginning, skipUnlessDue, started } from "./begin.ts";
import { runBranches } from "./branches.ts";
import { endChildren, openChildren } from "./children.ts";
import { finish } from "./end.ts";
import { afterHandling } from "./failure.ts";
import { follow, leave } from "./follow.ts";
import { JobTrace, jobSpan } from "./spans.ts";
import { compensate } from "./undo.ts";

/**
 * Creates a driver (the loop that runs one job's steps). Its time slice (the time before other jobs get their turn) begins now. `losses`:
 * how often nodes have lost the job before.
 */
export function createDriver(port: Port, interrupts: Interrupts, losses = 0): Driver {
  const driver: Driver = {
    port,
    effects: {
      ...port,
      mustPause: (state) => driver.isSliceOver() || mustEnd(state, driver),
      mustEnd: (state) => mustEnd(state, driver),
    },
    interrupts,
    startedMs: port.clock.now(),
    losses,
    isSliceOver: () => port.clock.now() - driver.startedMs >= port.sliceMs && interrupts.hasOthersWaiting(),
  };
  return driver;
}

/**
 * Runs a job's step actions (parts of a step between two commits) until the job ends, waits, or must make room for other jobs. `call`: a
 * prepared call, sent first. `claim`: the span of the claim that took the job. Throws LeaseLostError if a different node holds the job's
 * lease. After any error, uncommitted work is lost and the job must be read again.
 */
export function drive(beginning: JobBeginning, driver: Driver, claim?: string): Promise<void> {
  if (!isTraced()) return driveOn(beginning, driver);
  const trace = new JobTrace();
  const span = beginSpan(jobSpan, { state: beginning.work.state, claim });
  return spanned(
    span,
    () => driveOn(beginning, { ...driver, trace }),
    () => trace.jobError(),
  );
}

async function driveOn({ work: read, call }: JobBeginning, driver: Driver): Promise<void> {
  const { trace } = driver;
  await driver.port.onFaultPoint?.("after-claim", { stepId: "" });
  trace?.move(read.state);
  let last = read;
  try {
    let work = call === undefined ? read : await withinSpan(trace?.step, () => advance({ work: read, call }, driver));
    while (work !== undefined) {
      const present: WorkingJob = work;
      last = present;
      const hasCommitted = present.committed !== read.committed;
      const isLost = !hasCommitted && isPoisoned(present.state, driver);
      trace?.move(present.state);
      const confirmer = isLost ? undefined : await driver.port.confirmerOf(present.state);
      work = isLost
        ? await park(present, driver)
        : await withinSpan(trace?.step, () => act(present, confirmer, driver));
    }
  } finally {
    trace?.end(last.state);
  }
}

function park(work: WorkingJob, driver: Driver): Promise<WorkingJob | undefined> {
  return follow(work, holdAfterLosses(work.state, driver.losses, driver.port.clock.now()), driver);
}

/**
 * Runs the next part of a job's work, and then further parts until the job must wait, ends or is left to another node. Returns undefined if
 * the node stops working on the job. `confirmer`: the person who must confirm the job before it continues, if any.
 */
async function act(work: WorkingJob, confirmer: string | undefined, driver: Driver): Promise<WorkingJob | undefined> {
  const { state } = work;
  const { port, interrupts } = driver;
  port.atWork();
  if (isCancelled(state, driver) && state.status !== "compensating") {
    // The node may know that a cancel was requested before the state contains this request. In this case, a commit reads the job's row,
    // which contains the key that requested the cancel.
    const seen = state.cancel === undefined ? await committed(work, driver.port) : work;
    const chain = seen.state.cancel?.chain ?? state.principalChain;
    const ending = (await endChildren(seen.state, chain, port)) ?? (await cancel(seen.state, port));
    return follow(seen, ending, driver);
  }
  if (isPaused(state, driver) && isParkable(state.status)) return pause(work, driver);
  if (interrupts.isStopping || driver.isSliceOver()) return leave(work, driver, port.clock.now());
  const { pause: request, deadline } = state;
  if (request !== undefined && state.status === "parked" && "atMs" in deadline) {
    // The pause was requested just before the job began to wait, so the job's deadline clock still runs. It is stopped now.
    return apply(work, [clockStops(request)], port.clock.now());
  }
  const isEnding = state.status === "compensating" || (state.status === "parked" && state.saga.state === "stuck");
  if (isOverdue(state, port) && !isEnding) {
    const ending = await endChildren(state, expired.chain, port);
    return follow(work, ending ?? { edits: [], next: expired }, driver);
  }
  return moveOn(work, confirmer, driver);
}

/**
 * Parks the job (stores it as waiting, so that no node works on it) because a pause was requested. Continues the job if the pause was
 * withdrawn meanwhile.
 */
async function pause(work: WorkingJob, driver: Driver): Promise<WorkingJob | undefined> {
  const { interrupts, port } = driver;
  // A pause was requested, but the job's state may have been read before the request was stored. So a commit reads the job's row again. The
  // row contains the key that requested the pause.
  const seen = work.state.pause === undefined ? await committed(work, port) : work;
  interrupts.isPauseSeen = false;
  if (seen.state.pause === undefined) return seen;
  return (await pauseBetweenActs(seen, port)) ? undefined : committed(seen, port);
}

const expired = { kind: "finish", status: "expired", reason: "deadline", chain: ["clock"] } satisfies Next;

async function moveOn(
  work: WorkingJob,
  confirmer: string | undefined,
  driver: Driver,
): Promise<WorkingJob | undefined> {
  const { state } = work;
  const { port, effects } = driver;
  const asking = confirmer === undefined ? undefined : await confirmFirst(state, port, confirmer);
  if (asking !== undefined) return follow(work, asking, driver);
  switch (state.status) {
    case "simulating": {
      const followed = await followTwin(work, port);
      return followed && follow(work, followed, driver);
    }
    case "queued":
      return follow(work, { edits: [started], next: { kind: "on" } }, driver);
    case "running":
      return state.positions.length > 1 ? driveBranches(work, driver) : runStep(work, driver);
    case "parked":
      if (state.park?.reason === "wait") return follow(work, resumeWait(state, port), driver);
      if (state.park?.reason === "child" && state.positions.length === 1) return runStep(work, driver);
      if (state.park?.before !== undefined) return follow(work, await resumeHeld(state, port), driver);
      return follow(work, await resumeParked(state, port), driver);
    case "pending_plan_approval":
      return follow(work, await resumeFromAsk(state, port), driver);
    case "compensating": {
      const ready = work.state === work.committed ? work : await committed(work, driver.port);
      return follow(ready, await compensate(ready.state, effects, port), driver);
    }
    default:
      throw new Error(`a job that is ${state.status} is not driven`);
  }
}

/** Returns the change that ends a wait whose time has come. A job that was woken early continues to wait. */
function resumeWait({ park }: JobState, { clock }: Port): Change {
  const wakeAt = park?.wakeAt ?? 0;
  if (clock.now() < wakeAt) return { edits: [], next: { kind: "until", atMs: wakeAt } };
  return { edits: [{ kind: "move", to: "running", reason: "time", chain: ["clock"] }], next: { kind: "on" } };
}

/**
 * Returns the change for a job that an administrator or a pause holds, or that waits until a person confirms it. If a person has answered
 * the confirmation question, the job does what the answer says. In all other cases, the job keeps waiting.
 */
async function resumeHeld(state: JobState, port: Port): Promise<Change> {
  if (state.park?.judgment === undefined) return waitForRelease;
  const change = await resumeFromAsk(state, port);
  return change.next.kind === "end" ? ((await endChildren(state, change.next.chain, port)) ?? change) : change;
}

/**
 * Returns the next change of a job that is parked because it asked a question. With an answer, the job continues. Without one, only
 * branches of a `parallel` step may continue.
 */
async function resumeParked(state: JobState, port: Port): Promise<Change> {
  const { wakeAt } = state.park ?? {};
  const change = await resumeFromAsk(state, port);
  const { next } = change;
  // After the answer to its question, the job ends. Before the job itself ends, the child jobs of its branches must end.
  if (next.kind === "end") return (await endChildren(state, next.chain, port)) ?? change;
  if (next.kind !== "leave") return change;
  if (openChildren(state).length > 0) return { edits: goesOn, next: { kind: "on" } };
  if (wakeAt === undefined) return change;
  if (port.clock.now() < wakeAt) return { edits: [], next: { kind: "until", atMs: wakeAt } };
  return {
    edits: [
      { kind: "move", to: "running", reason: "time", chain: ["clock"] },
      { kind: "deadline", clock: "runs" },
    ],
    next: { kind: "on" },
  };
}

async function driveBranches(work: WorkingJob, driver: Driver): Promise<WorkingJob | undefined> {
  const end = await runBranches(work, driver);
  return end && follow(end.work, end.change, driver);
}

/** Runs one action (unit of work) of the job's current step. If the job has no step left, ends the job as succeeded. */
async function runStep(work: WorkingJob, driver: Driver): Promise<WorkingJob | undefined> {
  const { positions, loaded, principalChain: chain } = work.state;
  const [position] = positions;
  const instruction = position && loaded.flow.instructions[position.index];
  if (position === undefined || instruction === undefined) {
    await finish(work, { kind: "finish", status: "succeeded", reason: "finished", chain }, driver.port);
    return undefined;
  }
  if (instruction.kind === "join") throw new Error(`${work.state.id} is alone at the end of a branch`);
  if (instruction.kind === "again") {
    // A call is in doubt (executed or not) if the node dies before the call's result is committed. So all results of this round of the loop
    // step are committed first. After that, the end of the round is evaluated.
    const ready = work.pending.made.length > 0 ? await committed(work, driver.port) : work;
    // The condition of `until` decides at the end of a round if another round follows. It is evaluated only once, and `now` has this time.
    const state = atTime(ready.state, driver.port.clock.now());
    return follow(ready, await endRound(state, instruction, driver.effects), driver);
  }
  if (instruction.kind === "handled") {
    const { step, index: from, to } = instruction;
    return follow(work, afterHandling(work.state, step.id, { from, to }), driver);
  }
  if (instruction.kind === "jump") {
    const edits = [{ kind: "go", from: position.index, to: instruction.to }] as const;
    return follow(work, { edits, next: { kind: "on" } }, driver);
  }
  if (instruction.step.when !== undefined && position.progress === undefined)
    return runIfDue(work, instruction, driver);
  return advance(await readied(work, instruction.step, driver), driver);
}

/**
 * Runs the current step if its condition is true. Results of earlier calls are committed before, because evaluating a condition may take
 * long.
 */
async function runIfDue(
  work: WorkingJob,
  instruction: StepInstruction,
  driver: Driver,
): Promise<WorkingJob | undefined> {
  const ready = work.pending.made.length > 0 ? await committed(work, driver.port) : work;
  const at = {
    state: atTime(ready.state, driver.port.clock.now()),
    step: instruction.step,
    instruction,
    progress: undefined,
  };
  const skipped = await skipUnlessDue(at, driver.effects);
  if (skipped !== undefined) return follow(ready, skipped, driver);
  return advance(await readied(ready, instruction.step, driver), driver);
}

/**
 * Makes the job ready for its current step. If the step makes calls, its beginning is committed. If the step reads rows that are not stored
 * yet, these rows are committed. Returns the job, and the step's first call if that call is known and prepared.
 */
async function readied(work: WorkingJob, step: Step, driver: Driver): Promise<JobBeginning> {
  const { placed, runs, clearedSets, made } = work.pending;
  const { needs } = stepKinds[step.kind];
  if (needs === "commit") return beginCommitted(work, step, driver.port);
  // A call is in doubt until its result is committed. So if calls were made, their results are committed before the next step reads rows or
  // does other slow work.
  const isDue = made.length > 0 || (needs === "rows" && placed.length + runs.length + clearedSets.length > 0);
  return { work: isDue ? await committed(work, driver.port) : work, call: undefined };
}

async function committed(work: WorkingJob, port: Port): Promise<WorkingJob> {
  return (await port.commit(work, { task: "keep" })).work;
}

function mustEnd(state: JobState, driver: Driver): boolean {
  const { isStopping } = driver.interrupts;
  return isStopping || isCancelled(state, driver) || isPaused(state, driver) || isOverdue(state, driver.port);
}

function isPaused({ pause: request }: JobState, { interrupts }: Pick<Driver, "interrupts">): boolean {
  return interrupts.isPauseSeen || request !== undefined;
}

function isCancelled({ cancel: request }: JobState, { interrupts }: Pick<Driver, "interrupts">): boolean {
  return interrupts.isCancelSeen || request !== undefined;
}

function isOverdue({ deadline }: JobState, { clock }: Pick<Port, "clock">): boolean {
  return "atMs" in deadline && clock.now() >= deadline.atMs;
}

/**
 * True if a job must be parked (stored as waiting, with no node working on it), because nodes repeatedly died or hung while they ran it. A
 * job that is being cancelled gets twice as many attempts, because cancelling is less work than running.
 */
function isPoisoned(state: JobState, { losses, port }: Driver): boolean {
  const isEnding = state.cancel !== undefined && state.status !== "compensating";
  return losses >= (isEnding ? 2 : 1) * port.lossesMax && isParkable(state.status);
}

/**
 * Returns the change to a job after its simulation run has ended. Returns undefined while the simulation still runs. Then nothing is to be
 * done, because the end of the simulation makes the job due.
 */
async function followTwin(work: WorkingJob, port: Port): Promise<Change | undefined> {
  const twin = await port.waitForTwin(work);
  if (twin.kind === "running") return undefined;
  const { status, lastError } =
    twin.kind === "ended" ? twin : { status: "", lastError: "the simulation run does not exist any more" };
  const payload = {
    simulationId: twin.kind === "ended" ? twin.id : "",
    status,
    outcome: twin.kind === "ended" ? twin.outcome : "",
  };
  const noted = { kind: "note", note: { type: "simulation-finished", stepId: "", payload } } as const;
  const { state } = work;
  if (status !== "succeeded") {
    return {
      edits: [noted, { kind: "lastError", message: `SIMULATION_FAILED: ${lastError}` }],
      next: { kind: "finish", status: "failed", reason: "simulation", chain: state.principalChain },
    };
  }
  const { needsApproval = false, confirmBy } = state.plan ?? {};
  if (needsApproval || confirmBy !== undefined) {
    const { edits, next } = await (needsApproval || confirmBy === undefined
      ? requestPlanApproval(state, port, "simulated", confirmBy)
      : requestConfirmation(state, port, confirmBy, "simulated"));
    return { edits: [noted, ...edits], next };
  }
  return {
    edits: [
      noted,
      { kind: "plan", plan: keptOfPlan(state.plan) },
      { kind: "move", to: "queued", reason: "simulated" },
      { kind: "deadline", clock: "runs" },
    ],
    next: { kind: "on" },
  };
}

/**
 * Parks the job (stores it as waiting) because a pause was requested. Called between two step actions (units of a step's work). Locks the
 * job's row first, because the job may have been resumed meanwhile. Returns true if the job was parked.
 */
function pauseBetweenActs(work: WorkingJob, port: Port): Promise<boolean> {
  return port.locked(async (job) => {
    if (!job.isPaused) return false;
    const nowMs = port.clock.now();
    const { edits } = pauseNow(work.state, nowMs);
    await job.commit(apply(work, edits, nowMs), { task: { dueAtMs: never } });
    return true;
  });
}
