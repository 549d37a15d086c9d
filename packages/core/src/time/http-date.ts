import { secondsOf } from "./civil.ts";
import { dateOf } from "./iso-time.ts";

const days = "Mon|Tue|Wed|Thu|Fri|Sat|Sun";
const longDays = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday";
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const month = `(?<month>${months.join("|")})`;
const clock = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;

/** The three forms of an HTTP date: IMF-fixdate, and the obsolete forms of RFC 850 and asctime. */
const forms = [
  String.raw`(?:${days}), (?<day>\d\d) ${month} (?<year>\d{4}) ${clock} GMT`,
  String.raw`(?:${longDays}), (?<day>\d\d)-${month}-(?<year>\d\d) ${clock} GMT`,
  String.raw`(?:${days}) ${month} (?<day>\d\d| \d) ${clock} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/**
 * Returns the epoch milliseconds of an HTTP date in any of its three forms (RFC 9110, 5.6.7). Undefined for other texts, and if the day or
 * time does not exist. A two-digit year is read as a year at most 50 years after `nowMs`. The day of the week is not checked. The time zone
 * of the process has no effect.
 */
export function readHttpDate(text: string, nowMs: number): number | undefined {
  for (const form of forms) {
    const found = form.exec(text)?.groups;
    if (found === undefined) continue;
    const { year = "", month = "", day, hour, minute, second } = found;
    const seconds = secondsOf({
      year: year.length === 2 ? yearOf(Number(year), nowMs) : Number(year),
      month: months.indexOf(month) + 1,
      day: Number(day),
      hour: Number(hour),
      minute: Number(minute),
      second: Number(second),
    });
    return seconds === undefined ? undefined : seconds * 1000;
  }
  return undefined;
}

/** Returns the latest year that ends in these two digits and is at most 50 years after `nowMs`. */
function yearOf(lastDigits: number, nowMs: number): number {
  const last = dateOf(nowMs).getUTCFullYear() + 50;
  return last - ((last - lastDigits) % 100);
}

/**
 * Returns the delay in a Retry-After header in milliseconds (RFC 9110, 10.2.3; seconds or an HTTP date). Returns 0 for a past date, and at
 * most `maxMs`. Undefined if the header is absent or invalid.
 */
export function readRetryAfter(text: string | null | undefined, nowMs: number, maxMs: number): number | undefined {
  const trimmed = text?.replace(/^[ \t]+|[ \t]+$/g, "") ?? "";
  const atMs = /^\d+$/.test(trimmed) ? nowMs + Number(trimmed) * 1000 : readHttpDate(trimmed, nowMs);
  return atMs === undefined ? undefined : Math.min(Math.max(atMs - nowMs, 0), maxMs);
}
