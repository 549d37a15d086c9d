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

/**
 * The input of the decisions in one transaction: tasks and events that this node has taken from the database, API calls that start runs,
 * and finished polls.
 */
export type DecisionBatch = {
  readonly tasks: readonly ClaimedDueTask[];
  readonly arrivals: readonly ClaimedInboxEvent[];
  /**
   * True if earlier attempts to decide about this batch of due schedules failed too often. The runs that would start are then refused.
   * Default false.
   */
  readonly isRefused?: boolean;
  /**
   * Maximum number of waiting runs that are started with this batch of due schedules. Undefined means no maximum. After a start failed, it
   * is 1, so that svc finds the run that cannot be started.
   */
  readonly startsMax?: number;
  /**
   * Error texts of runs that could not be started. The key is the run's source key (name of its cause). All these runs belong to one
   * program.
   */
  readonly unstarted?: ReadonlyMap<string, string>;
  readonly calls: readonly { readonly programId: StandingProgramId; readonly occurrence: Occurrence }[];
  readonly polls: readonly FinishedPoll[];
  /**
   * True if no other node may start runs of the same projects during this batch. It is needed if one of the projects has nearly reached its
   * maximum number of runs. Default false.
   */
  readonly isAlone?: boolean;
  /**
   * Delay in milliseconds before new jobs begin, by project. Jobs of a project are delayed while many of its standing programs (programs
   * that start jobs on a schedule or event) wait to be started. Default 0.
   */
  readonly delayMs?: ReadonlyMap<ProjectId, number> | undefined;
};

/**
 * State that is shared while svc prepares one batch of due schedules. The sources of due work (times, events, polls, backfills) all use it.
 */
export type Preparation = {
  /** Returns the meter that limits the processor time of a project's work. */
  readonly workOf: (projectId: ProjectId) => Work;
  /**
   * Programs that cannot start because their tools have changed. Each source of runs (schedule, trigger, poll or backfill) adds the
   * programs that it finds.
   */
  readonly drifts: Map<StandingProgramId, DriftHold>;
};

/**
 * Function that prepares one kind of source: schedule, trigger, poll or backfill. It finds what is due before programs are locked, because
 * slow searches and expressions would otherwise delay other transactions.
 */
export type Source = (
  context: StandingContext,
  batch: DecisionBatch,
  preparation: Preparation,
) => Promise<PreparedSource>;

/** Due times or events of one kind of source (schedule, trigger, poll or backfill), prepared before the schedules are locked. */
type PreparedSource = {
  /** Further programs that svc must lock before it decides which runs start. */
  readonly programIds?: readonly StandingProgramId[];
  /**
   * Events that did not fit into this batch of due work. Their leases (this node's time-limited rights) are released, so that a later batch
   * decides about them.
   */
  readonly left?: readonly ClaimedInboxEvent[];
  /**
   * Returns by program the times, events or rows for which runs may start. The caller has locked the programs. Throws StaleBatchError if a
   * program has changed since this batch was prepared.
   */
  due(tx: Executor, locked: LockedPrograms): Promise<ReadonlyMap<StandingProgramId, SourceDue>>;
  /**
   * Marks the work of this source as done, for example removes its events from the inbox. Called after svc has decided which runs start, in
   * the same transaction.
   */
  end?(tx: Executor): Promise<void>;
};

/**
 * The locked programs of a batch of due schedules. `isHeld`: returns true if this node still has the lease (time-limited right) of the
 * schedule's task.
 */
type LockedPrograms = {
  readonly programs: readonly StandingProgramRecord[];
  isHeld(kind: DueTaskKind, programId: StandingProgramId): boolean;
};

/** The times, events or rows for which one program is due, from one kind of source such as polls. */
export type SourceDue = {
  /** Due times, events or rows for which the program's rules (such as overlap policy and rate) must decide if a run starts. */
  readonly candidates: readonly DueCandidate[];
  /** True if at least one of the candidates may start a run. */
  readonly isDue: boolean;
  /**
   * Decides which due times, events or rows of this source start a run. Returns the changes to store. `hold`: reason why no run of the
   * schedule may start; undefined if runs may start.
   */
  decide(decisions: DecisionContext, hold: ProgramHold | undefined): SourceOutcome | undefined;
};

/** Changes to store after svc has decided which runs start. They belong to one cause of runs: times, events, polls or a backfill. */
export type SourceOutcome = {
  /**
   * Kind of the task by which svc checks for due work of a schedule: `fire` for times and events, `poll` for new rows of a list, `backfill`
   * for past times. `dueAt`: when this task is due next, in epoch milliseconds; null if it is never due again.
   */
  readonly task: "fire" | "poll" | "backfill";
  readonly dueAt: number | null;
  /** Stores rows to which new runs refer. Called before the runs are stored. */
  beforeRuns?(tx: Executor): Promise<void>;
  /** Stores the state of the source of due work (a schedule, trigger, poll or backfill). Called after the runs are stored. */
  afterRuns?(tx: Executor): Promise<void>;
};

/** Data that svc reads before it locks the programs and decides which runs start. */
export type PreparedDecision = {
  readonly sources: readonly PreparedSource[];
  /** Programs that cannot start because their tools have changed, with the reason. */
  readonly drifts: ReadonlyMap<StandingProgramId, DriftHold>;
  /** Windows (times in which events are collected for one run) whose time has expired. */
  readonly windows: readonly ClosingWindow[];
};

/** Result for a source (such as schedules, events or polls) for which nothing is due. */
export const nothingPrepared: PreparedSource = { due: async () => new Map() };

/**
 * Returns the due occurrences (times or events) of a source of runs, which is a schedule, events, or a poll. `decide`: the function that
 * decides which runs start for them.
 */
export function dueCandidates(candidates: readonly DueCandidate[], decide: SourceDue["decide"]): SourceDue {
  return { candidates, isDue: candidates.some(isWanted), decide };
}

/**
 * True if runs of a program may start. A program in state `ended` may start its waiting runs and runs of a backfill. False if it is paused,
 * pending or deleted.
 */
export function isRunnable({ state, deletedAt }: Pick<StandingProgramRecord, "state" | "deletedAt">): boolean {
  return (state === "active" || state === "ended") && deletedAt === null;
}
