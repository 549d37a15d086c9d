import { secondsOf } from "./civil.ts";

/** A point in time as google.protobuf.Timestamp has it: seconds since the epoch, and nanoseconds of the next. */
export type Instant = { readonly seconds: number; readonly nanos: number };

const timestamp =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,100}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * The point in time that an RFC 3339 timestamp names (section 5.6: date, T, seconds and offset are all there, T and Z in either case).
 * Undefined for any other text, for a day, time or offset that does not exist (30 February, 24:00:00, +24:00) and outside the years 1 to
 * 9999 of UTC. Digits behind the ninth of a fraction are left out. A leap second, which ends a June or December of UTC, is the second
 * after it. The time zone of the process has no part in it.
 */
export function readInstant(text: string): Instant | undefined {
  const found = timestamp.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, hours = "0", minutes = "0"] = found;
  const east = Number(hours) * 60 + Number(minutes);
  const seconds = secondsOf(
    {
      year: Number(year),
      month: Number(month),
      day: Number(day),
      hour: Number(hour),
      minute: Number(minute),
      second: Number(second),
    },
    sign === "-" ? -east : east,
  );
  return seconds === undefined ? undefined : { seconds, nanos: Number(fraction.slice(0, 9).padEnd(9, "0")) };
}

/** The point in time that an RFC 3339 timestamp names, as `readInstant` reads it, in whole epoch milliseconds (rounded down). */
export function readTime(text: string): number | undefined {
  const instant = readInstant(text);
  return instant && instant.seconds * 1000 + Math.floor(instant.nanos / 1e6);
}

/** What is to be written for a time, for messages. */
export const timeForm = 'RFC 3339 with seconds and an offset, such as "2027-01-01T09:00:00Z"';
