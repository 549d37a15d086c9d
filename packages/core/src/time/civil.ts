import { dateOf } from "./iso-time.ts";

/** A date and a time of day, without a time zone. January is month 1. */
export type CivilTime = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

/** First and last second of the years 1 to 9999, in epoch seconds. RFC 3339 and google.protobuf.Timestamp have this range. */
const [earliest, latest] = [-62_135_596_800, 253_402_300_799];

/**
 * Returns the epoch seconds of a date and time. `offset`: minutes east of UTC. Returns undefined if the date or time does not exist, or is
 * outside the years 1 to 9999 of UTC. A leap second exists only at the end of a June or December of UTC. It gives the same result as the
 * next second, as in Unix time.
 */
export function secondsOf(time: CivilTime, offset = 0): number | undefined {
  const { year, month, day, hour, minute, second } = time;
  if (day < 1 || day > daysOfMonth(year, month) || hour > 23 || minute > 59 || second > 60) return undefined;
  // `setUTCFullYear` is used, because `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  const days = dateOf(0).setUTCFullYear(year, month - 1, day) / 86_400_000;
  const seconds = days * 86_400 + (hour * 60 + minute - offset) * 60 + second;
  if (second === 60 && !isLeapSecond(seconds)) return undefined;
  return seconds >= earliest && seconds <= latest ? seconds : undefined;
}

/** Returns the number of days of a month in the Gregorian calendar; 0 if the month does not exist. */
function daysOfMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

/** True if `seconds` (epoch seconds) is midnight UTC of January 1 or July 1. Only then can the second before be a leap second. */
function isLeapSecond(seconds: number): boolean {
  const after = dateOf(seconds * 1000);
  return seconds % 86_400 === 0 && after.getUTCDate() === 1 && [0, 6].includes(after.getUTCMonth());
}
