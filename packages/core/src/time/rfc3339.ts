import { secondsOf } from "./civil.ts";

/** A point in time as in google.protobuf.Timestamp. `seconds`: seconds since the epoch. `nanos`: nanoseconds. */
export type Instant = { readonly seconds: number; readonly nanos: number };

const timestamp =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,100}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Returns the time of an RFC 3339 timestamp (section 5.6). Date, T, seconds and offset are required; T and Z may be in either case.
 * Undefined for other texts, for a day, time or offset that does not exist (30 February, 24:00:00, +24:00), and outside the years 1 to 9999
 * of UTC. Ignores the digits of a fraction after the ninth. A leap second is valid only at the end of a June or December of UTC; it becomes
 * the next second. The time zone of the process has no effect.
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

/**
 * Returns the time of an RFC 3339 timestamp in whole epoch milliseconds, rounded down. Returns undefined for other texts, and for a day,
 * time or offset that does not exist.
 */
export function readTime(text: string): number | undefined {
  const instant = readInstant(text);
  return instant && instant.seconds * 1000 + Math.floor(instant.nanos / 1e6);
}

/** Expected form of a time, for error messages. */
export const timeForm = 'RFC 3339 with seconds and an offset, such as "2027-01-01T09:00:00Z"';
