import type { ProjectId, ReplayId } from "@svc/core";
import type { ReplayReason, ReplayState } from "@svc/db/schema/words";

/** A committed step of a replay, with everything that its log line contains. */
export type ReplayStep = {
  readonly replayId: ReplayId;
  readonly projectId: ProjectId;
  readonly state: ReplayState;
  /** Reason why the replay waits or has ended. Empty while the replay queues deliveries. */
  readonly reason: ReplayReason;
  /** Number of deliveries that this step queued. */
  readonly count: number;
  /** Number of deliveries that the replay has queued so far, in all its steps. */
  readonly queued: number;
};

/**
 * Receives observations of throttled replays (repeated deliveries that are spread over time). packages/server turns them into log lines and
 * metrics.
 */
export type ReplayObserver = {
  /** Called after a step in which the replay queued deliveries, began to wait, or ended. */
  stepped(step: ReplayStep): void;
  /** Called after a step of a throttled replay has failed. The engine tries the step again. */
  failed(error: unknown): void;
};
