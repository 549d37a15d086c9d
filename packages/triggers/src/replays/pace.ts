/** A claim of a replay's task lasts for so long. */
export const turnMs = 1_000;
