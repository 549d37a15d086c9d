import { batches, type Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { armLostReplays, expirePausedReplays, sweepReplays } from "@svc/db/replays/sweep";

/** What the sweep is made of; times in milliseconds. */
export type ReplaySweepOptions = {
  readonly db: Executor;
  /** How long a replay stays after its end: as long as events do (SVC_EVENT_RETENTION). */
  readonly eventRetentionMs: number;
};

const everyMs = 60_000;
const batchMax = 1_000;
/** A replay may be paused for so long: events past their retention are kept for it. */
const pausedMaxMs = 30 * 86_400_000;

/** Every minute: replays that ended long ago go, those paused for too long are cancelled, and one whose task is missing gets another. */
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
