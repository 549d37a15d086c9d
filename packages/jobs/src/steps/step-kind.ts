import type { RowCounts } from "@svc/db/documents/calls";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { AskKind } from "@svc/db/schema/words";
import type { Step, StepOf } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { AgainInstruction, SetSize, StepInstruction } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import type { ProgressOf, StepProgress } from "../state/progress.ts";
import type { CallTurn, Invocation, RowRange, StepEffects } from "./effects.ts";

/** A step at hand: the job, where the step stands in it, and how far it is; `progress` is undefined while it has not begun. */
export type StepAt<Kind extends Step["kind"] = Step["kind"]> = {
  readonly state: JobState;
  readonly step: StepOf<Kind>;
  readonly instruction: StepInstruction;
  readonly progress: ProgressOf<Kind> | undefined;
};

/** A step that is one call: of a tool, or a request of the program's own. */
export type CallAt = StepAt<"call"> | StepAt<"http">;

/** A settled question. `chain`: who caused what follows from it. */
export type SettledQuestion = {
  readonly kind: AskKind;
  readonly stepId: string;
  /** As it is shown. */
  readonly decision: DecisionDocument;
  /** The overrides as they were answered; empty for none. */
  readonly overridesJson: string;
  readonly chain: readonly string[];
};

/** Commits a part of an act while the rest goes on, one after another; answers the job as it is then. */
export type PartialCommit = (edits: readonly Edit[]) => Promise<JobState>;

/**
 * One kind of step, as the driver runs it. A step is a value: given the job and the effects, an act answers what it changes. Whoever
 * makes calls begins by an act that only begins: it is committed before the first call.
 */
export type StepKind<Kind extends Step["kind"]> = {
  /**
   * What must be committed before an act: what was put into sets (`rows`), for those who read them; everything, and that the step
   * has begun, for those who call (`commit`): the driver begins such a step.
   */
  readonly needs: "nothing" | "rows" | "commit";
  /** Which of its rows' counts is the size of the set that the step makes; undefined where it makes none. */
  readonly set: SetSize;
  /** The counts that the step's receipt begins with, where the driver begins it; undefined for none. */
  readonly beginsWith?: RowCounts;
  /**
   * The call that the next act makes first, where that is certain: the driver begins it with the commit before the act. Undefined for a
   * kind that leaves it to the act.
   */
  readonly firstCall?: (
    at: StepAt<Kind>,
    effects: Pick<StepEffects, "compute">,
  ) => Promise<FirstCall | undefined> | FirstCall | undefined;
  /** Moves the step on by one act. Its edits begin the step where it has not begun. */
  advance(at: StepAt<Kind>, effects: StepEffects, keep: PartialCommit): Promise<Change> | Change;
  /** Of a kind whose steps are done again: what follows at the end of a round. `progress` of the step is undefined there. */
  readonly again?: (at: StepAt<Kind>, round: AgainInstruction, effects: StepEffects) => Promise<Change>;
  /**
   * How another attempt at the job goes on with a step that failed, or was cut short: what its progress is then. Undefined begins it
   * anew: its set, value and calls are made again. So whoever sends writes goes on, and never sends again what is done or in doubt.
   */
  readonly retried: ((at: RetriedAt<Kind>, retry: JobRetry) => StepProgress | undefined) | "anew";
  /** What an answer to a question of the step changes; abort is not among the answers. Undefined for a kind that asks none. */
  readonly answer:
    | ((at: StepAt<Kind>, settled: SettledQuestion, effects: Pick<StepEffects, "compute">) => Change | Promise<Change>)
    | undefined;
};

/** A step where an attempt at its job ended. */
export type RetriedAt<Kind extends Step["kind"] = Step["kind"]> = StepAt<Kind> & {
  readonly progress: ProgressOf<Kind>;
};

/** How a job is to be taken on. `generation`: that of the attempt that ended. */
export type JobRetry = { readonly generation: number; readonly resendsUnknown: boolean };

/** A call that is certain to be made. */
export type FirstCall = { readonly invocation: Invocation; readonly turn: CallTurn };

/** The set that a step reads, and which of its rows. */
export function sourceOf({
  source,
  states,
}: Pick<StepOf<"filter">, "source" | "states">): Pick<RowRange, "setId" | "states"> {
  return { setId: source, states };
}
