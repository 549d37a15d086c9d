import { dateOf, readTime } from "@svc/core/time";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * Returns a duration in at most two units (for example `340 ms`, `2.4 s`, `3 min 5 s`, `2 h 10 min`, `4 d`). The duration is rounded down.
 */
export function durationWords(ms: number): string {
  if (ms < second) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * second) return `${(Math.floor(ms / 100) / 10).toString()} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return twoUnits(ms, minute, "min", second, "s");
  if (ms < day) return twoUnits(ms, hour, "h", minute, "min");
  return twoUnits(ms, day, "d", hour, "h");
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return rest === 0
    ? `${Math.floor(ms / large)} ${largeName}`
    : `${Math.floor(ms / large)} ${largeName} ${rest} ${smallName}`;
}

/**
 * Returns a time relative to now, in one unit (`now`, `3 s ago`, `in 5 min`). Future times of an hour or more have two units (`in 3 h 59
 * min`). Returns undefined if the time is a day or more away; the page then shows the time itself.
 */
export function relativeWords(at: number, now: number): string | undefined {
  const away = Math.abs(at - now);
  if (away >= day) return undefined;
  if (away < second) return "now";
  // A future time has two units. If a deadline were rounded down to hours, it would seem up to an hour earlier than it is.
  if (at > now && away >= hour) return `in ${durationWords(away)}`;
  const unit =
    away < minute
      ? `${Math.floor(away / second)} s`
      : away < hour
        ? `${Math.floor(away / minute)} min`
        : `${Math.floor(away / hour)} h`;
  return at > now ? `in ${unit}` : `${unit} ago`;
}

/** The time zone in which the console shows times. */
export type Zone = "local" | "utc";

/** Returns a time as `2026-03-04 15:06:07`. */
export function clockWords(at: number, zone: Zone): string {
  const date = dateOf(at);
  const shifted = zone === "utc" ? date : dateOf(at - date.getTimezoneOffset() * minute);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}

/**
 * Returns the start of the day to which a time belongs in the time zone, in epoch milliseconds. `daysBack`: returns the start of the day so
 * many days earlier.
 */
export function dayStart(at: number, zone: Zone, daysBack = 0): number {
  const offset = zone === "utc" ? 0 : dateOf(at).getTimezoneOffset() * minute;
  const start = Math.floor((at - offset) / day - daysBack) * day;
  // The clocks may have changed between the start of the day and this time.
  return zone === "utc" ? start : start + dateOf(start + offset).getTimezoneOffset() * minute;
}

/**
 * Returns a sentence of the service with its RFC 3339 times replaced by times in the console's time zone, such as `15:16:07`. A time that is
 * a day or more away from `now` also has its date.
 */
export function withClockTimes(text: string, zone: Zone, now: number): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => {
    const at = readTime(time);
    if (at === undefined) return time;
    const words = clockWords(at, zone);
    return Math.abs(now - at) < day ? words.slice(11) : words;
  });
}

/** Returns the name of the time zone that `clockWords` uses (for example `UTC` or `Europe/Vienna`). */
export function zoneName(zone: Zone): string {
  return zone === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}
