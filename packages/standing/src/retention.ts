import { batches, type Sweep } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { cancelBackfill, findRunningBackfill, listStillBackfills, sweepBackfills } from "@svc/db/standing/backfills";
import { sweepStandingRates } from "@svc/db/standing/bounds";
import { sweepKnownIds } from "@svc/db/standing/polls";
import { lockStandingPrograms } from "@svc/db/standing/programs";
import { sweepStandingPrograms, sweepStandingRuns } from "@svc/db/standing/sweep";
import { sweepTriggerSubscriptions } from "@svc/db/standing/trigger-subscriptions";
import { sweepKnownKeys } from "@svc/db/standing/windows";

/**
 * Dependencies and retention time of the sweep (regular task) that deletes old data of standing programs (schedules). Times are in
 * milliseconds.
 */
export type StandingSweepOptions = {
  readonly db: Database;
  /** Milliseconds for which svc keeps a run after its end (SVC_STANDING_RUN_RETENTION). */
  readonly runRetentionMs: number;
};

/**
 * Milliseconds for which a dedupe key (which recognizes repeated events) is kept after it has expired. svc may decide late about an event
 * that arrived while the key was valid, and must then still find the key.
 */
const seenGraceMs = 86_400_000;
/**
 * Milliseconds for which a program may stay paused before its backfill is cancelled. During this time, svc keeps expired events for the
 * backfill.
 */
const stillMaxMs = 30 * 86_400_000;
const everyMs = 600_000;
const batchMax = 1_000;

/**
 * Returns the sweep (regular deletion) of old data of standing programs, every 10 minutes. It also cancels backfills whose programs were
 * paused for too long.
 */
export function standingSweep({ db, runRetentionMs }: StandingSweepOptions): Sweep {
  return {
    what: "standing runs",
    everyMs,
    async *round(nowMs) {
      yield* batches(batchMax, () => sweepStandingRuns(db, nowMs - runRetentionMs, batchMax));
      yield* batches(batchMax, () => expireBackfills(db, nowMs));
      yield* batches(batchMax, () => sweepBackfills(db, nowMs - runRetentionMs, batchMax));
      yield* batches(batchMax, () => sweepStandingRates(db, nowMs, batchMax));
      yield* batches(batchMax, () => sweepKnownKeys(db, nowMs - seenGraceMs, batchMax));
      yield* batches(batchMax, () => sweepTriggerSubscriptions(db, nowMs - runRetentionMs, batchMax));
      yield* batches(batchMax, () => sweepKnownIds(db, batchMax));
      yield* batches(batchMax, () => sweepStandingPrograms(db, nowMs - runRetentionMs, batchMax));
    },
  };
}

/** Cancels one batch of backfills whose schedules are paused for too long. Returns the number of backfills in the batch. */
async function expireBackfills(db: Database, nowMs: number): Promise<number> {
  const still = await listStillBackfills(db, nowMs - stillMaxMs, batchMax);
  for (const { id, programId } of still) {
    await withTransaction(db, async (tx) => {
      await lockStandingPrograms(tx, [programId]);
      const running = await findRunningBackfill(tx, programId);
      if (running?.id === id) await cancelBackfill(tx, running, { reason: "expired", nowMs });
    });
  }
  return still.length;
}
