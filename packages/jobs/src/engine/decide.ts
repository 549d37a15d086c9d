import { setJobRowStates } from "@svc/db";
import type { AskKind, Decision } from "../asks/types.ts";
import { rerunOf } from "../program/rerun.ts";
import { resumeDeadline } from "./deadline.ts";
import { noRows, type RowCounts, type StepState } from "./documents.ts";
import { endJob, finishJob } from "./end.ts";
import type { Run } from "./run.ts";
import { skipStepAt } from "./skip.ts";
import type { Next } from "./step-end.ts";
import { isJsonObject } from "./values.ts";

/** A settled question. `chain`: who caused what follows from it. */
export type Settled = {
  readonly stepId: string;
  readonly kind: AskKind;
  readonly decision: Decision;
  readonly chain: readonly string[];
};

/**
 * Moves a job that waits for a person as the answer says, or leaves it waiting while there is none. Makes no call: it also runs
 * in the transaction that settles an ask.
 */
export async function resumeFromAsk(run: Run): Promise<Next> {
  const askId = run.progress?.askId;
  const found = askId === undefined ? undefined : await run.context.asks.find(run.db, run.job.id, askId as never);
  if (found === undefined || found.decision === undefined) {
    await run.commit("end");
    return "left";
  }
  const { stepId, kind, decision, principalChain } = found;
  if (run.status === "pending_plan_approval") return decidePlan(run, decision, principalChain);
  return applyContinuation(run, { stepId, kind, decision, chain: principalChain });
}

async function decidePlan(run: Run, { continuation }: Decision, chain: readonly string[]): Promise<Next> {
  if (continuation !== "proceed") return finishJob(run, "rejected", { reason: "abort", chain });
  run.setProgress(undefined);
  run.move("queued", "approved", chain);
  resumeDeadline(run);
  return "on";
}

/** Carries out one continuation, where the question was asked. */
export async function applyContinuation(run: Run, settled: Settled): Promise<Next> {
  const { stepId, kind, decision, chain } = settled;
  if (run.steps.has(stepId)) run.patchReceipt(stepId, { decision });
  if (kind === "undo_stuck") return decideUndo(run, settled);
  if (decision.continuation === "abort") {
    closeStep(run, stepId, "failed");
    return endJob(run, "aborted", chain);
  }
  if (run.status === "parked") {
    run.move("running", decision.continuation, chain);
    resumeDeadline(run);
  }
  switch (kind) {
    case "judge":
    case "approval":
      return decideJudge(run, settled);
    case "in_doubt":
      run.finishStep(stepId, decision.continuation === "skip" ? "skipped" : "completed", run.job.position + 1);
      return "on";
    case "failed":
    case "unknown":
      return decideRows(run, settled, kind);
  }
}

function closeStep(run: Run, stepId: string, state: Exclude<StepState, "">): void {
  if (run.steps.has(stepId) && run.receiptOf(stepId).state === "") run.finishStep(stepId, state, run.job.position);
}

function decideJudge(run: Run, { stepId, decision, chain }: Settled): Next {
  const at = run.job.position;
  run.finishStep(stepId, run.isSimulated ? "simulated" : "completed", at + 1);
  if (decision.continuation === "skip") skipStepAt(run, at + 1);
  if (decision.continuation === "retry-with") rerun(run, stepId, decision, chain);
  return "on";
}

/** Goes back to where the point says, with what the answer changed. Calls of the new generation are new calls. */
function rerun(run: Run, stepId: string, { overridesJson }: Decision, chain: readonly string[]): void {
  const instruction = run.loaded.flow.instructions[run.loaded.flow.indexOf.get(stepId) ?? -1];
  const step = instruction?.kind === "step" ? instruction.step : undefined;
  const point = step?.kind === "judge" ? run.program.points.get(step.point) : undefined;
  applyOverrides(run, stepId, point?.overrides?.target, overridesJson, chain);
  const rerunFrom = point?.overrides?.rerunFrom ?? stepId;
  const repeated = rerunOf(run.program, rerunFrom, stepId);
  if ("steps" in repeated) for (const { id } of repeated.steps) run.forget(id);
  run.job.generation += 1;
  run.setPosition(run.loaded.flow.indexOf.get(rerunFrom) ?? run.job.position);
}

