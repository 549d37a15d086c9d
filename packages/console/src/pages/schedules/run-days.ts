import { dateOf, readTime } from "@svc/core/time";

const dayMs = 86_400_000;

/** A day of the calendar. `date`: such as `2026-12-01`. `runs`: number of known runs on it. */
export type CalendarDay = {
  readonly date: string;
  readonly day: number;
  readonly isInMonth: boolean;
  readonly runs: number;
};

/** The month of a schedule's next run: its weeks from Monday, with the days of other months that complete them. */
export type RunMonth = {
  readonly title: string;
  readonly weeks: readonly (readonly CalendarDay[])[];
  readonly runs: number;
  /** False if the month may have more runs than the known times. */
  readonly isWhole: boolean;
};

/**
 * Returns the calendar of the month of the first time in `locals`. `locals`: times of runs in the schedule's time zone, in order, such as
 * `2026-12-01T09:00:00`. `isAll`: true if the schedule has no later runs.
 */
export function monthOf(locals: readonly string[], isAll = false): RunMonth | undefined {
  const first = readTime(`${locals[0] ?? ""}Z`);
  if (first === undefined) return undefined;
  const at = dateOf(first);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  const begin = Date.UTC(year, month, 1);
  const end = Date.UTC(year, month + 1, 1);
  const counts = new Map<string, number>();
  for (const local of locals) counts.set(local.slice(0, 10), (counts.get(local.slice(0, 10)) ?? 0) + 1);
  // Monday is the first day of a week.
  const monday = begin - ((dateOf(begin).getUTCDay() + 6) % 7) * dayMs;
  const weeks: CalendarDay[][] = [];
  for (let start = monday; start < end; start += 7 * dayMs) {
    weeks.push(
      [0, 1, 2, 3, 4, 5, 6].map((offset) => {
        const ms = start + offset * dayMs;
        const date = dateOf(ms).toISOString().slice(0, 10);
        return { date, day: dateOf(ms).getUTCDate(), isInMonth: ms >= begin && ms < end, runs: counts.get(date) ?? 0 };
      }),
    );
  }
  const runs = weeks.flat().reduce((sum, day) => sum + (day.isInMonth ? day.runs : 0), 0);
  return {
    title: `${monthNames[month]} ${year}`,
    weeks,
    runs,
    isWhole: isAll || (locals.at(-1) ?? "") >= dateOf(end).toISOString().slice(0, 19),
  };
}

const monthNames = [
  ...["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November"],
  "December",
];

/** Returns a date in the form `Mon 30 Nov`. `local`: a time such as `2026-11-30T09:00:00`. */
export function dayWords(local: string): string {
  const at = dateOf(readTime(`${local.slice(0, 10)}T00:00:00Z`) ?? 0);
  const day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][at.getUTCDay()] ?? "";
  return `${day} ${at.getUTCDate()} ${(monthNames[at.getUTCMonth()] ?? "").slice(0, 3)}`;
}

/**
 * Returns the day of the next change of clocks in a time zone within a year, such as `28 March`. Undefined if there is none, or if the zone
 * is not known. `nowMs`: epoch milliseconds.
 */
export function nextClockChange(timeZone: string, nowMs: number): string | undefined {
  const offset = offsetReader(timeZone);
  if (offset === undefined) return undefined;
  let before = nowMs;
  for (let after = nowMs + 7 * dayMs; after <= nowMs + 366 * dayMs; after += 7 * dayMs) {
    if (offset(after) !== offset(before)) {
      const at = firstAfter(before, after, (ms) => offset(ms) !== offset(before));
      // Half a minute later the clocks show the new time, so that is the local day of the change.
      const [, month = "", day = ""] = /^\d+-(\d+)-(\d+)/.exec(localDate(timeZone, at)) ?? [];
      return `${Number(day)} ${monthNames[Number(month) - 1] ?? ""}`;
    }
    before = after;
  }
  return undefined;
}

/** Returns the first minute between two times for which `isAfter` is true. */
function firstAfter(from: number, to: number, isAfter: (ms: number) => boolean): number {
  let [low, high] = [from, to];
  while (high - low > 60_000) {
    const middle = (low + high) / 2;
    if (isAfter(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function offsetReader(timeZone: string): ((ms: number) => string) | undefined {
  try {
    const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
    return (ms) => format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  } catch {
    // The user is still typing the name of the zone, or this browser does not know the zone.
    return undefined;
  }
}

function localDate(timeZone: string, ms: number): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(ms);
}
