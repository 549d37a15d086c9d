/**
 * The days on which a schedule runs, in a form that a sentence can name. `week`: chosen days of the week, where 0 is Sunday. `month`: a day
 * of the month, where 0 is the last day.
 */
export type RunDays =
  | { readonly every: "day" | "weekday" | "weekend" }
  | { readonly every: "week"; readonly days: readonly number[] }
  | { readonly every: "month"; readonly day: number };

/**
 * The times of a schedule that a sentence can express: the days, and the times on each of these days. `times`: such as `09:00`, in order, at
 * least one.
 */
export type TimeSentence = { readonly on: RunDays; readonly times: readonly string[] };

/** English names of the days of the week, in order. Index 0 is Sunday. */
export const dayNames: readonly string[] = [
  ...["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
];

/** Maximum number of times of a day that a sentence names. */
const timesMax = 6;

const weekdays = [1, 2, 3, 4, 5];
const weekend = [0, 6];

/**
 * Returns the cron expressions for the times of a schedule. Times with the same minute share an expression. Each expression has fixed
 * minutes and hours, so it runs once a day even when the clocks change.
 */
export function writeCron({ on, times }: TimeSentence): string[] {
  const hours = new Map<number, number[]>();
  for (const time of times) {
    const [hour = 0, minute = 0] = time.split(":").map(Number);
    hours.set(minute, [...(hours.get(minute) ?? []), hour]);
  }
  return [...hours].map(([minute, at]) => `${minute} ${ordered(at).join(",")} ${daysCron(on)}`);
}

function daysCron(on: RunDays): string {
  switch (on.every) {
    case "day":
      return "* * *";
    case "weekday":
      return "* * 1-5";
    case "weekend":
      return "* * 0,6";
    case "week":
      return `* * ${ordered(on.days).join(",")}`;
    case "month":
      return `${on.day === 0 ? "L" : on.day} * *`;
  }
}

/**
 * Returns the days and times that these cron expressions mean, as a sentence can name them. Undefined if no sentence can; the page then
 * shows the expressions themselves.
 */
export function readCron(expressions: readonly string[]): TimeSentence | undefined {
  const read = expressions.map(readExpression);
  const days = read[0]?.days;
  if (days === undefined || read.some((one) => one === undefined || !isSame(one.days, days))) return undefined;
  const times = [...new Set(read.flatMap((one) => one?.times ?? []))].sort();
  return times.length > timesMax ? undefined : { on: days, times };
}

type ReadExpression = { days: RunDays; times: readonly string[] };

function readExpression(expression: string): ReadExpression | undefined {
  const [minutes = "", hours = "", day = "", month = "", weekday = "", ...rest] = expression.trim().split(/\s+/);
  const [minute, hour] = [readNumbers(minutes, 0, 59), readNumbers(hours, 0, 23)];
  const days = readDays(day, weekday);
  if (minute === undefined || hour === undefined || days === undefined || month !== "*" || rest.length > 0)
    return undefined;
  return { days, times: hour.flatMap((h) => minute.map((m) => `${twoDigits(h)}:${twoDigits(m)}`)) };
}

function readDays(day: string, weekday: string): RunDays | undefined {
  const isEveryDay = day === "*" || day === "?";
  if (weekday !== "*" && weekday !== "?") return isEveryDay ? readWeek(weekday) : undefined;
  if (isEveryDay) return { every: "day" };
  if (day === "L") return { every: "month", day: 0 };
  const [only, ...others] = readNumbers(day, 1, 31) ?? [];
  return only === undefined || others.length > 0 ? undefined : { every: "month", day: only };
}

function readWeek(field: string): RunDays | undefined {
  const numbered = field.toUpperCase().replace(/[A-Z]{3}/g, (name) => {
    const index = dayNames.findIndex((one) => one.slice(0, 3).toUpperCase() === name);
    return index === -1 ? name : String(index);
  });
  // 7 is Sunday, as 0 is. A range to 7 ends with Sunday.
  const days = readNumbers(numbered, 0, 7)?.map((day) => day % 7);
  return days === undefined ? undefined : daysOf(ordered(days));
}

/**
 * Returns the days of the week in the form that a sentence names them: every day, every weekday, the weekend, or single days. `days`:
 * numbers from 0, which is Sunday.
 */
export function daysOf(days: readonly number[]): RunDays {
  if (days.length === 7) return { every: "day" };
  if (isSame(days, weekdays)) return { every: "weekday" };
  return isSame(days, weekend) ? { every: "weekend" } : { every: "week", days };
}

/** Returns the same days as a list of single days of the week. A day of the month is returned unchanged. */
export function asWeek(on: RunDays): RunDays {
  switch (on.every) {
    case "day":
      return { every: "week", days: [0, ...weekdays, 6] };
    case "weekday":
      return { every: "week", days: weekdays };
    case "weekend":
      return { every: "week", days: weekend };
    default:
      return on;
  }
}

/** Reads a list of numbers and ranges, such as `0,15` or `1-5`. Undefined for steps, names, and numbers that are not allowed. */
function readNumbers(field: string, min: number, max: number): number[] | undefined {
  const numbers: number[] = [];
  for (const part of field.split(",")) {
    const [, first = "", last = first] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === "" || from < min || to > max || from > to) return undefined;
    for (let number = from; number <= to; number += 1) numbers.push(number);
  }
  return ordered(numbers);
}

function ordered(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
