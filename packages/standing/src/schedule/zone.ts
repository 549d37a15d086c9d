/** Whether a text names a time zone of the IANA database. Offsets, such as `+02:00`, are none: they know no summer time. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return true;
  } catch {
    // The one way it says that it knows no such zone.
    return false;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();
const formatsMax = 600;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  if (formats.size >= formatsMax) formats.clear();
  const made = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  formats.set(timeZone, made);
  return made;
}

/** A point in time as clocks of a zone show it: `2026-03-14` and `09:00:00`. */
export function localTimeOf(ms: number, timeZone: string): { readonly date: string; readonly time: string } {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? "";
  return {
    date: `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`,
    time: `${part("hour")}:${part("minute")}:${part("second")}`,
  };
}

/** The day of a time in a zone: `2026-03-14`. */
export function dayOf(ms: number, timeZone: string): string {
  return localTimeOf(ms, timeZone).date;
}