function applyOverrides(
  run: Run,
  stepId: string,
  target: { readonly kind: "params" } | { readonly kind: "args"; readonly step: string } | undefined,
  overridesJson: string,
  chain: readonly string[],
): void {
  const overrides: unknown = overridesJson === "" ? {} : JSON.parse(overridesJson);
  if (target === undefined || !isJsonObject(overrides) || Object.keys(overrides).length === 0) return;
  if (target.kind === "params") run.setParams({ ...(run.job.params as typeof overrides), ...overrides });
  else {
    const before = run.job.stepArgs[target.step];
    run.setStepArgs({ ...run.job.stepArgs, [target.step]: { ...(isJsonObject(before) ? before : {}), ...overrides } });
  }
  const names = Object.keys(overrides).slice(0, 50);
  run.note(
    "overrides-applied",
    stepId,
    { target: target.kind, ...(target.kind === "args" && { step: target.step }), names },
    chain,
  );
}

/** What becomes of the failed or unknown rows of a map. The step looks at its rows again afterwards. */
async function decideRows(run: Run, { stepId, decision, chain }: Settled, state: "failed" | "unknown"): Promise<Next> {
  const counts = run.receiptOf(stepId).rows ?? noRows;
  const { askId: _ask, asked: _asked, ...progress } = { ...run.progress, stepId };
  switch (decision.continuation) {
    case "proceed":
      if (state === "unknown") changeRows(run, stepId, counts, "unknown", "ok");
      else {
        run.finishStep(stepId, "partial", run.job.position + 1);
        return "on";
      }
      break;
    case "skip":
      changeRows(run, stepId, counts, state, "skipped");
      break;
    case "retry-with": {
      const point = pointOfRows(run, stepId, state);
      applyOverrides(run, stepId, point?.overrides?.target, decision.overridesJson, chain);
      const appGeneration = state === "unknown" ? (run.progress?.appGeneration ?? run.job.generation) : undefined;
      run.job.generation += 1;
      run.patchReceipt(stepId, { attempts: run.receiptOf(stepId).attempts + 1 });
      const { appGeneration: _old, retries: _retries, ended: _ended, ...kept } = progress;
      run.setProgress({ ...kept, again: state, next: 0, ...(appGeneration !== undefined && { appGeneration }) });
      return "on";
    }
  }
  run.setProgress(progress);
  return "on";
}

function pointOfRows(run: Run, stepId: string, state: "failed" | "unknown") {
  const instruction = run.loaded.flow.instructions[run.loaded.flow.indexOf.get(stepId) ?? -1];
  const step = instruction?.kind === "step" ? instruction.step : undefined;
  const name = step?.kind === "map" ? step.onRows[state] : undefined;
  return name === undefined ? undefined : run.program.points.get(name);
}

function changeRows(
  run: Run,
  stepId: string,
  counts: RowCounts,
  from: "failed" | "unknown",
  to: "ok" | "skipped",
): void {
  run.patchReceipt(stepId, { rows: { ...counts, [from]: 0, [to]: counts[to] + counts[from] } });
  run.also(async (tx) => {
    await setJobRowStates(tx, { jobId: run.job.id, setId: stepId }, { from, to });
  });
}

/** proceed leaves the entry, retry-with tries it again, abort stops undoing. */
async function decideUndo(run: Run, { stepId, decision, chain }: Settled): Promise<Next> {
  const cause = run.saga.cause ?? "failed";
  if (decision.continuation === "abort") return finishJob(run, cause, { reason: "undo_stuck", chain });
  run.move("compensating", decision.continuation, chain);
  run.saga = { ...run.saga, state: "compensating" };
  const isLeft = decision.continuation === "proceed";
  if (!isLeft) run.job.generation += 1;
  const leaves = run.progress?.next;
  run.setProgress({ stepId, ...(isLeft && leaves !== undefined && { leaves }) });
  return "on";
}
