import { isoTime, readTime } from "@svc/core";
import type { Change, Edit } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import { fillValue } from "./arguments.ts";
import type { StepEffects } from "./effects.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Step kind `wait`: parks the job until a time. Fails if the job would expire before that time. A simulated job does not wait. */
export const waitKind: StepKind<"wait"> = {
  needs: "nothing",
  set: undefined,
  advance: advanceWait,
  // If an interrupted wait is retried, it keeps its wake time. A wait that failed begins again.
  retried: ({ progress: { hasFailed, ...progress } }) => (hasFailed === true ? undefined : progress),
  answer: undefined,
};

async function advanceWait(at: StepAt<"wait">, effects: StepEffects): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const edits: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const nowMs = effects.clock.now();
  const fail = (code: string, message: string): Change => {
    return { edits, next: { kind: "fail", stepId: step.id, code, message } };
  };
  const wakeAt = progress?.wakeAt ?? (await wakeTime(at, effects));
  const { isOld } = state.loaded;
  if (wakeAt === undefined) {
    const cure = ': such as "2026-05-01T09:00:00Z"; a duration is waited for by "wait": "2d" itself';
    return fail("TIME_INVALID", `until is not a timestamp (RFC 3339)${isOld ? "" : cure}`);
  }
  if (state.isSimulated || wakeAt <= nowMs) {
    const finished = state.isSimulated ? "simulated" : "completed";
    return {
      edits: [...edits, { kind: "finish", stepId: step.id, state: finished, to: instruction.next }],
      next: { kind: "on" },
    };
  }
  const tooLate = !isOld && progress?.wakeAt === undefined ? faultOfTime(wakeAt, state) : undefined;
  if (tooLate !== undefined) return fail("WAIT_BEYOND_DEADLINE", tooLate);
  return {
    edits: [...edits, { kind: "progress", progress: { kind: "wait", stepId: step.id, wakeAt } }],
    next: { kind: "wait", stepId: step.id, atMs: wakeAt },
  };
}

/**
 * Returns the reason why a wait cannot begin: the job would expire before the end of the wait. Returns undefined if the wait can begin.
 * While the job's deadline is stopped, its time of expiry is unknown, so every wait can begin.
 */
function faultOfTime(wakeAt: number, { deadline }: JobState): string | undefined {
  if (!("atMs" in deadline) || wakeAt < deadline.atMs) return undefined;
  const [wakes, expires] = [wakeAt, deadline.atMs].map(isoTime);
  return `it would wait until ${wakes}, but the job expires at ${expires}: raise limits.deadline`;
}

async function wakeTime({ state, step: { wait } }: StepAt<"wait">, effects: StepEffects): Promise<number | undefined> {
  if ("forMs" in wait) return effects.clock.now() + wait.forMs;
  const resolved = await fillValue(wait.until, state.scope, effects);
  return "value" in resolved && typeof resolved.value === "string" ? readTime(resolved.value) : undefined;
}
