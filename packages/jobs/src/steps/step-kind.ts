import type { RowCounts } from "@svc/db/documents/calls";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { AskKind } from "@svc/db/schema/words";
import type { Step, StepOf } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { AgainInstruction, SetSize, StepInstruction } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import type { ProgressOf, StepProgress } from "../state/progress.ts";
import type { CallTurn, Invocation, RowRange, StepEffects } from "./effects.ts";

/** A step to run: the job, the step's place, and its progress, undefined if it has not begun. */
export type StepAt<Kind extends Step["kind"] = Step["kind"]> = {
  readonly state: JobState;
  readonly step: StepOf<Kind>;
  readonly instruction: StepInstruction;
  readonly progress: ProgressOf<Kind> | undefined;
};

/** A step that is one call: of a tool, or an HTTP request of the program. */
export type CallAt = StepAt<"call"> | StepAt<"http">;

/** A settled question. `chain`: the causes of what follows. */
export type SettledQuestion = {
  readonly kind: AskKind;
  readonly stepId: string;
  /** The decision as shown. */
  readonly decision: DecisionDocument;
  /** The overrides as answered. Empty if there are none. */
  readonly overridesJson: string;
  readonly chain: readonly string[];
};

/** Commits a part of a step action while the rest continues, one part after another. Returns the job after it. */
export type PartialCommit = (edits: readonly Edit[]) => Promise<JobState>;

/**
 * One kind of step, as the driver runs it. A step is a value: given the job and the effects, a step action returns its changes. A kind that
 * makes calls begins with an action that only begins it and is committed before the first call.
 */
export type StepKind<Kind extends Step["kind"]> = {
  /**
   * What must be committed before a step action. `rows`: the rows of sets, for kinds that read them. `commit`: everything, including the
   * beginning of the step, for kinds that call; the driver begins such a step.
   */
  readonly needs: "nothing" | "rows" | "commit";
  /** The count of rows that is the size of the step's set. Undefined if it makes none. */
  readonly set: SetSize;
  /** The first counts of the step's receipt, if the driver begins it. Undefined for none. */
  readonly beginsWith?: RowCounts;
  /**
   * Returns the first call of the next step action if it is certain: the driver begins it with the commit before the action. Absent for a
   * kind that leaves it to the action.
   */
  readonly firstCall?: (
    at: StepAt<Kind>,
    effects: Pick<StepEffects, "compute">,
  ) => Promise<FirstCall | undefined> | FirstCall | undefined;
  /** Runs one step action. Its edits begin the step if it has not begun. */
  advance(at: StepAt<Kind>, effects: StepEffects, keep: PartialCommit): Promise<Change> | Change;
  /** For a kind that repeats its steps: returns what follows at the end of a round. The step's `progress` is undefined there. */
  readonly again?: (at: StepAt<Kind>, round: AgainInstruction, effects: StepEffects) => Promise<Change>;
  /**
   * Returns the progress with which another attempt of the job continues a failed or interrupted step. Undefined begins it again, with a
   * new set, value and calls. A kind that writes continues, and never repeats what is done or in doubt.
   */
  readonly retried: ((at: RetriedAt<Kind>, retry: JobRetry) => StepProgress | undefined) | "anew";
  /** Returns the changes of an answer to the step's question; abort is handled elsewhere. Undefined for a kind that does not ask. */
  readonly answer:
    | ((at: StepAt<Kind>, settled: SettledQuestion, effects: Pick<StepEffects, "compute">) => Change | Promise<Change>)
    | undefined;
};

/** A step where an attempt of its job ended. */
export type RetriedAt<Kind extends Step["kind"] = Step["kind"]> = StepAt<Kind> & {
  readonly progress: ProgressOf<Kind>;
};

/** How a job is to be retried. `generation`: that of the attempt that ended. */
export type JobRetry = { readonly generation: number; readonly resendsUnknown: boolean };

/** A call that is certain to be made. */
export type FirstCall = { readonly invocation: Invocation; readonly turn: CallTurn };

/** Returns the set that a step reads, and the rows of it. */
export function sourceOf({
  source,
  states,
}: Pick<StepOf<"filter">, "source" | "states">): Pick<RowRange, "setId" | "states"> {
  return { setId: source, states };
}
