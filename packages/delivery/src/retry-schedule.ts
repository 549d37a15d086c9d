/** Waits between the attempts of a delivery, milliseconds: after the first failure, the second, ... After the last it is dead. */
export const defaultRetryScheduleMs: readonly number[] = [
  5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
];

/** Longest wait that an endpoint's Retry-After is granted. */
export const retryAfterMaxMs = 86_400_000;

/**
 * The wait after failed attempt `number` (from 1), or undefined when that was the last. Spread by +-20 % (`random` in
 * [0, 1)), so that deliveries which failed together do not return together; a longer Retry-After wins.
 */
export function retryWaitMs(
  scheduleMs: readonly number[],
  number: number,
  retryAfterMs: number,
  random: number,
): number | undefined {
  const wait = scheduleMs[number - 1];
  if (wait === undefined) return undefined;
  return Math.max(Math.round(wait * (0.8 + 0.4 * random)), retryAfterMs);
}
