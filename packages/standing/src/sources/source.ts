import type { ProjectId, StandingProgramId, Work } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { DueTaskKind } from "@svc/db/schema/words";
import type { ClaimedDueTask } from "@svc/db/standing/claim";
import type { ClaimedInboxEvent } from "@svc/db/standing/inbox";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { StandingContext } from "../context.ts";
import type { DecisionContext, ProgramHold } from "../decide/decision-context.ts";
import { type ClosingWindow, type DueCandidate, isWanted, type Occurrence } from "../decide/occurrence.ts";
import type { FinishedPoll } from "../poll/store.ts";
import type { DriftHold } from "../prepare/drift.ts";

/** Tasks and events that this node has claimed, calls, and polls, which one transaction decides. */
export type DecisionBatch = {
  readonly tasks: readonly ClaimedDueTask[];
  readonly arrivals: readonly ClaimedInboxEvent[];
  /** True if earlier attempts to decide the batch failed too often. Its runs are then refused. Default false. */
  readonly isRefused?: boolean;
  /** Maximum waiting runs that the batch starts. Undefined means no maximum. It is 1 after a start failed. */
  readonly startsMax?: number;
  /** Error texts of runs that could not be started, by the source keys of their occurrences; all of one program. */
  readonly unstarted?: ReadonlyMap<string, string>;
  readonly calls: readonly { readonly programId: StandingProgramId; readonly occurrence: Occurrence }[];
  readonly polls: readonly FinishedPoll[];
  /**
   * True if no other node may start runs of these projects at the same time, because a project is near its maximum of runs. Default false.
   */
  readonly isAlone?: boolean;
  /** By project: how long its new jobs wait before they begin, in milliseconds, because more programs of the project are due. Default 0. */
  readonly delayMs?: ReadonlyMap<ProjectId, number> | undefined;
};

/** State that the sources of one batch share while they prepare. */
export type Preparation = {
  /** Returns the metered work of a project. */
  readonly workOf: (projectId: ProjectId) => Work;
  /** Programs that cannot start because their tools have changed; sources add to it. */
  readonly drifts: Map<StandingProgramId, DriftHold>;
};

/**
 * A kind of source that starts programs: schedule, trigger, poll or backfill. Finds what is due of a batch before programs are locked, so
 * that slow searches and expressions do not delay other transactions.
 */
export type Source = (
  context: StandingContext,
  batch: DecisionBatch,
  preparation: Preparation,
) => Promise<PreparedSource>;

/** The result of a source's preparation. */
type PreparedSource = {
  /** Programs to lock in addition to those of the batch's tasks and calls. */
  readonly programIds?: readonly StandingProgramId[];
  /** Events that are too large for this batch: they are released. */
  readonly left?: readonly ClaimedInboxEvent[];
  /** Returns what is still due, by program. The programs are locked. Throws StaleBatchError if one was changed since. */
  due(tx: Executor, locked: LockedPrograms): Promise<ReadonlyMap<StandingProgramId, SourceDue>>;
  /** Ends what the source claimed, after the batch was decided. */
  end?(tx: Executor): Promise<void>;
};

/** The locked programs of a batch, and the tasks that this node still holds. */
type LockedPrograms = {
  readonly programs: readonly StandingProgramRecord[];
  isHeld(kind: DueTaskKind, programId: StandingProgramId): boolean;
};

/** Occurrences of a locked program that one source has due. */
export type SourceDue = {
  /** Occurrences that the program's policies decide. */
  readonly candidates: readonly DueCandidate[];
  /** True if a run may result. Then a program that must not start is also paused. */
  readonly isDue: boolean;
  /** Decides everything that is due. `hold`: why no run of the program may start. */
  decide(decisions: DecisionContext, hold: ProgramHold | undefined): SourceOutcome | undefined;
};

/** Changes that follow from what a source decided. */
export type SourceOutcome = {
  /** Kind of the source's task, and when the task is due next. Null if it is never due again. */
  readonly task: "fire" | "poll" | "backfill";
  readonly dueAt: number | null;
  /** Writes rows that new runs refer to. Called before the runs are stored. */
  beforeRuns?(tx: Executor): Promise<void>;
  /** Writes the source's own state. Called after the runs are stored. */
  afterRuns?(tx: Executor): Promise<void>;
};

/** The results that were found before programs were locked. */
export type PreparedDecision = {
  readonly sources: readonly PreparedSource[];
  /** By program: why nothing of it can start, because its tools have changed. */
  readonly drifts: ReadonlyMap<StandingProgramId, DriftHold>;
  /** Windows of `collect` whose time has expired. */
  readonly windows: readonly ClosingWindow[];
};

/** The preparation of a source that has nothing due. */
export const nothingPrepared: PreparedSource = { due: async () => new Map() };

/** Returns candidates as due, with what decides them. */
export function dueCandidates(candidates: readonly DueCandidate[], decide: SourceDue["decide"]): SourceDue {
  return { candidates, isDue: candidates.some(isWanted), decide };
}

/** True if runs of a program may start. A program without further occurrences may still start waiting runs and runs of a backfill. */
export function isRunnable({ state, deletedAt }: Pick<StandingProgramRecord, "state" | "deletedAt">): boolean {
  return (state === "active" || state === "ended") && deletedAt === null;
}
