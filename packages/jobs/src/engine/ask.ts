import type { AskInput, Decision } from "../asks/types.ts";
import type { Continuation, Point } from "../program/program.ts";
import { resolveText } from "../program/resolve.ts";
import { stopDeadline } from "./deadline.ts";
import { applyContinuation } from "./decide.ts";
import type { ParkDocument, RowCounts } from "./documents.ts";
import { endSimulation } from "./end.ts";
import type { Run } from "./run.ts";
import { failAtLimit, type Next } from "./step-end.ts";

/** What is to be asked. */
export type Question = Pick<
  AskInput,
  | "pointId"
  | "kind"
  | "question"
  | "continuations"
  | "answerSchemaJson"
  | "escalation"
  | "defaultContinuation"
  | "counts"
>;

/** The question of a declared point. */
export function pointQuestion(
  run: Run,
  point: Point,
  kind: "judge" | "failed" | "unknown",
  counts: RowCounts | undefined,
): Question {
  return {
    pointId: point.isApproval ? "approval" : point.id,
    kind: point.isApproval ? "approval" : kind,
    question: questionText(run, point),
    continuations: point.continuations,
    answerSchemaJson: point.answerSchema === undefined ? "" : JSON.stringify(point.answerSchema),
    escalation: point.isApproval ? [] : point.escalation,
    defaultContinuation: point.isApproval ? undefined : point.defaultContinuation,
    counts,
  };
}

/** A question whose sources are absent is still put: who answers sees which. */
function questionText(run: Run, point: Point): string {
  const resolved = resolveText(point.question, run.values());
  return "value" in resolved ? resolved.value : `${point.id}: ${resolved.fault.message}`;
}

/** A question of the service's own, which has no clock. */
export function systemPoint(kind: "in_doubt" | "undo_stuck", question: string): Question {
  const continuations: readonly Continuation[] =
    kind === "in_doubt" ? ["proceed", "skip", "abort"] : ["proceed", "retry-with", "abort"];
  return {
    pointId: kind,
    kind,
    question,
    continuations,
    answerSchemaJson: "",
    escalation: [],
    defaultContinuation: undefined,
    counts: undefined,
  };
}

const parkReasons = {
  judge: "judgment",
  failed: "judgment",
  unknown: "judgment",
  approval: "approval",
  in_doubt: "in_doubt",
  undo_stuck: "undo_stuck",
} as const satisfies Readonly<Record<AskInput["kind"], ParkDocument["reason"]>>;

/** Parks the job on a question: ask, log, park and the end of the run task are one commit. A simulated job answers itself. */
export async function ask(run: Run, stepId: string, question: Question): Promise<Next> {
  if (run.isSimulated) return answerItself(run, stepId, question);
  const isOwn = question.kind === "in_doubt" || question.kind === "undo_stuck";
  if (!isOwn && run.used.asks >= run.program.limits.asks) return failAtLimit(run, stepId, "asks");
  const { job, context } = run;
  const prepared = await context.asks.prepare(run.db, {
    ...question,
    jobId: job.id,
    projectId: job.projectId,
    keyId: job.keyId,
    stepId,
    approvers: run.program.approval.escalation,
    standingProgramId: job.standingProgramId,
    principalChain: run.chain,
    nowMs: run.now,
  });
  run.used = { ...run.used, asks: run.used.asks + 1 };
  const reason = parkReasons[question.kind];
  run.move("parked", reason);
  run.park(parkOn(run, stepId, question, prepared.id));
  stopDeadline(run);
  const asked = question.kind === "judge" || question.kind === "approval" ? undefined : question.kind;
  run.setProgress({ ...run.progress, stepId, askId: prepared.id, ...(asked && { asked }) });
  run.noteAll(prepared.events);
  run.addTasks(prepared.tasks);
  run.also((tx) => prepared.write(tx));
  await run.commit("end");
  await run.faultPoint("after-ask-commit");
  return "left";
}

/** The park of a job that waits for an answer. */
function parkOn(run: Run, stepId: string, question: Question, requestId: string): ParkDocument {
  return {
    reason: parkReasons[question.kind],
    stepId,
    since: run.now,
    judgment: {
      pointId: question.pointId,
      requestId,
      question: question.question,
      continuations: question.continuations,
      answerSchemaJson: question.answerSchemaJson,
      raisedAt: run.now,
      ...(question.counts && { counts: question.counts }),
    },
  };
}

/** What a simulation answers: proceed, else skip; where neither is declared it ends. */
async function answerItself(run: Run, stepId: string, question: Question): Promise<Next> {
  const continuation = (["proceed", "skip"] as const).find((choice) => question.continuations.includes(choice));
  run.used = { ...run.used, asks: run.used.asks + 1 };
  run.note("ask-simulated", stepId, { pointId: question.pointId, ...(continuation && { continuation }) });
  if (continuation === undefined) return endSimulation(run, stepId);
  const decision: Decision = {
    continuation,
    principalId: "",
    keyId: "",
    surface: "simulation",
    note: "",
    overridesJson: "",
    at: run.now,
  };
  return applyContinuation(run, { stepId, kind: question.kind, decision, chain: run.chain });
}
