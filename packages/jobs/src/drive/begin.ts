import type { Step } from "@svc/program";
import type { UnrecordedEnd } from "@svc/tools";
import { apply, type Work } from "../state/apply.ts";
import type { Change, Edit } from "../state/change.ts";
import type { StepEffects } from "../steps/effects.ts";
import { stepKinds } from "../steps/index.ts";
import type { Keep, StepAt, StepKind } from "../steps/step-kind.ts";
import type { Port, ReadyAttempt } from "./port.ts";

/** A job at the edge of an act that calls: what is to be committed before it, and the act's first call, where that begins with it. */
export type Beginning = { readonly work: Work; readonly call: ReadyAttempt | undefined };

/** A step of any kind, as the driver runs it. */
export function kindOf(step: Step): StepKind<Step["kind"]> {
  return stepKinds[step.kind] as StepKind<Step["kind"]>;
}

/** That a job which nobody has driven before begins. */
export const started: Edit = { kind: "move", to: "running", reason: "started" };

/** Begins a step that calls, unless it has begun, and readies its first call. Nothing is committed. */
export async function beginStep(work: Work, step: Step, port: Port): Promise<Beginning> {
  const kind = kindOf(step);
  const rows = kind.beginsWith && { rows: kind.beginsWith };
  const hasBegun = work.state.positions[0]?.progress !== undefined;
  const begun = hasBegun ? work : apply(work, [{ kind: "begin", step, ...rows }], port.clock.now());
  // Where there is nothing to commit, the call commits its own beginning.
  if (begun.state === begun.committed) return { work: begun, call: undefined };
  const at = stepAtHand(begun);
  const first = at && kind.firstCall?.(at);
  return { work: begun, call: first && (await port.ready(begun.state, first.invocation, first.turn)) };
}

/** A job that is to be stored at work: it has started, and so has its first step, as far as that calls. */
export async function beginJob(work: Work, port: Port): Promise<Beginning> {
  const running = apply(work, [started], port.clock.now());
  const step = stepAtHand(running)?.step;
  if (step === undefined || kindOf(step).needs !== "commit") return { work: running, call: undefined };
  return beginStep(running, step, port);
}

/** Commits a beginning. Its call is left out where another holds its key: the act finds that one. */
export async function commitBeginning({ work, call }: Beginning, port: Port): Promise<Beginning> {
  if (work.state === work.committed) return { work, call };
  try {
    const begun = await port.commit(work, { task: "keep", call: call?.begun });
    if (call?.begun === undefined || begun.hasBegunCall) return { work: begun.work, call };
    call.cancel();
    return { work: begun.work, call: undefined };
  } catch (error) {
    call?.cancel();
    throw error;
  }
}

/** The step where a job stands; undefined behind the last, and at a jump. */
export function stepAtHand({ state }: Work): StepAt | undefined {
  const [position] = state.positions;
  const instruction = position && state.loaded.flow.instructions[position.index];
  if (position === undefined || instruction?.kind !== "step") return undefined;
  return { state, step: instruction.step, instruction, progress: position.progress };
}

/** One act of a step. Its first call is the one that is ready, whose end is committed with what follows from it. */
export async function advanceWith(
  at: StepAt,
  { call: ready, keep }: { readonly call: ReadyAttempt | undefined; readonly keep: Keep },
  effects: StepEffects,
): Promise<Change> {
  const kind = kindOf(at.step);
  if (ready === undefined) return kind.advance(at, effects, keep);
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
