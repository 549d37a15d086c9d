import { batches, type Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { armLostReplays, expirePausedReplays, sweepReplays } from "@svc/db/replays/sweep";

/** Settings of the sweep, times in milliseconds. */
export type ReplaySweepOptions = {
  readonly db: Executor;
  /** How long a replay is kept after its end: as long as events (SVC_EVENT_RETENTION). */
  readonly eventRetentionMs: number;
};

const everyMs = 60_000;
const batchMax = 1_000;
/** Longest pause of a replay, in milliseconds. Events past their retention are kept for it. */
const pausedMaxMs = 30 * 86_400_000;

/**
 * Returns the sweep that runs every minute. It deletes replays that ended long ago, cancels those paused for too long, and creates a
 * missing task.
 */
export function replaySweep({ db, eventRetentionMs }: ReplaySweepOptions): Sweep {
  return {
    what: "replays",
    everyMs,
    async *round(nowMs) {
      yield* batches(batchMax, () => armLostReplays(db, nowMs, batchMax));
      const bounds = { beforeMs: nowMs - pausedMaxMs, nowMs, limit: batchMax };
      yield* batches(batchMax, () => expirePausedReplays(db, bounds));
      yield* batches(batchMax, () => sweepReplays(db, nowMs - eventRetentionMs, batchMax));
    },
  };
}
