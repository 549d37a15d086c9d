import type { BackfillId, Id, ProjectId, StandingProgramId, StandingRunId } from "@svc/core";
import type {
  PollOutcome,
  StandingPauseReason,
  StandingRunKind,
  StandingRunReason,
  StandingRunState,
} from "@svc/db/schema/words";

/** What was decided about an occurrence; everything that one log line tells of it, and nothing that is data. */
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
  /** The backfill that made it. */
  readonly backfillId: BackfillId | undefined;
  /** How long after it was due, milliseconds. */
  readonly lagMs: number;
};

/** What a poll came to; committed. */
export type EndedPoll = {
  readonly programId: StandingProgramId;
  readonly projectId: ProjectId;
  readonly version: number;
  readonly outcome: PollOutcome;
  /** Of one that failed: why. */
  readonly code: string;
  readonly pages: number;
  readonly rows: number;
  readonly found: number;
  /** Failed polls in a row. */
  readonly failuresInRow: number;
  readonly durationMs: number;
};

/** Who watches the engine of standing programs; packages/server turns it into log lines and metrics. */
export type StandingObserver = {
  /** A run was started, put off or left out; committed. */
  decided(run: DecidedRun): void;
  /** A poll has ended, and what it came to is committed. */
  polled(poll: EndedPoll): void;
  /** A program paused by itself. */
  paused(programId: StandingProgramId, reason: StandingPauseReason): void;
  /** Schedules that no task stood for were armed again: a fault of the service. */
  rearmed(count: number): void;
  /** Something failed that is tried again. */
  failed(what: "claim" | "decide" | "poll" | "cancel", error: unknown): void;
};

/** Watches nothing. */
export const silentStandingObserver: StandingObserver = {
  decided: () => {},
  polled: () => {},
  paused: () => {},
  rearmed: () => {},
  failed: () => {},
};
