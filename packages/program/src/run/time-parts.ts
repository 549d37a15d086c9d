import { type CelFunc, CelScalar, celMethod, objectType } from "@bufbuild/cel";
import { dateOf } from "@svc/core/time";

const { INT, STRING } = CelScalar;
const timestamp = objectType("google.protobuf.Timestamp");

/** The local time in a time zone, stored as a Date whose UTC parts (year, hour …) are the parts of the local time. */
type ClockTime = Date;

const parts: Readonly<Record<string, (at: ClockTime) => number>> = {
  getFullYear: (at) => at.getUTCFullYear(),
  getMonth: (at) => at.getUTCMonth(),
  getDate: (at) => at.getUTCDate(),
  getDayOfMonth: (at) => at.getUTCDate() - 1,
  getDayOfWeek: (at) => at.getUTCDay(),
  getDayOfYear: (at) => {
    const newYear = dateOf(at.getTime()).setUTCMonth(0, 1);
    return Math.round((at.getTime() - newYear) / 86_400_000);
  },
  getHours: (at) => at.getUTCHours(),
  getMinutes: (at) => at.getUTCMinutes(),
  getSeconds: (at) => at.getUTCSeconds(),
  getMilliseconds: (at) => at.getUTCMilliseconds(),
};

type Timed = { readonly message: unknown };

/**
 * CEL's functions that return a part of a time (such as the hour), in UTC or in a named time zone. They replace the evaluator's own
 * functions, which use the time zone of the process and are an hour wrong when summer time begins.
 */
export const timeParts: readonly CelFunc[] = Object.entries(parts).flatMap(([name, partOf]) => {
  return [
    celMethod(name, timestamp, [], INT, function (this: Timed) {
      return BigInt(partOf(dateOf(msOf(this))));
    }),
    celMethod(name, timestamp, [STRING], INT, function (this: Timed, zone: string) {
      return BigInt(partOf(clockTime(msOf(this), zone)));
    }),
  ];
});

function msOf({ message }: Timed): number {
  const { seconds, nanos } = message as { readonly seconds: bigint; readonly nanos: number };
  return Number(seconds) * 1000 + Math.floor(nanos / 1e6);
}

const offsetForm = /^([+-]?)([01]\d|2[0-3]):([0-5]\d)$/;

/**
 * Returns the local time in a time zone at the point in time `ms` (milliseconds since 1970). Throws an Error if the text `zone` is neither
 * an offset nor a zone of the IANA database.
 */
function clockTime(ms: number, zone: string): ClockTime {
  const offset = offsetForm.exec(zone);
  if (offset === null) return zoneTime(ms, zone);
  const [, sign, hours, minutes] = offset;
  const east = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return dateOf(sign === "-" ? ms - east : ms + east);
}

function zoneTime(ms: number, zone: string): ClockTime {
  const shown = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(shown.get(type));
  // The year before year 1 is 1 BC. It counts as year 0 here.
  const year = shown.get("era")?.startsWith("B") ? 1 - part("year") : part("year");
  const midnight = dateOf(0).setUTCFullYear(year, part("month") - 1, part("day"));
  const seconds = (part("hour") * 60 + part("minute")) * 60 + part("second");
  return dateOf(midnight + seconds * 1000 + (((ms % 1000) + 1000) % 1000));
}

/** Cached date formats, by time zone. Creating a date format takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();
const formatsMax = 600;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23", era: "short" },
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
  });
  if (formats.size >= formatsMax) formats.clear();
  formats.set(timeZone, format);
  return format;
}
