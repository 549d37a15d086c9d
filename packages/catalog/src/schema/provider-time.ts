import { scalarText, secondsOf } from "@svc/core";

/**
 * Start of the year 1, in epoch milliseconds. The next constant, `latestMs`, is the end of the year 9999. RFC 3339 can express only times
 * between them.
 */
const earliestMs = -62_135_596_800_000;
const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * A way in which providers write times. `read`: returns epoch milliseconds; undefined for a text that has the pattern but is not a time.
 */
type Form = { readonly pattern: RegExp; read(found: RegExpExecArray): number | undefined };

/** Maximum characters of a time in an app's answer. Real times are shorter; only comments in parentheses could make them longer. */
const charactersMax = 100;

/**
 * Returns the time that an app wrote, in epoch milliseconds; undefined if the value is not a time. It reads these formats:
 * - RFC 3339, also without seconds, without the time of day, or without an offset (then UTC).
 * - RFC 5322, RFC 850 and asctime, the formats of dates in HTTP.
 * - Unix time in seconds, milliseconds, microseconds or nanoseconds.
 */
export function readProviderTime(value: unknown): number | undefined {
  if (typeof value === "boolean") return undefined;
  const text = scalarText(value)?.trim() ?? "";
  if (text.length > charactersMax) return undefined;
  for (const { pattern, read } of typeof value === "string" ? textForms : [unixTime]) {
    const found = pattern.exec(text);
    const ms = found === null ? undefined : read(found);
    if (ms !== undefined) return ms >= earliestMs && ms <= latestMs ? Math.trunc(ms) : undefined;
  }
  return undefined;
}

/**
 * Limits above which a number means milliseconds, microseconds or nanoseconds instead of seconds. In seconds, a number above the first
 * limit would be a time after the year 5138.
 */
const unixUnits = [
  { from: 1e17, perMs: 1e6 },
  { from: 1e14, perMs: 1e3 },
  { from: 1e11, perMs: 1 },
];

const unixTime: Form = {
  pattern: /^([-+]?)(\d+)(?:\.(\d*))?([eE][+-]?\d{1,3})?$/,
  read([text, sign, whole = "", fraction = "", exponent]) {
    const number = Number(text);
    const unit = unixUnits.find(({ from }) => Math.abs(number) >= from);
    if (unit !== undefined) return number / unit.perMs;
    if (exponent !== undefined) return number * 1000;
    // Takes the digits from the text instead of multiplying, because 1.001 * 1000 is less than 1001.
    const ms = Number(`${whole}${fraction.slice(0, 3).padEnd(3, "0")}`);
    return sign === "-" ? -ms : ms;
  },
};

const zoneText = String.raw`(?<zone>[A-Za-z]{1,4}|(?:UTC|GMT|utc|gmt)?[+-]\d\d(?::?\d\d)?)`;
const clockText = String.raw`(?<hour>\d\d?):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?`;
const basicClockText = String.raw`(?<hour>\d\d)(?<minute>\d\d)(?:(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?`;
/** Text that may follow a time: the name of its zone in parentheses or brackets. */
const commentText = String.raw`(?:\s*(?:\([^()]*\)|\[[^[\]]*\]))?`;

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Offset from UTC in hours, for each zone name of RFC 5322, 4.3. */
const zones: Readonly<Record<string, number>> = {
  ...{ z: 0, ut: 0, utc: 0, gmt: 0 },
  ...{ edt: -4, est: -5, cdt: -5, cst: -6, mdt: -6, mst: -7, pdt: -7, pst: -8 },
};

function form(text: string): Form {
  return { pattern: new RegExp(`^${text}$`), read: ({ groups = {} }) => readFields(groups) };
}

function readFields(groups: Readonly<Record<string, string | undefined>>): number | undefined {
  const { year = "", month = "", day, hour = "0", minute = "0", second = "0", fraction = "", zone } = groups;
  const offset = offsetOf(zone);
  if (offset === undefined) return undefined;
  const time = {
    year: yearOf(year),
    month: /^\d/.test(month) ? Number(month) : months.indexOf(month.toLowerCase().slice(0, 3)) + 1,
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  const seconds = secondsOf(time, offset);
  return seconds === undefined ? undefined : seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
}

/**
 * Returns the year that a text means (RFC 5322, 4.3). A number of two digits below 50 is added to 2000. All other numbers of two or three
 * digits are added to 1900.
 */
function yearOf(text: string): number {
  const year = Number(text);
  if (text.length > 3) return year;
  return year < 50 && text.length === 2 ? 2000 + year : 1900 + year;
}

/** Returns the offset of a time zone in minutes east of UTC. Returns undefined for an unknown zone name or an impossible offset. */
function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined) return 0;
  const [, sign, hours = "", minutes = "0"] = /([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (sign === undefined) {
    // One-letter zones other than `z` are unreliable, so they mean UTC (RFC 5322, 4.3).
    const named = zones[zone.toLowerCase()] ?? (zone.length === 1 ? 0 : undefined);
    return named === undefined ? undefined : named * 60;
  }
  const offset = Number(hours) * 60 + Number(minutes);
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return sign === "-" ? -offset : offset;
}

const monthText = "(?<month>[A-Za-z]{3,9})";
const weekdayText = String.raw`(?:[A-Za-z]{3,9},?\s+)?`;

/** Forms of time texts, in the order in which they are tried. A text that has only digits is read as a date if it can be one. */
const textForms: readonly Form[] = [
  // RFC 3339, and the extended form of ISO 8601.
  form(
    String.raw`(?<year>\d{4})(?<slash>[-/])(?<month>\d\d)\k<slash>(?<day>\d\d)(?:(?:[Tt_]|\s+)${clockText}(?:\s*${zoneText})?${commentText})?`,
  ),
  // The basic form of ISO 8601. Without a T, only all fourteen digits or a date alone are accepted.
  form(String.raw`(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)[Tt]${basicClockText}${zoneText}?`),
  form(String.raw`(?<year>(?:19|20)\d\d)(?<month>\d\d)(?<day>\d\d)(?:(?<hour>\d\d)(?<minute>\d\d)(?<second>\d\d))?`),
  unixTime,
  // The form of a date in RFC 5322 (for example `02 Jan 2006 15:04:05 GMT`). With hyphens (`02-Jan-06`), it is the form of RFC 850.
  form(
    String.raw`${weekdayText}(?<day>\d\d?)[ -]\s*${monthText}[ -]\s*(?<year>\d{2,4})\s+${clockText}(?:\s*${zoneText})?${commentText}`,
  ),
  // The form of asctime, which many languages print. The year may be before or after the time of day.
  form(String.raw`[A-Za-z]{3}\s+${monthText}\s+(?<day>\d\d?)\s+${clockText}(?:\s+${zoneText})?\s+(?<year>\d{4})`),
  form(
    String.raw`[A-Za-z]{3}\s+${monthText}\s+(?<day>\d\d?)\s+(?<year>\d{4})\s+${clockText}(?:\s*${zoneText})?${commentText}`,
  ),
];
