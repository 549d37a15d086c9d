import { isoTime, readJsonObject, readTime } from "@svc/core";
import type { CelOutcome, OverrideTarget } from "@svc/program";
import type { Change, Edit, Next } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import { fillValue } from "./arguments.ts";
import type { StepEffects } from "./effects.ts";
import type { CallFault } from "./invoke.ts";
import { textForPeople } from "./questions.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Code of the error of a `fail` step. */
const failCode = "FAIL_STEP";

/** Fails with the text of the program, in a simulation too. */
export const failKind: StepKind<"fail"> = {
  needs: "nothing",
  set: undefined,
  advance: advanceFail,
  retried: "anew",
  answer: undefined,
};

function advanceFail({ state, step, progress }: StepAt<"fail">): Change {
  const edits: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  return {
    edits,
    next: { kind: "fail", stepId: step.id, code: failCode, message: textForPeople(step.text, step.id, state) },
  };
}

/** A row fails for the condition of a call that has no answer. */
export function faultOfExpression(callId: string, outcome: Extract<CelOutcome, { error: string }>): CallFault {
  const message = `when of ${callId} ${outcome.error}`;
  return { code: codeOf(outcome), message, plain: message };
}

/** A step fails for an expression that has no answer. `what` names it, and `where` its row. */
export function expressionFailed(
  stepId: string,
  outcome: Extract<CelOutcome, { error: string }>,
  { what, where = "" }: { readonly what: string; readonly where?: string },
): Next {
  return { kind: "fail", stepId, code: codeOf(outcome), message: `${what} ${outcome.error}${where}` };
}

function codeOf({ isTooExpensive = false }: Extract<CelOutcome, { error: string }>): string {
  return isTooExpensive ? "EXPRESSION_TOO_EXPENSIVE" : "EXPRESSION_FAILED";
}

/** Takes one of two branches. */
export const ifKind: StepKind<"if"> = {
  needs: "nothing",
  set: undefined,
  advance: async ({ state, step, instruction }: StepAt<"if">, effects: StepEffects): Promise<Change> => {
    const begin: Edit = { kind: "begin", step };
    const condition = await effects.test(state, step.condition);
    if ("error" in condition) return { edits: [begin], next: expressionFailed(step.id, condition, { what: "if" }) };
    const to = condition.value ? instruction.next : instruction.otherwise;
    return {
      edits: [begin, { kind: "finish", stepId: step.id, state: "completed", to }],
      next: { kind: "on" },
    };
  },
  retried: "anew",
  answer: undefined,
};

/** Parks the job until its time, or fails where it would expire before. A simulated job does not wait. */
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

/** Why a wait is not begun: the job would expire before its time. While the deadline's clock stands still nobody knows. */
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

/** Names of changed values that a log entry tells. */
const namesMax = 50;

/** What a `retry-with` answer changes: params, or the arguments of one step. It was checked when it was given. */
export function overrideEdits(
  stepId: string,
  target: OverrideTarget | undefined,
  overridesJson: string,
  chain: readonly string[],
): Edit[] {
  if (target === undefined || overridesJson === "") return [];
  const overrides = readJsonObject(overridesJson, "an answer's overrides");
  const names = Object.keys(overrides);
  if (names.length === 0) return [];
  const changed: Edit =
    target.kind === "params"
      ? { kind: "params", params: overrides }
      : { kind: "stepArgs", stepId: target.step, args: overrides };
  const payload = {
    target: target.kind,
    ...(target.kind === "args" && { step: target.step }),
    names: names.slice(0, namesMax),
  };
  return [changed, { kind: "note", note: { type: "overrides-applied", stepId, payload, chain } }];
}
