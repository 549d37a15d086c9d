/**
 * SQL for the current epoch of delivery_tasks. An epoch is the part of the queue that a number in the tasks' key selects. The current epoch
 * has the tasks that do not wait for a retry. The SQL reads one row by its key, once per statement.
 */
export const currentEpoch = "(select s.epoch from delivery_epoch s where s.id = 1)";

/**
 * SQL for the epoch of low-priority tasks. An epoch is the part of the queue that a number in the tasks' key selects. Throttled replays
 * queue these tasks. They are sent when the other queue of their subscription is empty.
 */
export const lowPriorityEpoch = "(select -s.epoch from delivery_epoch s where s.id = 1)";

/**
 * SQL array of all epochs in use, for `= any(…)`. An epoch is a number that selects a part of the delivery queue: waiting tasks, current
 * tasks or low-priority tasks.
 */
export const liveEpochs = `(array[0, ${currentEpoch}, ${lowPriorityEpoch}])`;

/** SQL for the epochs whose tasks can have a lease, for `= any(…)`: current tasks and low-priority tasks. */
export const readyEpochs = `(array[${currentEpoch}, ${lowPriorityEpoch}])`;

/**
 * SQL for the due time of claimed tasks of subscriptions with a pace. It is the front of every queue, so that these tasks are counted
 * without a look at the others. The row of the delivery keeps the time at which it was due.
 */
export const pacedFront = "to_timestamp(0)";

/**
 * Returns the SQL for the epoch of delivery tasks (the part of the table's key that separates kinds of tasks). If the SQL condition
 * `isBehind` is true, it is the epoch of low-priority tasks. Otherwise it is the current epoch.
 */
export function epochOf(isBehind: string): string {
  return `(case when ${isBehind} then ${lowPriorityEpoch} else ${currentEpoch} end)`;
}
