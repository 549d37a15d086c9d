import type { BackfillId, Id, ProjectId, StandingProgramId, StandingRunId } from "@svc/core";
import type {
  PollOutcome,
  StandingPauseReason,
  StandingRunKind,
  StandingRunReason,
  StandingRunState,
} from "@svc/db/schema/words";

/** Data about a decision on one run, for a log line. It contains no content of the project, such as inputs or payloads. */
export type DecidedRun = {
  readonly runId: StandingRunId;
  readonly programId: StandingProgramId;
  readonly projectId: ProjectId;
  readonly version: number;
  readonly kind: StandingRunKind;
  readonly state: StandingRunState;
  readonly reason: StandingRunReason;
  readonly count: number;
  readonly jobId: Id<"job"> | undefined;
  /** The backfill that made the run. Undefined if no backfill made it. */
  readonly backfillId: BackfillId | undefined;
  /** Time between the time at which the schedule was due and the time at which svc decided about the run, in milliseconds. */
  readonly lagMs: number;
};

/** Result of one poll (the regular call of a tool that finds new rows for a schedule), after it is committed. */
export type EndedPoll = {
  readonly programId: StandingProgramId;
  readonly projectId: ProjectId;
  readonly version: number;
  readonly outcome: PollOutcome;
  /** Reason of a failed poll (a regular call that finds new rows for a schedule). Empty if the poll succeeded. */
  readonly code: string;
  readonly pages: number;
  readonly rows: number;
  readonly found: number;
  /** Number of polls in a row that have failed. */
  readonly failuresInRow: number;
  readonly durationMs: number;
};

/** Observer of the engine of standing programs (schedules); packages/server makes log lines and metrics from it. */
export type StandingObserver = {
  /** Called after commit when a run was started, queued, skipped or refused. */
  decided(run: DecidedRun): void;
  /** Called after commit when a poll has ended. */
  polled(poll: EndedPoll): void;
  /** Called when svc has paused a program. */
  paused(programId: StandingProgramId, reason: StandingPauseReason): void;
  /** Called if schedules or backfills had no task for their next time and got a new one. `count`: how many. A lost task is a bug of svc. */
  rearmed(count: number): void;
  /** Called if an operation failed. svc will retry it. */
  failed(what: "claim" | "decide" | "poll" | "cancel", error: unknown): void;
};

/** An observer that does nothing. It is used if the creator of the engine gives no observer. */
export const silentStandingObserver: StandingObserver = {
  decided: () => {},
  polled: () => {},
  paused: () => {},
  rearmed: () => {},
  failed: () => {},
};
