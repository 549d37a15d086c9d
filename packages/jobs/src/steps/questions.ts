import { confirmLifeMs, storableText } from "@svc/core";
import type { RowCounts } from "@svc/db/documents/calls";
import { type Continuation, type Point, resolveText } from "@svc/program";
import type { JobQuestion } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import { shownOf } from "../state/shown.ts";
import { type AskedPlan, planText } from "./plan-text.ts";

/**
 * The question of a declared point about a step; `counts` where it is about rows. Of a source that is absent its name is
 * told in its place, and `***` stands for what is sensitive.
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
 * A text of the program as people read it. The name of a source that is absent stands in its place, and `***` for what is sensitive. `id`
 * names the text where it cannot be filled in.
 */
export function textForPeople(template: Point["question"], id: string, state: JobState): string {
  // Where nothing is sensitive the job is shown as it is.
  const shown = state.loaded.hasSensitive ? shownOf(state) : undefined;
  const resolved = resolveText(template, shown?.scope ?? state.scope, ({ text }) => `(no ${text})`);
  if (!("value" in resolved)) return `${id}: ${resolved.fault.message}`;
  // What an app answered may hold characters that the store does not keep.
  return storableText(shown?.redact(resolved.value) ?? resolved.value);
}

const systemContinuations = {
  in_doubt: ["proceed", "skip", "abort"],
  undo_stuck: ["proceed", "retry-with", "abort"],
} as const satisfies Readonly<Record<string, readonly Continuation[]>>;

/** A question of the service's own, which has no clock. */
export function systemQuestion(kind: keyof typeof systemContinuations, stepId: string, question: string): JobQuestion {
  return { ...undeclared, stepId, pointId: kind, kind, question, continuations: systemContinuations[kind] };
}

/** The question whether a plan may run: it says what the plan does at most. */
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
 * The question whether a job may begin that a person confirms: what its plan does at most, or `text` where it says that better. Nobody's
 * answer is no.
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
