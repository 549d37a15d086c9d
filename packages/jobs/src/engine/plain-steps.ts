import { compileExpression } from "../program/cel.ts";
import type { Expression, IfStep, JudgeStep, WaitStep } from "../program/program.ts";
import { resolveValue } from "../program/resolve.ts";
import { ask, pointQuestion } from "./ask.ts";
import type { Instruction } from "./flow.ts";
import type { Run } from "./run.ts";
import { skipStep } from "./skip.ts";
import { failStep, leaveUntil, type Next } from "./step-end.ts";

/** Asks a step's point, or skips the step when its condition does not hold. */
export async function advanceJudge(run: Run, step: JudgeStep): Promise<Next> {
  const condition = step.when === undefined ? { value: true } : evaluate(run, step.when);
  if ("value" in condition && !condition.value) {
    skipStep(run, step);
    run.setPosition(run.job.position + 1);
    return "on";
  }
  if (!run.hasBegun(step.id)) run.begin(step, undefined);
  if ("error" in condition)
    return failStep(run, step.id, { code: "EXPRESSION_FAILED", message: `when ${condition.error}` });
  const point = run.program.points.get(step.point);
  if (point === undefined) throw new Error(`a checked program lacks the point ${step.point}`);
  return ask(run, step.id, pointQuestion(run, point, "judge", undefined));
}

/** Takes one of two branches. */
export async function advanceIf(run: Run, { step, elseAt }: Instruction & { kind: "if" }): Promise<Next> {
  run.begin(step satisfies IfStep, undefined);
  const condition = evaluate(run, step.condition);
  if ("error" in condition)
    return failStep(run, step.id, { code: "EXPRESSION_FAILED", message: `if ${condition.error}` });
  run.finishStep(step.id, "completed", condition.value ? run.job.position + 1 : elseAt);
  return "on";
}

function evaluate(run: Run, expression: Expression) {
  const { input, params, steps, rows } = run.values();
  return compileExpression(expression)({ input, params, steps, rows });
}

/** Parks the job until its time. A simulated job does not wait. */
export async function advanceWait(run: Run, step: WaitStep): Promise<Next> {
  if (!run.hasBegun(step.id)) run.begin(step, undefined);
  const wakeAt = run.progress?.wakeAt ?? wakeTime(run, step);
  if (wakeAt === undefined) {
    return failStep(run, step.id, { code: "TIME_INVALID", message: "until is not a timestamp (RFC 3339)" });
  }
  if (run.isSimulated || wakeAt <= run.now) {
    run.finishStep(step.id, run.isSimulated ? "simulated" : "completed", run.job.position + 1);
    return "on";
  }
  run.setProgress({ stepId: step.id, wakeAt });
  run.move("parked", "wait");
  run.park({ reason: "wait", stepId: step.id, since: run.now, wakeAt });
  return leaveUntil(run, wakeAt);
}

function wakeTime(run: Run, { wait }: WaitStep): number | undefined {
  if ("forMs" in wait) return run.now + wait.forMs;
  const resolved = resolveValue(wait.until, run.values());
  const time = "value" in resolved && typeof resolved.value === "string" ? Date.parse(resolved.value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Goes on with a wait whose time has come; one that was woken early goes on waiting. */
export async function resumeWait(run: Run): Promise<Next> {
  const wakeAt = run.progress?.wakeAt ?? 0;
  if (run.now < wakeAt) return leaveUntil(run, wakeAt);
  run.move("running", "time", ["clock"]);
  return "on";
}
