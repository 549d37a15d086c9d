import type { ProjectId, ReplayId } from "@svc/core";
import type { ReplayReason, ReplayState } from "@svc/db/schema/words";

/** A step of a replay, as it was committed; everything that one log line tells of it. */
export type ReplayStep = {
  readonly replayId: ReplayId;
  readonly projectId: ProjectId;
  readonly state: ReplayState;
  /** Why nothing more was queued; empty where nothing hindered it. */
  readonly reason: ReplayReason;
  /** Deliveries queued by this step. */
  readonly count: number;
  /** Deliveries queued so far. */
  readonly queued: number;
};

/** Who watches paced replays; packages/server turns it into log lines and metrics. */
export type ReplayObserver = {
  /** A step queued something, waits or came to the end. */
  stepped(step: ReplayStep): void;
  /** A step failed and is tried again. */
  failed(error: unknown): void;
};
