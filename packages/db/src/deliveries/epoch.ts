/** The epoch of delivery_tasks in which tasks stand that do not wait, for a statement: one row by its key, read once. */
export const currentEpoch = "(select s.epoch from delivery_epoch s where s.id = 1)";

/** Both epochs in which tasks stand: that of the waiting ones and the present one. For `= any(…)`. */
export const liveEpochs = `(array[0, ${currentEpoch}])`;
