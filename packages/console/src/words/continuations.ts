/** The answers that a person may choose for a question. */
export type AnswerKind = "proceed" | "retry-with" | "skip" | "abort";

/** Subject of a question. It decides the effect of each answer. */
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

const undoFirst = "Stops here. What the program can undo is undone, then the job ends as aborted.";

const words: Record<AskPlace, Record<AnswerKind, ContinuationWords>> = {
  judge: {
    proceed: { title: "Proceed", does: "Goes on." },
    "retry-with": {
      title: "Retry with changes",
      does: "Applies the changes and runs again from the step that the program names.",
    },
    skip: { title: "Skip", does: "Skips the one step behind the question, and does all that comes after." },
    abort: { title: "Abort", does: undoFirst },
  },
  failed_rows: {
    proceed: { title: "Proceed", does: "Accepts the failed rows as failed, and goes on." },
    "retry-with": { title: "Retry failed rows", does: "Failed rows go on at their first call that did not end well." },
    skip: { title: "Skip", does: "Marks the failed rows as skipped, and goes on." },
    abort: { title: "Abort", does: undoFirst },
  },
  unknown_rows: {
    proceed: { title: "Proceed", does: "Treats the writes in doubt as done, and goes on." },
    "retry-with": { title: "Send again", does: "Sends the writes in doubt again, under the same key of the app." },
    skip: { title: "Skip", does: "Marks the rows in doubt as skipped, and goes on." },
    abort: { title: "Abort", does: undoFirst },
  },
  plan_approval: {
    proceed: { title: "Approve", does: "Runs the plan." },
    "retry-with": { title: "Retry", does: "Not offered for an approval." },
    skip: { title: "Skip", does: "Not offered for an approval." },
    abort: { title: "Reject", does: "Ends the job as rejected; nothing of it was executed." },
  },
  gate_approval: {
    proceed: { title: "Approve", does: "Goes on through this gate." },
    "retry-with": { title: "Retry", does: "Not offered for an approval." },
    skip: { title: "Skip", does: "Not offered for an approval." },
    abort: { title: "Abort", does: undoFirst },
  },
  confirm: {
    proceed: { title: "Allow it", does: "It is done once, as it stands here." },
    "retry-with": { title: "Retry", does: "Not offered for a confirmation." },
    skip: { title: "Skip", does: "Not offered for a confirmation." },
    abort: { title: "Refuse", does: "Nothing is done, and whoever asked for it is told so." },
  },
  in_doubt: {
    proceed: {
      title: "Treat as done",
      does: "The write was carried out: goes on, and undoes it with the rest should that come.",
    },
    "retry-with": { title: "Send again", does: "Sends the write again." },
    skip: { title: "Pass over", does: "Goes on without it, and never undoes it." },
    abort: { title: "Abort", does: undoFirst },
  },
  undo_stuck: {
    proceed: { title: "Leave it", does: "Leaves what cannot be undone as it is, and undoes the rest." },
    "retry-with": { title: "Try again", does: "Tries this undo again." },
    skip: { title: "Skip", does: "Passes over this undo." },
    abort: { title: "Stop undoing", does: "Undoes nothing more; what is left stays as it is." },
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

/** Returns what a question is about, which decides the effect of each answer. */
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
