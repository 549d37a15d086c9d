import { confirmLifeMs, storableText } from "@svc/core";
import type { RowCounts } from "@svc/db/documents/calls";
import { type Continuation, type Point, resolveText } from "@svc/program";
import type { JobQuestion } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import { shownOf } from "../state/shown.ts";
import { type AskedPlan, planText } from "./plan-text.ts";

/**
 * Returns the question of a judgment point (the place in a program where a person decides), with the values of the job. `counts`: numbers
 * of rows, if the question is about rows. A reference without a value is shown as its name, and a sensitive value as `***`.
 */
export function pointQuestion(
  point: Point,
  {
    kind,
    stepId,
    state,
    counts,
  }: {
    readonly kind: "judge" | "failed" | "unknown";
    readonly stepId: string;
    readonly state: JobState;
    readonly counts?: RowCounts | undefined;
  },
): JobQuestion {
  const { isApproval } = point;
  return {
    stepId,
    pointId: isApproval ? "approval" : point.id,
    kind: isApproval ? "approval" : kind,
    question: textForPeople(point.question, point.id, state),
    continuations: point.continuations,
    answerSchemaJson: point.answerSchema === undefined ? "" : JSON.stringify(point.answerSchema),
    escalation: isApproval ? [] : point.escalation,
    defaultContinuation: isApproval ? undefined : point.defaultContinuation,
    counts,
  };
}

/**
 * Returns a text of the program with its values filled in, for people to read. A missing value is shown as its name, and a sensitive value
 * as `***`. If the text cannot be filled in, returns `id` and the error.
 */
export function textForPeople(template: Point["question"], id: string, state: JobState): string {
  // If the job has no sensitive values, nothing must be masked, and its own values are used.
  const shown = state.loaded.hasSensitive ? shownOf(state) : undefined;
  const resolved = resolveText(template, shown?.scope ?? state.scope, ({ text }) => `(no ${text})`);
  if (!("value" in resolved)) return `${id}: ${resolved.fault.message}`;
  // Removes characters that the database cannot store; an app's answer may contain them.
  return storableText(shown?.redact(resolved.value) ?? resolved.value);
}

const systemContinuations = {
  in_doubt: ["proceed", "skip", "abort"],
  undo_stuck: ["proceed", "retry-with", "abort"],
} as const satisfies Readonly<Record<string, readonly Continuation[]>>;

/**
 * Returns a question that svc itself asks, and not the program (for example about a call with an unknown outcome). Such a question has no
 * deadline.
 */
export function systemQuestion(kind: keyof typeof systemContinuations, stepId: string, question: string): JobQuestion {
  return { ...undeclared, stepId, pointId: kind, kind, question, continuations: systemContinuations[kind] };
}

/**
 * Returns the question that asks a person to approve a program before it runs. It states how many calls and rows the program may use at
 * most.
 */
export function planQuestion(plan: AskedPlan): JobQuestion {
  return {
    ...undeclared,
    stepId: "",
    pointId: "approval",
    kind: "approval",
    question: planText(plan),
    continuations: ["proceed", "abort"],
  };
}

/**
 * Returns the question that asks a person to confirm that a job may begin. The question is `text` if given; otherwise it states how many
 * calls and rows the program may use at most. Without an answer, the job does not begin.
 */
export function confirmQuestion(
  plan: AskedPlan,
  contact: string,
  text: string = planText(plan, "Confirm"),
): JobQuestion {
  return {
    ...undeclared,
    stepId: "",
    pointId: "confirm",
    kind: "confirm",
    question: text,
    continuations: ["proceed", "abort"],
    escalation: [{ principal: contact, timeoutMs: confirmLifeMs }],
    defaultContinuation: "abort",
  };
}

const undeclared = { answerSchemaJson: "", escalation: [], defaultContinuation: undefined, counts: undefined } as const;
