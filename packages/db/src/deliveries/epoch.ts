/** SQL for the epoch of delivery tasks that do not wait for a retry. An epoch is a number that selects a part of the delivery queue. */
export const currentEpoch = "(select s.epoch from delivery_epoch s where s.id = 1)";

/**
 * SQL for the epoch of the tasks that throttled replays make. An epoch is a number that selects a part of the delivery queue. svc sends
 * these tasks only while the subscription has no other due tasks.
 */
export const lowPriorityEpoch = "(select -s.epoch from delivery_epoch s where s.id = 1)";

/**
 * SQL array of all epochs in use, for `= any(…)`. An epoch is a number that selects a part of the delivery queue: waiting tasks, current
 * tasks or low-priority tasks.
 */
export const liveEpochs = `(array[0, ${currentEpoch}, ${lowPriorityEpoch}])`;

/**
 * SQL array of the two epochs (delivery queue parts) from which nodes take tasks: current tasks and low-priority tasks. Tasks that wait for
 * a retry are in another epoch.
 */
export const readyEpochs = `(array[${currentEpoch}, ${lowPriorityEpoch}])`;

/**
 * SQL for the due time that a claimed task gets if its subscription has a pace (limit on deliveries). The time is 1970, so that the task
 * comes first in the queue. The row of the delivery keeps the real due time.
 */
export const pacedFront = "to_timestamp(0)";

/**
 * Returns the SQL for a task's epoch: low priority if the condition `isBehind` is true, otherwise current. An epoch is a number that
 * selects a part of the delivery queue.
 */
export function epochOf(isBehind: string): string {
  return `(case when ${isBehind} then ${lowPriorityEpoch} else ${currentEpoch} end)`;
}
