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

/** A job just before a step action that calls: the work to commit first, and the action's first call, if that begins with the commit. */
export type JobBeginning = { readonly work: WorkingJob; readonly call: ReadyAttempt | undefined };

/** Returns the implementation of a step's kind. */
export function kindOf(step: Step): StepKind<Step["kind"]> {
  return stepKinds[step.kind] as StepKind<Step["kind"]>;
}

/** The first transition of a job that no driver has run before. */
export const started: Edit = { kind: "move", to: "running", reason: "started" };

/** Begins a step that calls, unless it has begun, and prepares its first call. Commits nothing. */
async function beginStep(work: WorkingJob, step: Step, port: Port): Promise<JobBeginning> {
  const { begun, first } = await firstOf(work, step, port);
  return { work: begun, call: first && (await port.ready(begun.state, first.invocation, first.turn)) };
}

/**
 * Begins a step that calls and commits that. Its call is left out if another driver holds its key; the step action then finds that call.
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

/** A read is not in the store before it ends, so it is prepared while the beginning of its step is committed. */
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

/** Returns a step that has begun, and its first call. If nothing has to be committed, the call commits its own beginning. */
async function firstOf(work: WorkingJob, step: Step, port: Port): Promise<StepBeginning> {
  const kind = kindOf(step);
  const rows = kind.beginsWith && { rows: kind.beginsWith };
  const hasBegun = work.state.positions[0]?.progress !== undefined;
  const begun = hasBegun ? work : apply(work, [{ kind: "begin", step, ...rows }], port.clock.now());
  if (kind.firstCall === undefined || begun.state === begun.committed) return { begun, first: undefined };
  const at = stepAtHand(begun, port.clock.now());
  return { begun, first: at && (await kind.firstCall(at, port)) };
}

/** Returns a job that is to be stored at work: it has started, and so has its first step if that calls. */
export async function beginJob(work: WorkingJob, port: Port): Promise<JobBeginning> {
  const running = apply(work, [started], port.clock.now());
  const step = stepAtHand(running, port.clock.now())?.step;
  // The driver evaluates the condition.
  const isCertain = step !== undefined && step.when === undefined;
  if (!isCertain || kindOf(step).needs !== "commit") return { work: running, call: undefined };
  return beginStep(running, step, port);
}

/**
 * Evaluates the condition of a step before it begins: the step is skipped if it is false, and fails if it has no value. Returns undefined
 * if the step is to begin, or has begun.
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
 * Returns the step where a job is, with the value of `now` in its expressions: the time it began, or `nowMs` if it has not begun. With
 * several branches at work, the step of one. Undefined after the last step, and at a jump.
 */
export function stepAtHand({ state }: WorkingJob, nowMs: number, branch = 0): StepAt | undefined {
  const position = state.positions[branch];
  const instruction = position && state.loaded.flow.instructions[position.index];
  if (position === undefined || instruction?.kind !== "step") return undefined;
  const { progress } = position;
  return { state: atTime(state, progress?.now ?? nowMs, branch), step: instruction.step, instruction, progress };
}

/** Returns the job as the current step sees it. In a branch it has the branch's generation. */
export function atTime(state: JobState, now: number, branch = 0): JobState {
  const { generation = state.generation } = state.positions[branch] ?? {};
  return { ...state, generation, scope: { ...state.scope, now } };
}

/** Runs one step action, for which everything necessary is committed. */
export async function advance({ work, call }: JobBeginning, driver: Driver): Promise<WorkingJob | undefined> {
  const at = stepAtHand(work, driver.port.clock.now());
  if (at === undefined) throw new Error(`${work.state.id} stands at no step`);
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

/** Runs one step action. Its first call is the prepared one, whose result is committed with its consequences. */
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
  // A step that begins in its own action begins at the time that its expressions were evaluated for.
  return { ...change, edits: change.edits.map((edit) => (edit.kind === "begin" ? { ...edit, now } : edit)) };
}

/**
 * Returns the first lost set that a step reads. Its remaining rows must not pass for the whole set, and an empty result not for an empty
 * set.
 */
function lostSourceOf({ state: { lostSets }, step }: StepAt): string | undefined {
  if (!("source" in step)) return undefined;
  const sources = step.kind === "join" ? [step.source, step.right] : [step.source];
  return sources.find((source) => lostSets.has(source));
}

function readsLost({ step, progress }: StepAt, lost: string): Change {
  const message = `reads the set of ${lost}, which failed and has none: do it only "when" there is no error of it`;
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

/** Returns the change at the end of a round of a block, as `state` sees it. */
export async function endRound(state: JobState, round: AgainInstruction, effects: StepEffects): Promise<Change> {
  const { again } = kindOf(round.step);
  if (again === undefined) throw new Error(`a step of kind ${round.step.kind} has no rounds`);
  const instruction = stepOf(state.loaded.flow, round.step.id);
  return again({ state, step: round.step, instruction, progress: undefined }, round, effects);
}
