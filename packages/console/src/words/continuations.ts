/** The kinds of answers that a question of a job can allow. Each kind has another effect on the job. */
export type AnswerKind = "proceed" | "retry-with" | "skip" | "abort";

/** The kind of decision that a question is about, such as failed rows or the approval of a plan. It decides the effect of each answer. */
export type AskPlace =
  | "judge"
  | "failed_rows"
  | "unknown_rows"
  | "plan_approval"
  | "gate_approval"
  | "confirm"
  | "in_doubt"
  | "undo_stuck";

/** The label of an answer's button (`title`), and the effect of the answer (`does`). */
export type ContinuationWords = { title: string; does: string };

const undoFirst = "Stops the job. svc undoes the changes that can be undone.";

const words: Record<AskPlace, Record<AnswerKind, ContinuationWords>> = {
  judge: {
    proceed: { title: "Continue the job", does: "The job continues with the next step." },
    "retry-with": {
      title: "Retry with changes",
      does: "Uses your changes, and runs again from the step that the program names.",
    },
    skip: { title: "Skip", does: "Skips the step that the question is about, and runs the rest." },
    abort: { title: "Stop the job", does: undoFirst },
  },
  failed_rows: {
    proceed: { title: "Continue the job", does: "Leaves the failed rows as failed, and runs the rest." },
    "retry-with": { title: "Retry failed rows", does: "Repeats each failed row from the call that failed." },
    skip: { title: "Skip", does: "Marks the failed rows as skipped, and runs the rest." },
    abort: { title: "Stop the job", does: undoFirst },
  },
  unknown_rows: {
    proceed: { title: "Treat as done", does: "Counts the uncertain writes as done, and runs the rest." },
    "retry-with": { title: "Send again", does: "Sends the uncertain writes again, with the same idempotency key." },
    skip: { title: "Skip", does: "Marks the uncertain rows as skipped, and runs the rest." },
    abort: { title: "Stop the job", does: undoFirst },
  },
  plan_approval: {
    proceed: { title: "Approve", does: "Runs the program." },
    "retry-with": { title: "Retry", does: "Not offered for an approval." },
    skip: { title: "Skip", does: "Not offered for an approval." },
    abort: { title: "Reject", does: "Ends the job. No step has run." },
  },
  gate_approval: {
    proceed: { title: "Approve", does: "The job continues after this approval." },
    "retry-with": { title: "Retry", does: "Not offered for an approval." },
    skip: { title: "Skip", does: "Not offered for an approval." },
    abort: { title: "Stop the job", does: undoFirst },
  },
  confirm: {
    proceed: { title: "Allow it", does: "Sends exactly this call, once." },
    "retry-with": { title: "Retry", does: "Not offered for a confirmation." },
    skip: { title: "Skip", does: "Not offered for a confirmation." },
    abort: { title: "Refuse", does: "Sends nothing. The caller sees that you refused." },
  },
  in_doubt: {
    proceed: {
      title: "Treat as done",
      does: "Counts the write as done, and runs the rest. If the job stops later, the write is undone too.",
    },
    "retry-with": { title: "Send again", does: "Sends the write again." },
    skip: { title: "Skip", does: "Runs the rest without this write, and never undoes it." },
    abort: { title: "Stop the job", does: undoFirst },
  },
  undo_stuck: {
    proceed: { title: "Leave this change", does: "Leaves the change as it is, and undoes the rest." },
    "retry-with": { title: "Try again", does: "Tries to undo this change again." },
    skip: { title: "Skip", does: "Skips this undo, and undoes the rest." },
    abort: { title: "Stop undoing", does: "Undoes nothing more. The other changes stay." },
  },
};

/** All kinds of answers to a question, in the order in which the question's page offers them. */
export const continuations: readonly AnswerKind[] = ["proceed", "retry-with", "skip", "abort"];

/**
 * Returns the label of an answer, and the effect that the answer has. If the console does not know the answer (a newer service may offer
 * it), returns the answer's name as its label, without an effect.
 */
export function continuationWords(continuation: string, place: AskPlace): ContinuationWords {
  return (words[place] as Record<string, ContinuationWords>)[continuation] ?? { title: continuation, does: "" };
}

/**
 * True if svc itself asks whether it may send a call or run a program. Questions that a program asks belong to a step and are not
 * confirmations.
 */
export function isConfirmation({ pointId, stepId }: { pointId: string; stepId: string }): boolean {
  return pointId === "confirm" && stepId === "";
}

/** Returns the kind of decision that a question is about, such as failed rows or a plan. It decides the effect of each answer. */
export function askPlace(ask: {
  pointId: string;
  approvalId: string;
  stepId: string;
  rows?: { failed: number; unknown: number } | undefined;
}): AskPlace {
  if (ask.pointId === "in_doubt" || ask.pointId === "undo_stuck") return ask.pointId;
  if (isConfirmation(ask)) return "confirm";
  if (ask.approvalId !== "") return ask.stepId === "" ? "plan_approval" : "gate_approval";
  if (ask.rows === undefined) return "judge";
  return ask.rows.unknown > 0 ? "unknown_rows" : "failed_rows";
}
