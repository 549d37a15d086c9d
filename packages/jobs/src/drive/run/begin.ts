import type { SeenAccounts } from "@svc/connections";
import type { Step } from "@svc/program";
import type { UnrecordedEnd } from "@svc/tools";
import { apply, type WorkingJob } from "../../state/apply.ts";
import type { Change, Edit } from "../../state/change.ts";
import { type AgainInstruction, stepOf } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import type { StepEffects } from "../../steps/effects.ts";
import { expressionFailed } from "../../steps/expression-fault.ts";
import { stepKinds } from "../../steps/index.ts";
import type { FirstCall, PartialCommit, StepAt, StepKind } from "../../steps/step-kind.ts";
import type { Driver, Port, ReadyAttempt } from "../port.ts";
import { follow } from "./follow.ts";

/**
 * A job just before a step's calls. `work`: the job with the changes to commit before the first call. `call`: the prepared first call, if
 * the same commit stores that it begins; otherwise undefined.
 */
export type JobBeginning = { readonly work: WorkingJob; readonly call: ReadyAttempt | undefined };

/**
 * The state of a new job just before its first step that makes calls. `ready` is present only if the first call is a read: it prepares this
 * call. A read changes nothing in the app, so it can be sent before the job is stored.
 */
export type PlannedBeginning = JobBeginning & { readonly ready?: () => Promise<ReadyAttempt | undefined> };

/** Returns the functions that run a step of this kind (for example `call` or `map`). */
export function kindOf(step: Step): StepKind<Step["kind"]> {
  return stepKinds[step.kind] as StepKind<Step["kind"]>;
}

/** The change of a new job's status from `queued` to `running`, its first change of status. */
export const started: Edit = { kind: "move", to: "running", reason: "started" };

/**
 * Begins a step that makes calls, if it has not begun yet. Prepares the step's first call, except if this call is a read. Commits nothing.
 */
async function beginStep(work: WorkingJob, step: Step, port: Port, seen?: SeenAccounts): Promise<PlannedBeginning> {
  const { begun, first } = await firstOf(work, step, port);
  if (first === undefined) return { work: begun, call: undefined };
  const ready = () => port.ready(begun.state, first.invocation, { ...first.turn, seen });
  if (first.turn.tool.action.class === "read") return { work: begun, call: undefined, ready };
  return { work: begun, call: await ready() };
}

/**
 * Commits the beginning of a step that makes calls. Returns the job and its prepared first call. The call is undefined if it was already
 * begun elsewhere.
 */
export async function beginCommitted(work: WorkingJob, step: Step, port: Port): Promise<JobBeginning> {
  const { begun, first } = await firstOf(work, step, port);
  if (first?.turn.tool.action.class === "read") return commitBesideRead(begun, first, port);
  const call = first && (await port.ready(begun.state, first.invocation, first.turn));
  if (begun.state === begun.committed) return { work: begun, call };
  try {
    const committed = await port.commit(begun, { task: "keep", call: call?.begun });
    if (call?.begun === undefined || committed.hasBegunCall) return { work: committed.work, call };
    call.cancel();
    return { work: committed.work, call: undefined };
  } catch (error) {
    call?.cancel();
    throw error;
  }
}

/**
 * Commits the beginning of a step and prepares the step's first call at the same time. This is safe because the call is a read, and a read
 * is stored only after it has ended.
 */
async function commitBesideRead(begun: WorkingJob, { invocation, turn }: FirstCall, port: Port): Promise<JobBeginning> {
  const [readied, committed] = await Promise.allSettled([
    port.ready(begun.state, invocation, turn),
    port.commit(begun, { task: "keep" }),
  ]);
  if (readied.status === "rejected") throw committed.status === "rejected" ? committed.reason : readied.reason;
  if (committed.status === "fulfilled") return { work: committed.value.work, call: readied.value };
  readied.value?.cancel();
  throw committed.reason;
}

type StepBeginning = { readonly begun: WorkingJob; readonly first: FirstCall | undefined };

/** Returns the job with the step marked as begun. `first`: the step's first call, or undefined if that call is not prepared now. */
async function firstOf(work: WorkingJob, step: Step, port: Port): Promise<StepBeginning> {
  const kind = kindOf(step);
  const rows = kind.beginsWith && { rows: kind.beginsWith };
  const hasBegun = work.state.positions[0]?.progress !== undefined;
  const begun = hasBegun ? work : apply(work, [{ kind: "begin", step, ...rows }], port.clock.now());
  if (kind.firstCall === undefined || begun.state === begun.committed) return { begun, first: undefined };
  const at = stepAtHand(begun, port.clock.now());
  return { begun, first: at && (await kind.firstCall(at, port)) };
}

/**
 * Returns a new job with the status running, for the caller to store. If the first step makes calls, this step has begun too. `seen`:
 * connected accounts that were read when the job was submitted.
 */
export async function beginJob(work: WorkingJob, port: Port, seen?: SeenAccounts): Promise<PlannedBeginning> {
  const running = apply(work, [started], port.clock.now());
  const step = stepAtHand(running, port.clock.now())?.step;
  // A step with a condition is not begun here, because only the driver evaluates conditions.
  const isCertain = step !== undefined && step.when === undefined;
  if (!isCertain || kindOf(step).needs !== "commit") return { work: running, call: undefined };
  return beginStep(running, step, port, seen);
}

/**
 * Checks the condition of a step that has not begun. Returns the change that skips the step if the condition is false, or that fails it if
 * the condition cannot be evaluated. Returns undefined if the step runs.
 */
