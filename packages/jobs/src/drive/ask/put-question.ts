import type { AskInput } from "@svc/asks";
import type { ParkDocument } from "@svc/db/documents/jobs";
import type { Change, Edit, JobQuestion } from "../../state/change.ts";
import { keptOfPlan } from "../../state/confirmed.ts";
import type { JobFacts, JobState } from "../../state/job.ts";
import { isParkable } from "../../state/statuses.ts";
import { type AskedPlan, destructiveOf } from "../../steps/plan-text.ts";
import { confirmQuestion, planQuestion } from "../../steps/questions.ts";
import type { Port } from "../port.ts";

const parkReasons = {
  judge: "judgment",
  failed: "judgment",
  unknown: "judgment",
  approval: "approval",
  confirm: "judgment",
  in_doubt: "in_doubt",
  undo_stuck: "undo_stuck",
} as const satisfies Readonly<Record<AskInput["kind"], ParkDocument["reason"]>>;

/** Returns the data that is stored while a job is parked (suspended) until a person answers: the reason, the time and the question. */
export function parkOn(
  { kind, stepId, pointId, question: text, continuations, answerSchemaJson, counts }: JobQuestion,
  { requestId, nowMs }: { readonly requestId: string; readonly nowMs: number },
): ParkDocument {
  const raised = { pointId, requestId, question: text, continuations, answerSchemaJson, raisedAt: nowMs };
  return { reason: parkReasons[kind], stepId, since: nowMs, judgment: { ...raised, ...(counts && { counts }) } };
}

/** Converts a question of a job to the form that the package asks takes, which sends questions to people. */
export function askInput(
  { id: jobId, projectId, keyId, loaded, standingProgramId, principalChain }: Omit<JobFacts, "input">,
  asked: JobQuestion,
  nowMs: number,
): AskInput {
  const approvers = loaded.program.approval.escalation;
  return { ...asked, jobId, projectId, keyId, approvers, standingProgramId, principalChain, nowMs };
}

/** Returns the id of the ask that a job waits for, or undefined if it waits for no ask. */
export function askOf({ plan, undo, positions }: Pick<JobState, "plan" | "undo" | "positions">): string | undefined {
  return plan?.askId ?? undo?.askId ?? positions.find(({ progress }) => progress?.askId !== undefined)?.progress?.askId;
}

/** Reason why a job asks a person to approve its program before it runs: its simulation run ended, or a retry was requested. */
type PlanOrigin = "simulated" | "retried";

/**
 * Returns the change that parks a job until a person approves its program. `reason`: `simulated` after a simulation run, or `retried` before
 * another attempt. `confirmBy`: the contact who must confirm the job after the approval.
 */
export function requestPlanApproval(
  state: JobState,
  port: Port,
  reason: PlanOrigin,
  confirmBy: string | undefined,
): Promise<Change> {
  return put(state, port, { asked: planQuestion(planOf(state)), reason, confirmBy });
}

/**
 * Returns the change that parks a job until the contact (a person of the project) confirms it. `reason`: the simulation run or the retry
 * that led to this question, if any.
 */
export function requestConfirmation(
  state: JobState,
  port: Port,
  contact: string,
  reason: PlanOrigin | undefined,
): Promise<Change> {
  return put(state, port, { asked: confirmQuestion(planOf(state), contact), reason, confirmBy: undefined });
}

/**
 * Parks a running job (stores it as waiting) before its next call, if a contact must confirm the job first. After the confirmation, the job
 * continues from the same place. Returns undefined if the job already asks another question.
 */
export async function confirmFirst(state: JobState, port: Port, contact: string): Promise<Change | undefined> {
  const { status, lastError } = state;
  if (!isParkable(status) || askOf(state) !== undefined) return undefined;
  const { park, edits } = await asking(state, port, confirmQuestion(planOf(state), contact), undefined);
  return {
    edits: [
      { kind: "move", to: "parked", reason: park.reason },
      { kind: "park", park: { ...park, before: { status, lastError } } },
      { kind: "deadline", clock: "stops" },
      ...edits,
    ],
    next: { kind: "leave" },
  };
}

type Put = {
  readonly asked: JobQuestion;
  readonly reason: PlanOrigin | undefined;
  readonly confirmBy: string | undefined;
};

async function put(state: JobState, port: Port, { asked, reason, confirmBy }: Put): Promise<Change> {
  const { park, edits } = await asking(state, port, asked, confirmBy);
  const moved: Edit[] = reason === undefined ? [] : [{ kind: "move", to: "pending_plan_approval", reason }];
  return { edits: [...moved, { kind: "park", park }, ...edits], next: { kind: "leave" } };
}

/**
 * Prepares a question about the whole program of a job. Returns the document that is stored while the job is parked (suspended). Also
 * returns the edits (changes to the job's state) that store the question with the job.
 */
async function asking(state: JobState, port: Port, asked: JobQuestion, confirmBy: string | undefined) {
  const nowMs = port.clock.now();
  const prepared = await port.prepareAsk(askInput(state, asked, nowMs));
  const plan = { ...keptOfPlan(state.plan), askId: prepared.id, ...(confirmBy !== undefined && { confirmBy }) };
  const edits: Edit[] = [
    { kind: "plan", plan },
    { kind: "asked", prepared, isOfPlan: asked.kind === "approval" },
  ];
  return { park: parkOn(asked, { requestId: prepared.id, nowMs }), edits };
}

function planOf({ loaded, estimate, isRehearsal }: JobState): AskedPlan {
  const { program, tools, skills } = loaded;
  const isDestructive = (slug: string) => tools.get(slug)?.action.class === "destructive";
  return { program, estimate, destructive: destructiveOf(program, { isDestructive, skills }), isRehearsal };
}
