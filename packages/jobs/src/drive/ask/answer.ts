import type { AskView } from "@svc/asks";
import { parseId } from "@svc/core";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { Step } from "@svc/program";
import type { Change, Edit } from "../../state/change.ts";
import { confirmationOf, keptOfPlan } from "../../state/confirmed.ts";
import { stepOf } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import type { PlanProgress } from "../../state/progress.ts";
import type { StepEffects } from "../../steps/effects.ts";
import { stepKinds } from "../../steps/index.ts";
import type { SettledQuestion, StepKind } from "../../steps/step-kind.ts";
import type { Port } from "../port.ts";
import { askOf, requestConfirmation } from "./put-question.ts";

/**
 * Returns the change to a waiting job after a person has answered its question. Without an answer, the job keeps waiting. This function
 * calls no tool, because it may run in the database transaction that stores the answer.
 */
export async function resumeFromAsk(state: JobState, port: Port): Promise<Change> {
  const askId = askOf(state);
  const found = askId === undefined ? undefined : await port.findAsk(state, askId);
  if (found?.decision === undefined) return { edits: [], next: { kind: "leave" } };
  const { stepId, kind, decision, overridesJson, principalChain: chain } = found;
  if (state.status === "pending_plan_approval") return answeredPlan(state, { kind, decision, chain }, port);
  if (kind === "confirm") return answeredConfirmation(state, { decision, chain });
  return answered(state, { stepId, kind, decision, overridesJson, chain }, port);
}

type PlanAnswer = { readonly decision: DecisionDocument; readonly chain: readonly string[] };

function answeredPlan(
  state: JobState,
  { kind, decision, chain }: PlanAnswer & Pick<AskView, "kind">,
  port: Port,
): Change | Promise<Change> {
  const { isRehearsal, plan } = state;
  if (decision.continuation !== "proceed") {
    return { edits: [], next: { kind: "finish", status: "rejected", reason: "abort", chain } };
  }
  if (isRehearsal) {
    const edits: Edit[] = [{ kind: "plan", plan: undefined }];
    return { edits, next: { kind: "finish", status: "succeeded", reason: "approved", chain } };
  }
  // The plan is approved, but its calls also need confirmation. So the contact who confirms calls is asked next.
  if (plan?.confirmBy !== undefined) return requestConfirmation(state, port, plan.confirmBy, undefined);
  const left = kind === "confirm" ? confirmed(state) : keptOfPlan(plan);
  return {
    edits: [
      { kind: "plan", plan: left },
      { kind: "move", to: "queued", reason: "approved", chain },
      { kind: "deadline", clock: "runs" },
    ],
    next: { kind: "on" },
  };
}

/** Returns the change to a running job after a person answered its confirmation question: the job continues, or it ends. */
function answeredConfirmation(state: JobState, { decision, chain }: PlanAnswer): Change {
  const { park, saga, plan } = state;
  const to = park?.before?.status;
  if (to === undefined) throw new Error(`${state.id} was not running when it was to be confirmed`);
  if (decision.continuation === "proceed") {
    const runs: Edit[] = to === "compensating" ? [] : [{ kind: "deadline", clock: "runs" }];
    return {
      edits: [{ kind: "plan", plan: confirmed(state) }, { kind: "move", to, reason: "confirmed", chain }, ...runs],
      next: { kind: "on" },
    };
  }
  const left: Edit = { kind: "plan", plan: keptOfPlan(plan) };
  if (to !== "compensating") return { edits: [left], next: { kind: "end", cause: "aborted", chain } };
  // The person did not confirm the undo calls, so undoing stops. The undo entries that are left are kept and shown.
  return {
    edits: [left, { kind: "saga", saga: { state: "stuck" } }],
    next: { kind: "finish", status: saga.cause ?? "failed", reason: "undo_stuck", chain },
  };
}

function confirmed(state: JobState): PlanProgress {
  return { ...keptOfPlan(state.plan), confirmed: confirmationOf(state) };
}

