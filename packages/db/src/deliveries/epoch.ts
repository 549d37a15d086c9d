/** The epoch of delivery_tasks in which tasks stand that do not wait, for a statement: one row by its key, read once. */
export const currentEpoch = "(select s.epoch from delivery_epoch s where s.id = 1)";

/** The epoch of what a paced replay queued: a lane behind that of each subscription, served where the one before it has nothing to do. */
export const lowPriorityEpoch = "(select -s.epoch from delivery_epoch s where s.id = 1)";

/** All epochs in which tasks stand: that of the waiting ones, the present one and the one behind it. For `= any(…)`. */
export const liveEpochs = `(array[0, ${currentEpoch}, ${lowPriorityEpoch}])`;

/** The epoch of a lane: the present one, or the one behind it where `isBehind`, a truth value of the statement, holds. */
export function epochOf(isBehind: string): string {
  return `(case when ${isBehind} then ${lowPriorityEpoch} else ${currentEpoch} end)`;
}
