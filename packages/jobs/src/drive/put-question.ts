import type { AskInput } from "@svc/asks";
import type { ParkDocument } from "@svc/db/documents/park";
import type { Question } from "../state/change.ts";
import type { JobFacts, JobState } from "../state/job.ts";

const parkReasons = {
  judge: "judgment",
  failed: "judgment",
  unknown: "judgment",
  approval: "approval",
  confirm: "judgment",
  in_doubt: "in_doubt",
  undo_stuck: "undo_stuck",
} as const satisfies Readonly<Record<AskInput["kind"], ParkDocument["reason"]>>;

/** The park of a job that waits for an answer. */
export function parkOn(
  { kind, stepId, pointId, question: text, continuations, answerSchemaJson, counts }: Question,
  { requestId, nowMs }: { readonly requestId: string; readonly nowMs: number },
): ParkDocument {
  const raised = { pointId, requestId, question: text, continuations, answerSchemaJson, raisedAt: nowMs };
  return { reason: parkReasons[kind], stepId, since: nowMs, judgment: { ...raised, ...(counts && { counts }) } };
}

/** The question as asks take it. */
export function askInput(
  { id: jobId, projectId, keyId, loaded, standingProgramId, principalChain }: Omit<JobFacts, "input">,
  asked: Question,
  nowMs: number,
): AskInput {
  const approvers = loaded.program.approval.escalation;
  return { ...asked, jobId, projectId, keyId, approvers, standingProgramId, principalChain, nowMs };
}

/** Returns the id of the ask that a job waits for; undefined if it waits for none. */
export function askOf({ plan, undo, positions }: Pick<JobState, "plan" | "undo" | "positions">): string | undefined {
  return plan?.askId ?? undo?.askId ?? positions.find(({ progress }) => progress?.askId !== undefined)?.progress?.askId;
}
