/** Start options of a peer with schedules. */
export type CronSetup = { readonly databaseUrl: string; readonly count: number };

/** Commands of a peer with schedules. */
export type CronCommands = {
  /**
   * Creates the given number of schedules that are due in the same minute. Resolves with the start of that minute in epoch milliseconds.
   */
  readonly start: (setup: CronSetup) => Promise<number>;
  /** Number of schedules whose job is in the store. */
  readonly queued: (argument: null) => Promise<number>;
};

/** Returns the first full minute, in epoch milliseconds, that begins at least this much later. */
export function minuteAfter(ms: number): number {
  return Math.ceil((performance.timeOrigin + performance.now() + ms) / 60_000) * 60_000;
}

/** Returns the cron expression of one minute of a day, in UTC. */
export function cronOf(atMs: number): string {
  const at = new Date(atMs);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}
