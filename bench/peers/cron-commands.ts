/** What a peer that schedules is started with. */
export type CronSetup = { readonly databaseUrl: string; readonly count: number };

/** The commands of a peer that schedules. */
export type CronCommands = {
  /** Makes as many schedules that are due in the same minute; resolves with when that begins, epoch milliseconds. */
  readonly start: (setup: CronSetup) => Promise<number>;
  /** Those of them whose job was in the store so far. */
  readonly queued: (argument: null) => Promise<number>;
};

/** The first full minute, epoch milliseconds, that begins so much later or after that. */
export function minuteAfter(ms: number): number {
  return Math.ceil((performance.timeOrigin + performance.now() + ms) / 60_000) * 60_000;
}

/** The cron expression of one minute of a day, in UTC. */
export function cronOf(atMs: number): string {
  const at = new Date(atMs);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}
