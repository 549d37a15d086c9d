import { beginSpan, type Span, type SpanStart } from "@svc/core";
import { endCodeOf } from "../../state/end-codes.ts";
import type { JobState } from "../../state/job.ts";

/** A job and the claim that took its task. `claim`: span of the claim, as a W3C `traceparent`; undefined if there was none. */
type Claimed = { readonly state: JobState; readonly claim: string | undefined };

/**
 * Returns the start of the tracing span for a node's work on a job. The span continues the trace of the job's submission, even after a wait
 * or on another node. It is linked to the span of the claim, because one claim takes many jobs.
 */
export function jobSpan({ state: { id, projectId, isSimulated, traceparent, attempt }, claim }: Claimed): SpanStart {
  const facts = { "svc.job.id": id, "svc.project.id": projectId, "svc.attempt": attempt, "svc.simulated": isSimulated };
  return { name: "job", kind: "consumer", parent: traceparent, links: [claim], facts };
}

/** The end of a job. `state`: the job before its last commit. */
type JobEnd = { readonly status: string; readonly state: JobState };

/** The tracing spans of a job's steps, while one node works on the job. If tracing is off, it makes no spans. */
export class JobTrace {
  /** The span of the job's current step. `index`: the step's place in the list of all steps of the program. */
  #step: { readonly index: number; readonly span: Span } | undefined;
  #end: JobEnd | undefined;

  /** The span of the step at which the job is now. Undefined before its first step. */
  get step(): Span | undefined {
    return this.#step?.span;
  }

  /**
   * Ends the span of the step before, and begins that of the step at which the job is now. Changes nothing if the job is at no single step:
   * the branches of a `parallel` step share its span.
   */
  move(state: JobState): void {
    const [position, another] = state.positions;
    if (position === undefined || another !== undefined || state.status !== "running") return;
    const { index } = position;
    if (this.#step?.index === index) return;
    const instruction = state.loaded.flow.instructions[index];
    if (instruction?.kind !== "step") return;
    this.#endStep(state);
    const span = beginSpan(stepSpan, { index, kind: instruction.step.kind });
    this.#step = span && { index, span };
  }

  /** Notes that the job ends with a status, so that the spans get its error. */
  noteEnd(status: string, state: JobState): void {
    this.#end = { status, state };
  }

  /** Ends the span of the last step. `state`: the job as the node leaves it, unless it has ended. */
  end(state: JobState): void {
    this.#endStep(this.#end?.state ?? state);
  }

  /**
   * Returns the error of a job that failed or expired: the code of the step that failed, or a code for the job's end. Undefined if the job
   * goes on, has succeeded, or was cancelled by a person.
   */
  jobError(): string | undefined {
    if (this.#end === undefined) return undefined;
    const { status, state } = this.#end;
    if (status === "succeeded" || status === "cancelled") return undefined;
    const code = /^[A-Za-z_]{1,40}(?=: )/.exec(state.lastError)?.[0];
    return status === "failed" && code !== undefined ? code : endCodeOf(status);
  }

  #endStep(state: JobState): void {
    if (this.#step === undefined) return;
    const { index, span } = this.#step;
    span.end(this.#stepError(index, state));
  }

  #stepError(index: number, { loaded, steps }: JobState): string | undefined {
    const instruction = loaded.flow.instructions[index];
    const receipt = instruction?.kind === "step" ? steps.get(instruction.step.id)?.receipt : undefined;
    if (receipt?.state === "failed") return receipt.errors.at(-1)?.code ?? endCodeOf("failed");
    // A step that was at work when the job ended fails with the job.
    return receipt?.state === "" ? this.jobError() : undefined;
  }
}

/** Describes the span of a step. It has the place of the step, and not the id, which the author of the program chose. */
function stepSpan({ index, kind }: { readonly index: number; readonly kind: string }): SpanStart {
  return { name: `step ${kind}`, facts: { "svc.step.index": index, "svc.step.kind": kind } };
}
