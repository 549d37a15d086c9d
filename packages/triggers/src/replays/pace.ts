/** Length of a turn, in milliseconds. In a turn, a node keeps the claimed task of a replay and advances the replay in several steps. */
export const turnMs = 1_000;
