/**
 * Time in milliseconds for which a node keeps the task of a replay (repeated deliveries of past events) before it returns the task. In this
 * time (a turn), the node advances the replay in several steps.
 */
export const turnMs = 1_000;
