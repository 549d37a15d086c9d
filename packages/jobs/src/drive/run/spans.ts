import { beginSpan, type Span, type SpanStart } from "@svc/core";
import type { JobState } from "../../state/job.ts";

/** The span of the job's current step. `index`: the step's place in the list of all steps of the program. */
export type StepSpan = { readonly index: number; readonly span: Span };

/** Describes the span in which a node works on a job. It continues the trace of the job's submission, also after a wait or on a new node. */
export function jobSpan({ id, projectId, isSimulated, traceparent, attempt }: JobState): SpanStart {
  const facts = { "svc.job.id": id, "svc.project.id": projectId, "svc.attempt": attempt, "svc.simulated": isSimulated };
  return { name: "job", kind: "consumer", parent: traceparent, facts };
}

/**
 * Returns the span of the step at which the job is now, and ends the span of the step before. Undefined if the job is at no single step. The
 * branches of a `parallel` step share its span. A process that makes no spans does not call it.
 */
export function moveSpan(before: StepSpan | undefined, state: JobState): StepSpan | undefined {
  const [position, another] = state.positions;
  if (position === undefined || another !== undefined || state.status !== "running") return before;
  const { index } = position;
  if (before?.index === index) return before;
  const instruction = state.loaded.flow.instructions[index];
  if (instruction?.kind !== "step") return before;
  before?.span.end();
  const span = beginSpan(stepSpan, { index, kind: instruction.step.kind });
  return span && { index, span };
}

/** Describes the span of a step. It has the place of the step, and not the id, which the author of the program chose. */
function stepSpan({ index, kind }: { readonly index: number; readonly kind: string }): SpanStart {
  return { name: `step ${kind}`, facts: { "svc.step.index": index, "svc.step.kind": kind } };
}
