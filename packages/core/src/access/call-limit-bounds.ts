/** The most that a call limit may say: PutCallLimit holds limits to it, and so does whoever reads one before it is sent. */
export const callLimitBounds = {
  /** Calls under way at once. */
  concurrencyMax: 10_000,
  /** Calls within the time of a rate. */
  rateMax: 100_000,
} as const;
