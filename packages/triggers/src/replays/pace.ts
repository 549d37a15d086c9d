/** A step a second. */
export const stepMs = 1_000;
