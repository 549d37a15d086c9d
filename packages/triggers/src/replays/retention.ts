import { batches, type Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { expirePauses } from "@svc/db/replays/pause";
import { armLostReplays, expirePausedReplays, sweepReplays } from "@svc/db/replays/sweep";

/** Settings of the sweep (regular task) that deletes ended replays (repeated deliveries of past events). Times are in milliseconds. */
export type ReplaySweepOptions = {
  readonly db: Executor;
  /** How long a replay is kept after its end. It equals the retention of events (SVC_EVENT_RETENTION). */
  readonly eventRetentionMs: number;
};

const everyMs = 60_000;
const batchMax = 1_000;
/**
 * Maximum time for which a replay or a subscription may be paused, in milliseconds. There is a maximum because the events of a paused replay
 * are kept beyond their retention.
 */
const pausedMaxMs = 30 * 86_400_000;

/**
 * Returns a sweep (regular task) that runs every minute. It deletes replays (repeated deliveries of past events) that ended long ago, and
 * creates missing tasks of replays. It cancels replays and deactivates subscriptions that were paused for too long.
 */
export function replaySweep({ db, eventRetentionMs }: ReplaySweepOptions): Sweep {
  return {
    what: "replays",
    everyMs,
    async *round(nowMs) {
      yield* batches(batchMax, () => armLostReplays(db, nowMs, batchMax));
      const bounds = { beforeMs: nowMs - pausedMaxMs, nowMs, limit: batchMax };
      yield* batches(batchMax, () => expirePausedReplays(db, bounds));
      yield* batches(batchMax, () => expirePauses(db, bounds));
      yield* batches(batchMax, () => sweepReplays(db, nowMs - eventRetentionMs, batchMax));
    },
  };
}
