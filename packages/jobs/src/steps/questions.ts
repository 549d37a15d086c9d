import { confirmLifeMs, storableText } from "@svc/core";
import type { RowCounts } from "@svc/db/documents/calls";
import { type Continuation, type Point, resolveText } from "@svc/program";
import type { JobQuestion } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import { shownOf } from "../state/shown.ts";
import { type AskedPlan, planText } from "./plan-text.ts";

/**
 * Returns the question of a declared point about a step; `counts` if it is about rows. An absent source is replaced by its name, and a
 * sensitive value by `***`.
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
 * Returns a text of the program for people. An absent source is replaced by its name, and a sensitive value by `***`. `id` names the text
 * if it cannot be filled in.
 */
export function textForPeople(template: Point["question"], id: string, state: JobState): string {
  // Without sensitive values the job is shown unchanged.
  const shown = state.loaded.hasSensitive ? shownOf(state) : undefined;
  const resolved = resolveText(template, shown?.scope ?? state.scope, ({ text }) => `(no ${text})`);
  if (!("value" in resolved)) return `${id}: ${resolved.fault.message}`;
  // An app's answer may contain characters that the store does not keep.
  return storableText(shown?.redact(resolved.value) ?? resolved.value);
}

const systemContinuations = {
  in_doubt: ["proceed", "skip", "abort"],
  undo_stuck: ["proceed", "retry-with", "abort"],
} as const satisfies Readonly<Record<string, readonly Continuation[]>>;

/** Returns one of svc's own questions, which has no deadline. */
export function systemQuestion(kind: keyof typeof systemContinuations, stepId: string, question: string): JobQuestion {
  return { ...undeclared, stepId, pointId: kind, kind, question, continuations: systemContinuations[kind] };
}

/** Returns the question whether a plan may run. It says what the plan does at most. */
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
 * Returns the question whether a job may begin that a person must confirm: what its plan does at most, or `text` if that says it better. No
 * answer means no.
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
