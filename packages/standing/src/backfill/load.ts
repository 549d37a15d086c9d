/** As many runs of a program wait at most, for its backfill to make others: what it comes to waits in the past, and not in a queue. */
export const waitingMax = 20;
