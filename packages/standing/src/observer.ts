import type { BackfillId, Id, ProjectId, StandingProgramId, StandingRunId } from "@svc/core";
import type {
  PollOutcome,
  StandingPauseReason,
  StandingRunKind,
  StandingRunReason,
  StandingRunState,
} from "@svc/db/schema/words";

/** A decision about an occurrence with everything that a log line needs. It has no data of the project. */
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
  /** The backfill that made the run. */
  readonly backfillId: BackfillId | undefined;
  /** Time between the due time and the decision, in milliseconds. */
  readonly lagMs: number;
};

/** Result of a committed poll. */
export type EndedPoll = {
  readonly programId: StandingProgramId;
  readonly projectId: ProjectId;
  readonly version: number;
  readonly outcome: PollOutcome;
  /** Reason of a failure; otherwise empty. */
  readonly code: string;
  readonly pages: number;
  readonly rows: number;
  readonly found: number;
  /** Failed polls in a row. */
  readonly failuresInRow: number;
  readonly durationMs: number;
};

/** Observer of the engine of standing programs; packages/server makes log lines and metrics from it. */
export type StandingObserver = {
  /** A run was started, queued, skipped or refused, and this is committed. */
  decided(run: DecidedRun): void;
  /** A poll has ended, and its result is committed. */
  polled(poll: EndedPoll): void;
  /** svc paused a program. */
  paused(programId: StandingProgramId, reason: StandingPauseReason): void;
  /** Called if schedules had lost their task and got a new one. This means that svc has a bug. */
  rearmed(count: number): void;
  /** An operation failed and will be retried. */
  failed(what: "claim" | "decide" | "poll" | "cancel", error: unknown): void;
};

/** An observer that ignores everything. */
export const silentStandingObserver: StandingObserver = {
  decided: () => {},
  polled: () => {},
  paused: () => {},
  rearmed: () => {},
  failed: () => {},
};
