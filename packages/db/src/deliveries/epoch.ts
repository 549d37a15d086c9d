/** SQL for the current epoch of delivery_tasks, which has the tasks that do not wait for a retry: one row by its key, read once. */
export const currentEpoch = "(select s.epoch from delivery_epoch s where s.id = 1)";

/** SQL for the epoch of low-priority tasks, queued by throttled replays: sent if a subscription's other queue is empty. */
export const lowPriorityEpoch = "(select -s.epoch from delivery_epoch s where s.id = 1)";

/** SQL for all epochs with tasks: waiting, current and low priority. For `= any(…)`. */
export const liveEpochs = `(array[0, ${currentEpoch}, ${lowPriorityEpoch}])`;

/** Returns the SQL for the epoch of a queue: low priority if the SQL condition `isBehind` is true, otherwise the current one. */
export function epochOf(isBehind: string): string {
  return `(case when ${isBehind} then ${lowPriorityEpoch} else ${currentEpoch} end)`;
}