export async function skipUnlessDue(
  { state, step, instruction, progress }: StepAt,
  effects: StepEffects,
): Promise<Change | undefined> {
  if (step.when === undefined || progress !== undefined) return undefined;
  const condition = await effects.test(state, step.when);
  if ("error" in condition) {
    return { edits: [{ kind: "begin", step }], next: expressionFailed(step.id, condition, { what: "when" }) };
  }
  if (condition.value) return undefined;
  const go: Edit = { kind: "go", from: instruction.index, to: instruction.end };
  return { edits: [{ kind: "skip", step }, go], next: { kind: "on" } };
}

/**
 * Returns the step that the job runs now; undefined if its position is not at a step. `branch`: index of the branch of a `parallel` step.
 * `nowMs`: current time in the step's expressions, if the step has not begun.
 */
export function stepAtHand({ state }: WorkingJob, nowMs: number, branch = 0): StepAt | undefined {
  const position = state.positions[branch];
  const instruction = position && state.loaded.flow.instructions[position.index];
  if (position === undefined || instruction?.kind !== "step") return undefined;
  const { progress } = position;
  return { state: atTime(state, progress?.now ?? nowMs, branch), step: instruction.step, instruction, progress };
}

/**
 * Returns the job's state with `now` as the current time for its expressions. For a branch of a `parallel` step, the state gets the branch's
 * own generation: a number that grows when calls are to be made again, so that they do not count as repetitions.
 */
export function atTime(state: JobState, now: number, branch = 0): JobState {
  const { generation = state.generation } = state.positions[branch] ?? {};
  return { ...state, generation, scope: { ...state.scope, now } };
}

/**
 * Runs one action of the job's current step. Everything that the action depends on is already committed. Returns undefined if no more work
 * on the job is possible now, for example because it waits.
 */
export async function advance({ work, call }: JobBeginning, driver: Driver): Promise<WorkingJob | undefined> {
  const at = stepAtHand(work, driver.port.clock.now());
  if (at === undefined) throw new Error(`${work.state.id} has no current step`);
  const { now = driver.port.clock.now() } = at.state.scope;
  let kept = work;
  const keep: PartialCommit = async (edits) => {
    driver.port.atWork();
    kept = (await driver.port.commit(apply(kept, edits, driver.port.clock.now()), { task: "keep" })).work;
    return atTime(kept.state, now);
  };
  const change = await advanceWith(at, { call, keep }, driver.effects);
  return follow(kept, change, driver);
}

/**
 * Runs one step action (the part of a step between two commits) and returns the resulting change of the job. `call`: the first call of this
 * part, if it is already prepared.
 */
export async function advanceWith(
  at: StepAt,
  { call: ready, keep }: { readonly call: ReadyAttempt | undefined; readonly keep: PartialCommit },
  effects: StepEffects,
): Promise<Change> {
  const kind = kindOf(at.step);
  const lost = lostSourceOf(at);
  if (lost !== undefined) return readsLost(at, lost);
  const change = await (ready === undefined
    ? kind.advance(at, effects, keep)
    : advanceWithCall(at, { kind, ready, keep }, effects));
  const { now } = at.state.scope;
  if (at.progress !== undefined || now === undefined) return change;
  // If this action begins the step, the step gets `now` as its start time. The expressions of the action were evaluated with the same time.
  return { ...change, edits: change.edits.map((edit) => (edit.kind === "begin" ? { ...edit, now } : edit)) };
}

/** Returns the id of the first incomplete set (list of rows) that the step reads, or undefined. A step must not read an incomplete set. */
function lostSourceOf({ state: { lostSets }, step }: StepAt): string | undefined {
  if (!("source" in step)) return undefined;
  const sources = step.kind === "join" ? [step.source, step.right] : [step.source];
  return sources.find((source) => lostSets.has(source));
}

function readsLost({ step, progress }: StepAt, lost: string): Change {
  const message = `reads the set of ${lost}, which failed and has no set: run it only "when" ${lost} has no error`;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  return { edits: begun, next: { kind: "fail", stepId: step.id, code: "SET_LOST", message } };
}

async function advanceWithCall(
  at: StepAt,
  {
    kind,
    ready,
    keep,
  }: { readonly kind: StepKind<Step["kind"]>; readonly ready: ReadyAttempt; readonly keep: PartialCommit },
  effects: StepEffects,
): Promise<Change> {
  const ends: UnrecordedEnd[] = [];
  let isSent = false;
  const call: StepEffects["call"] = async (...asked) => {
    if (isSent) return effects.call(...asked);
    isSent = true;
    const { attempted, end } = await ready.send();
    if (end !== undefined) ends.push(end);
    return attempted;
  };
  try {
    const { edits, next } = await kind.advance(at, { ...effects, call }, keep);
    return { edits: [...ends.map((end) => ({ kind: "called", end }) as const), ...edits], next };
  } catch (error) {
    for (const end of ends) await end.write();
    throw error;
  } finally {
    if (!isSent) ready.cancel();
  }
}

/**
 * Returns the change of a job when a round of a loop step (for example `until`) has ended: it begins the next round or ends the loop.
 * `state`: the job with the results of the round.
 */
export async function endRound(state: JobState, round: AgainInstruction, effects: StepEffects): Promise<Change> {
  const { again } = kindOf(round.step);
  if (again === undefined) throw new Error(`a step of kind ${round.step.kind} has no rounds`);
  const instruction = stepOf(state.loaded.flow, round.step.id);
  return again({ state, step: round.step, instruction, progress: undefined }, round, effects);
}
