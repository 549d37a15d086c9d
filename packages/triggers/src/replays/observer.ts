import type { ProjectId, ReplayId } from "@svc/core";
import type { ReplayReason, ReplayState } from "@svc/db/schema/words";

/** A committed step of a replay, with everything that its log line contains. */
export type ReplayStep = {
  readonly replayId: ReplayId;
  readonly projectId: ProjectId;
  readonly state: ReplayState;
  /** The reason why nothing more was queued. Empty if there was none. */
  readonly reason: ReplayReason;
  /** Deliveries queued by this step. */
  readonly count: number;
  /** Deliveries queued so far. */
  readonly queued: number;
};

/** Receiver of observations of throttled replays. packages/server turns them into log lines and metrics. */
export type ReplayObserver = {
  /** Called after a step that queued deliveries, waits, or ended the replay. */
  stepped(step: ReplayStep): void;
  /** Called after a step that failed. It is tried again. */
  failed(error: unknown): void;
};
