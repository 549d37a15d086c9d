import type { CatchUp, Schedule } from "./schedule.ts";

/** Maximum delay in milliseconds with which an occurrence still counts as on time. */
const onTimeMs = 60_000;

/**
 * Maximum number of runs that svc starts in one second for missed times of a schedule. The other missed times follow in the next seconds.
 */
const pace = 10;
/** Maximum number of missed occurrences that get a run. If more were missed, only the newest ones get one. */
const caughtUpMax = 1_000;

/**
 * A due time that starts a run now. `missed`: number of earlier missed times that get no run of their own, because this run stands for them
 * too.
 */
type Firing = { readonly atMs: number; readonly missed: number };

/** Decision of svc for each due time of a schedule: start a run, skip it, or decide later. The times keep their order. */
export type CatchUpDecision = {
  readonly fire: readonly Firing[];
  /**
   * The due times of a schedule that are skipped. `count`: their number. `firstMs` and `lastMs`: the first and the last of these times.
   * Undefined if none was skipped.
   */
  readonly missed: { readonly count: number; readonly firstMs: number; readonly lastMs: number } | undefined;
  /** Due times of the schedule about which svc has not decided yet. svc decides about them after a pause. */
  readonly later: readonly number[];
};

/**
 * Decides about the due times of a schedule, some of which may be late, for example after svc was stopped. Returns which of them start a
 * run, which are skipped and which are decided later. `due`: the times in order, each with the time at which the run should have started.
 */
export function catchUp(
  due: readonly { readonly atMs: number; readonly effectiveMs: number }[],
  { windowMs, runs }: CatchUp,
  nowMs: number,
): CatchUpDecision {
  const isOnTime = (effectiveMs: number) => nowMs - effectiveMs <= onTimeMs;
  const isWithin = (effectiveMs: number) => nowMs - effectiveMs <= Math.max(windowMs, onTimeMs);
  const onTime = due.filter(({ effectiveMs }) => isOnTime(effectiveMs)).map(({ atMs }) => atMs);
  const late = due.filter(({ effectiveMs }) => !isOnTime(effectiveMs));
  const within = late.filter(({ effectiveMs }) => isWithin(effectiveMs)).map(({ atMs }) => atMs);
  const beyond = late.filter(({ effectiveMs }) => !isWithin(effectiveMs)).map(({ atMs }) => atMs);
  switch (runs) {
    case "none":
      return { fire: onTime.map(alone), missed: missedOf([...beyond, ...within]), later: [] };
    case "last": {
      const newest = [...within, ...onTime].at(-1);
      if (within.length === 0 || newest === undefined) {
        return { fire: onTime.map(alone), missed: missedOf(beyond), later: [] };
      }
      const [first, ...rest] = onTime.length === 0 ? [newest] : onTime;
      const missed = onTime.length === 0 ? within.length - 1 : within.length;
      return {
        fire: [...(first === undefined ? [] : [{ atMs: first, missed }]), ...rest.map(alone)],
        missed: missedOf(beyond),
        later: [],
      };
    }
    case "all": {
      const taken = within.slice(-caughtUpMax);
      const all = [...taken, ...onTime];
      const missed = missedOf([...beyond, ...within.slice(0, within.length - taken.length)]);
      return { fire: all.slice(0, pace).map(alone), missed, later: all.slice(pace) };
    }
  }
}

function alone(atMs: number): Firing {
  return { atMs, missed: 0 };
}

function missedOf(times: readonly number[]): CatchUpDecision["missed"] {
  const [firstMs] = times;
  const lastMs = times.at(-1);
  return firstMs === undefined || lastMs === undefined ? undefined : { count: times.length, firstMs, lastMs };
}

const dayMs = 86_400_000;

/**
 * Returns the maximum number of occurrences of a schedule on one day. It is computed from the fields of the cron expressions, so a day may
 * have fewer.
 */
export function dailyMax({ timing }: Pick<Schedule, "timing">): number {
  switch (timing.kind) {
    case "cron":
      return timing.expressions.reduce((sum, expression) => sum + cronDailyMax(expression), 0);
    case "every":
      return Math.ceil(dayMs / timing.everyMs);
    case "at":
      return timing.times.length;
  }
}

function cronDailyMax(expression: string): number {
  const [minutes = "*", hours = "*"] = expression.trim().split(/\s+/);
  // When clocks are set back, one hour happens twice. An expression with wildcards or steps is due in both hours.
  const repeated = /[*?/]/.test(minutes + hours) ? 1 : 0;
  return countOf(minutes, 60) * (countOf(hours, 24) + repeated);
}

/**
 * Returns how many values the text of one cron field (for example the minutes) matches. `values`: number of possible values of the field.
 * The result may be too high, but is never too low.
 */
function countOf(field: string, values: number): number {
  const count = field.split(",").reduce((sum, part) => sum + countOfPart(part, values), 0);
  return Math.min(count, values);
}

function countOfPart(part: string, values: number): number {
  const found = /^(?:[*?]|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
  if (found === null) return values;
  const [, from, to, step] = found;
  if (from !== undefined && to === undefined && step === undefined) return 1;
  const [first, last] = [Number(from ?? 0), Number(to ?? values - 1)];
  // In a cron field, the end of a range may be less than its start (such as 22-3 for hours). The range then runs to the highest value and
  // continues at the lowest value of the field.
  const length = last >= first ? last - first + 1 : values;
  return Math.ceil(length / Number(step ?? 1));
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

/** Returns the local date and time in a zone: `2026-03-14` and `09:00:00`. */
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

/** Returns the local date in a zone: `2026-03-14`. */
export function dayOf(ms: number, timeZone: string): string {
  return localTimeOf(ms, timeZone).date;
}
