import type { AskInput, PreparedAsk } from "@svc/asks";
import type { DecisionDocument, ParkDocument } from "@svc/db";
import type { Change, Edit, Question } from "../state/change.ts";
import { stepOf } from "../state/flow.ts";
import type { JobFacts, JobState } from "../state/job.ts";
import { destructiveOf } from "../steps/plan-text.ts";
import { planQuestion } from "../steps/questions.ts";
import { answered } from "./answer.ts";
import type { Port } from "./port.ts";

const parkReasons = {
  judge: "judgment",
  failed: "judgment",
  unknown: "judgment",
  approval: "approval",
  in_doubt: "in_doubt",
  undo_stuck: "undo_stuck",
} as const satisfies Readonly<Record<AskInput["kind"], ParkDocument["reason"]>>;

/** Parks the job on a question: ask, log, park and the end of the run task are one commit. A simulated job answers itself. */
export async function question(
  state: JobState,
  asked: Question,
  port: Port,
  { isBeside = false }: { readonly isBeside?: boolean } = {},
): Promise<Change> {
  if (state.isSimulated) return answersItself(state, asked, port);
  const { stepId } = asked;
  const isOwn = asked.kind === "in_doubt" || asked.kind === "undo_stuck";
  if (!isOwn && state.used.asks >= state.loaded.program.limits.asks) {
    return { edits: [], next: { kind: "limit", stepId, limit: "asks" } };
  }
  const nowMs = port.clock.now();
  const prepared = await port.prepareAsk(askInput(state, asked, nowMs));
  const reason = parkReasons[asked.kind];
  const park = parkOn(reason, asked, { requestId: prepared.id, nowMs });
  const put: Edit[] = [waiting(state, asked, prepared), { kind: "asked", prepared, isOfPlan: false }];
  if (isBeside) {
    const kept: Edit = { kind: "block", stepId, block: { kind: "asked", park } };
    return { edits: [{ kind: "use", used: { asks: 1 } }, kept, ...put], next: { kind: "commit" } };
  }
  return {
    edits: [
      { kind: "use", used: { asks: 1 } },
      { kind: "move", to: "parked", reason },
      { kind: "park", park },
      { kind: "deadline", clock: "stops" },
      ...put,
    ],
    next: { kind: "leave" },
  };
}

/** The park of a job that waits for an answer. */
export function parkOn(
  reason: ParkDocument["reason"],
  { stepId, pointId, question: text, continuations, answerSchemaJson, counts }: Question,
  { requestId, nowMs }: { readonly requestId: string; readonly nowMs: number },
): ParkDocument {
  const raised = { pointId, requestId, question: text, continuations, answerSchemaJson, raisedAt: nowMs };
  return { reason, stepId, since: nowMs, judgment: { ...raised, ...(counts && { counts }) } };
}

/** The question as asks take it. */
function askInput(
  { id: jobId, projectId, keyId, loaded, standingProgramId, principalChain }: Omit<JobFacts, "input">,
  asked: Question,
  nowMs: number,
): AskInput {
  const approvers = loaded.program.approval.escalation;
  return { ...asked, jobId, projectId, keyId, approvers, standingProgramId, principalChain, nowMs };
}

/** What is under way waits for the ask. */
function waiting({ undo, positions }: JobState, { kind, stepId }: Question, { id: askId }: PreparedAsk): Edit {
  if (kind === "undo_stuck") return { kind: "undo", undo: { stepId, ...undo, askId } };
  const progress = positions.find((position) => position.progress?.stepId === stepId)?.progress;
  if (progress === undefined) throw new Error(`step ${stepId} asks, and has not begun`);
  return { kind: "progress", progress: { ...progress, askId } };
}

/** What a simulation answers: proceed, else skip; where neither is declared it ends. */
async function answersItself(
  state: JobState,
  { stepId, pointId, kind, continuations }: Question,
  port: Port,
): Promise<Change> {
  const continuation = (["proceed", "skip"] as const).find((choice) => continuations.includes(choice));
  const payload = { pointId, ...(continuation && { continuation }) };
  const asked: Edit[] = [
    { kind: "use", used: { asks: 1 } },
    { kind: "note", note: { type: "ask-simulated", stepId, payload } },
  ];
  const { principalChain: chain } = state;
  if (continuation === undefined) {
    const { index } = stepOf(state.loaded.flow, stepId);
    return {
      edits: [...asked, { kind: "finish", stepId, state: "partial", to: index }],
      next: { kind: "finish", status: "succeeded", reason: "simulation-ended", chain },
    };
  }
  const decision: DecisionDocument = { continuation, ...nobody, at: port.clock.now() };
  const { edits, next } = await answered(state, { stepId, kind, decision, overridesJson: "", chain }, port);
  return { edits: [...asked, ...edits], next };
}

const nobody = { principalId: "", keyId: "", surface: "simulation", note: "", overridesJson: "" } as const;

/** Parks a job that was simulated first, or is taken on, on the approval of its plan. */
export async function requestPlanApproval(
  state: JobState,
  port: Port,
  reason: "simulated" | "retried",
): Promise<Change> {
  const nowMs = port.clock.now();
  const { loaded, estimate, isRehearsal } = state;
  const { program, tools, skills } = loaded;
  const isDestructive = (slug: string) => tools.get(slug)?.action.class === "destructive";
  const destructive = destructiveOf(program, { isDestructive, skills });
  const asked = planQuestion({ program, estimate, destructive, isRehearsal });
  const prepared = await port.prepareAsk(askInput(state, asked, nowMs));
  return {
    edits: [
      { kind: "move", to: "pending_plan_approval", reason },
      { kind: "park", park: parkOn("approval", asked, { requestId: prepared.id, nowMs }) },
      { kind: "plan", plan: { askId: prepared.id } },
      { kind: "asked", prepared, isOfPlan: true },
    ],
    next: { kind: "leave" },
  };
}
