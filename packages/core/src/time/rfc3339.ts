import { secondsOf } from "./civil.ts";

/** A point in time as in google.protobuf.Timestamp: seconds since the epoch, and nanoseconds. */
export type Instant = { readonly seconds: number; readonly nanos: number };

const timestamp =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,100}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Parses an RFC 3339 timestamp (section 5.6: date, T, seconds and offset are required, T and Z in either case). Undefined for any other
 * text, for a day, time or offset that does not exist (30 February, 24:00:00, +24:00), and outside the years 1 to 9999 of UTC. Ignores
 * digits after the ninth of a fraction. A leap second, valid only at the end of a June or December of UTC, becomes the next second. The
 * process's time zone has no influence.
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

/** Parses an RFC 3339 timestamp like `readInstant`, into whole epoch milliseconds (rounded down). */
export function readTime(text: string): number | undefined {
  const instant = readInstant(text);
  return instant && instant.seconds * 1000 + Math.floor(instant.nanos / 1e6);
}

/** The expected form of a time, for messages. */
export const timeForm = 'RFC 3339 with seconds and an offset, such as "2027-01-01T09:00:00Z"';