/**
 * Returns the change that a person's answer makes to the job. The answer chooses a continuation (for example `proceed` or `abort`), which
 * is applied to the step that asked.
 */
export async function answered(
  state: JobState,
  settled: SettledQuestion,
  effects: Pick<StepEffects, "compute">,
): Promise<Change> {
  const { stepId, kind, decision, chain } = settled;
  const entry = state.steps.get(stepId);
  const asked: Edit[] = state.blocks[stepId]?.kind === "asked" ? [{ kind: "block", stepId, block: undefined }] : [];
  const noted: Edit[] = entry === undefined ? [] : [{ kind: "receipt", stepId, decision }, ...asked];
  if (kind !== "undo_stuck" && decision.continuation === "abort") {
    const to = stepOf(state.loaded.flow, stepId).index;
    const closed: Edit[] = entry?.receipt.state === "" ? [{ kind: "finish", stepId, state: "failed", to }] : [];
    return { edits: [...noted, ...closed], next: { kind: "end", cause: "aborted", chain } };
  }
  // Only a parked job gets the status `running` and a running deadline clock. A simulated job was never parked, because it answers its own
  // questions. A job that undoes its calls also continues, but its deadline clock stays stopped.
  const resumed: Edit[] =
    state.status === "parked" && kind !== "undo_stuck"
      ? [
          { kind: "move", to: "running", reason: decision.continuation, chain },
          { kind: "deadline", clock: "runs" },
        ]
      : [];
  const { edits, next } = await (kind === "undo_stuck"
    ? answeredUndo(state, settled)
    : answeredStep(state, settled, effects));
  return { edits: [...noted, ...resumed, ...edits, ...changedBy(state, edits, decision)], next };
}

/**
 * Returns the change of a job's state that records the key whose answer to a question changed parameters or arguments. The confirmation
 * rules of this key then apply to the job, and this key may not confirm the job. Returns an empty list if the answer changed nothing.
 */
function changedBy({ plan }: JobState, edits: readonly Edit[], { keyId }: DecisionDocument): Edit[] {
  const key = parseId("key", keyId);
  const hasChanged = edits.some(({ kind }) => kind === "params" || kind === "stepArgs");
  if (!hasChanged || key === undefined) return [];
  return [{ kind: "plan", plan: { ...plan, changedBy: [...new Set([...(plan?.changedBy ?? []), key])] } }];
}

function answeredStep(
  state: JobState,
  settled: SettledQuestion,
  effects: Pick<StepEffects, "compute">,
): Change | Promise<Change> {
  const instruction = stepOf(state.loaded.flow, settled.stepId);
  const { step, index } = instruction;
  const { answer }: Pick<StepKind<Step["kind"]>, "answer"> = stepKinds[step.kind] as StepKind<Step["kind"]>;
  if (answer === undefined) throw new Error(`a step of kind ${step.kind} asks nothing`);
  const branch = state.positions.findIndex((position) => position.index === index);
  const { progress, generation = state.generation } = state.positions[branch] ?? {};
  return answer({ state: { ...state, generation }, step, instruction, progress }, settled, effects);
}

/**
 * Returns the change of a job after a person answered the question about a failed undo of a call. `proceed` leaves this call as it is,
 * `retry-with` tries the undo again, `abort` stops undoing.
 */
function answeredUndo({ saga, undo }: JobState, { stepId, decision, chain }: SettledQuestion): Change {
  const { continuation } = decision;
  if (continuation === "abort") {
    const { cause = "failed" } = saga;
    return { edits: [], next: { kind: "finish", status: cause, reason: "undo_stuck", chain } };
  }
  const leaves = continuation === "proceed" ? undo?.entry : undefined;
  return {
    edits: [
      { kind: "move", to: "compensating", reason: continuation, chain },
      { kind: "saga", saga: { state: "compensating" } },
      ...(continuation === "proceed" ? [] : [{ kind: "generation" } as const]),
      { kind: "undo", undo: { stepId, ...(leaves !== undefined && { leaves }) } },
    ],
    next: { kind: "on" },
  };
}
