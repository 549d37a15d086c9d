import type { Change, Edit } from "../state/change.ts";
import { fillValue } from "./arguments.ts";
import type { StepEffects } from "./effects.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Parks the job until its time. A simulated job does not wait. */
export const waitKind: StepKind<"wait"> = {
  needs: "nothing",
  set: undefined,
  advance: advanceWait,
  // Its time stays the same.
  retried: ({ progress: { hasFailed, ...progress } }) => (hasFailed === true ? undefined : progress),
  answer: undefined,
};

async function advanceWait(at: StepAt<"wait">, effects: StepEffects): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const edits: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const nowMs = effects.clock.now();
  const wakeAt = progress?.wakeAt ?? (await wakeTime(at, effects));
  if (wakeAt === undefined) {
    const message = "until is not a timestamp (RFC 3339)";
    return { edits, next: { kind: "fail", stepId: step.id, code: "TIME_INVALID", message } };
  }
  if (state.isSimulated || wakeAt <= nowMs) {
    const finished = state.isSimulated ? "simulated" : "completed";
    return {
      edits: [...edits, { kind: "finish", stepId: step.id, state: finished, to: instruction.next }],
      next: { kind: "on" },
    };
  }
  return {
    edits: [...edits, { kind: "progress", progress: { kind: "wait", stepId: step.id, wakeAt } }],
    next: { kind: "wait", stepId: step.id, atMs: wakeAt },
  };
}

async function wakeTime({ state, step: { wait } }: StepAt<"wait">, effects: StepEffects): Promise<number | undefined> {
  if ("forMs" in wait) return effects.clock.now() + wait.forMs;
  const resolved = await fillValue(wait.until, state.scope, effects);
  const time = "value" in resolved && typeof resolved.value === "string" ? Date.parse(resolved.value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
