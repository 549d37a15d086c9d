import { batches, type Sweep } from "@svc/core";
import { sweepActivity } from "@svc/db/activity/write";
import type { Executor } from "@svc/db/connect";

/** What the sweep of counters is made of. `eventRetentionMs`: how long those of hours are kept, milliseconds. */
export type ActivitySweepOptions = { readonly db: Executor; readonly eventRetentionMs: number };

/** How long counters of minutes are kept, milliseconds. */
const minutesKeptMs = 48 * 3_600_000;
const batchMax = 2_000;

/** Every hour, counters that are past their time. */
export function activitySweep({ db, eventRetentionMs }: ActivitySweepOptions): Sweep {
  return {
    what: "activity",
    everyMs: 3_600_000,
    async *round(nowMs) {
      yield* batches(batchMax, () => sweepActivity(db, "minutes", nowMs - minutesKeptMs, batchMax));
      yield* batches(batchMax, () => sweepActivity(db, "hours", nowMs - eventRetentionMs, batchMax));
    },
  };
}
