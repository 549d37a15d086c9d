/** Duration of a claim of a replay's task, in milliseconds. */
export const turnMs = 1_000;
