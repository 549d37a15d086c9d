import type { RowCounts } from "@svc/db/documents/calls";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { AskKind } from "@svc/db/schema/words";
import type { Step, StepOf } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { AgainInstruction, SetSize, StepInstruction } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import type { ProgressOf, StepProgress } from "../state/progress.ts";
import type { CallTurn, Invocation, RowRange, StepEffects } from "./effects.ts";

/**
 * A step that the job runs now: the job's state, the step's place in the program, and the step's progress. The progress is undefined until
 * the step begins.
 */
export type StepAt<Kind extends Step["kind"] = Step["kind"]> = {
  readonly state: JobState;
  readonly step: StepOf<Kind>;
  readonly instruction: StepInstruction;
  readonly progress: ProgressOf<Kind> | undefined;
};

/** A step that is one call: a tool call, or an HTTP request of the program. */
export type CallAt = StepAt<"call"> | StepAt<"http">;

/**
 * A question of a job that was answered, or that ended without an answer. `chain`: the keys, contacts and programs that the log names as the
 * cause of the following changes.
 */
export type SettledQuestion = {
  readonly kind: AskKind;
  readonly stepId: string;
  /** A person's decision in the form in which it is shown to people: sensitive values are replaced by `***`. */
  readonly decision: DecisionDocument;
  /** The overrides (changed values) exactly as the person gave them. Empty if the answer has none. */
  readonly overridesJson: string;
  readonly chain: readonly string[];
};

/** A function that commits changes of the job while its step continues, one commit after another. It returns the job after the commit. */
export type PartialCommit = (edits: readonly Edit[]) => Promise<JobState>;

/** Code that runs steps of one kind, such as `call` or `map`. Its functions get the job and return changes of the job. */
export type StepKind<Kind extends Step["kind"]> = {
  /**
   * Says what svc commits before each action of the step. `nothing`: none of the job's changes. `rows`: only new rows, which the action
   * reads. `commit`: all changes, because the action makes calls.
   */
  readonly needs: "nothing" | "rows" | "commit";
  /** Number of rows that the step makes. `in`: as many as it took. `ok`: as many as succeeded. Undefined if the step does not make rows. */
  readonly set: SetSize;
  /**
   * Row counts that are stored in the step's receipt (its summary) when the step begins. Undefined if the receipt begins without counts.
   */
  readonly beginsWith?: RowCounts;
  /**
   * Returns the call with which the step's next action begins. Undefined if the call is not known yet. svc stores the beginning of the call
   * together with the commit before the action.
   */
  readonly firstCall?: (
    at: StepAt<Kind>,
    effects: Pick<StepEffects, "compute">,
  ) => Promise<FirstCall | undefined> | FirstCall | undefined;
  /**
   * Runs the next action of a step, such as one call, and returns the change to job state. If the step has not begun, the change begins the
   * step.
   */
  advance(at: StepAt<Kind>, effects: StepEffects, keep: PartialCommit): Promise<Change> | Change;
  /**
   * Returns the change to the job at the end of a round, for a step that repeats its inner steps, such as `until`. The change begins the
   * next round or ends the step.
   */
  readonly again?: (at: StepAt<Kind>, round: AgainInstruction, effects: StepEffects) => Promise<Change>;
  /**
   * Says where a retry of the job continues a failed or interrupted step of this kind. The function returns the progress from which the
   * step continues. If the function returns undefined, or if this field is `anew`, the step begins from the start. It then makes its rows,
   * its value and its calls again. A write that may have been executed is sent again only if the retry asks for this (`resendsUnknown`).
   */
  readonly retried: ((at: RetriedAt<Kind>, retry: JobRetry) => StepProgress | undefined) | "anew";
  /**
   * Returns the change to job state after a person has answered the step's question. The answer `abort` never reaches this function.
   * Undefined for a kind of step that asks no questions.
   */
  readonly answer:
    | ((at: StepAt<Kind>, settled: SettledQuestion, effects: Pick<StepEffects, "compute">) => Change | Promise<Change>)
    | undefined;
};

/** The step at which an earlier attempt of a job ended. The next attempt continues with this step. */
export type RetriedAt<Kind extends Step["kind"] = Step["kind"]> = StepAt<Kind> & {
  readonly progress: ProgressOf<Kind>;
};

/**
 * A retry of an ended job. `generation`: number of the job's last round of calls before the retry. `resendsUnknown`: true if writes in
 * doubt are sent again.
 */
export type JobRetry = { readonly generation: number; readonly resendsUnknown: boolean };

/**
 * The first call of the next step action (the part of a step between two commits), if it is certain in advance. `invocation`: the call with
 * its arguments filled in.
 */
export type FirstCall = { readonly invocation: Invocation; readonly turn: CallTurn };

/** Returns the id of the set (list of rows) that a step reads, and the states of the rows that it reads. */
export function sourceOf({
  source,
  states,
}: Pick<StepOf<"filter">, "source" | "states">): Pick<RowRange, "setId" | "states"> {
  return { setId: source, states };
}
