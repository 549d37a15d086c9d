import { dateOf, LeastRecentlyUsed, type Work } from "@svc/core";
import { Cron } from "croner";

/** How svc catches up on missed occurrences after it was unavailable. */
export type CatchUp = {
  /** Maximum delay in milliseconds after which svc still starts a run for a missed time of the schedule. */
  readonly windowMs: number;
  /** Number of late runs after a downtime: `none`, one for the newest due time (`last`), or one for each due time (`all`). */
  readonly runs: "none" | "last" | "all";
};

/** The times at which a program is due. All times are in epoch milliseconds. */
export type Schedule = {
  readonly timing:
    | { readonly kind: "cron"; readonly expressions: readonly string[] }
    | { readonly kind: "every"; readonly everyMs: number }
    | { readonly kind: "at"; readonly times: readonly number[] };
  /** Time zone of the cron expressions. */
  readonly timeZone: string;
  readonly startAt: number | undefined;
  readonly endAt: number | undefined;
  readonly jitterMs: number;
  readonly catchUp: CatchUp;
};

/**
 * Function that returns the first occurrence after a time, or undefined if there is none within 80 years. The search yields to other work.
 */
export type NextOccurrence = (afterMs: number, work: Work) => Promise<number | undefined>;

/** Returns a function that finds the next occurrence of a schedule. Its cron expressions must be valid. */
export function occurrencesOf({ timing, timeZone, startAt, endAt }: Schedule): NextOccurrence {
  const next = nextOf(timing, timeZone, startAt);
  return async (afterMs, work) => {
    // An occurrence exactly at `startAt` is included.
    const found = await next(startAt === undefined ? afterMs : Math.max(afterMs, startAt - 1), work);
    // A caller that searches many occurrences yields to other work here.
    if (work.isSliceOver()) await work.turn();
    return found === undefined || (endAt !== undefined && found >= endAt) ? undefined : found;
  };
}

function nextOf(timing: Schedule["timing"], timeZone: string, startAt = 0): NextOccurrence {
  switch (timing.kind) {
    case "cron": {
      const all = timing.expressions.map((expression) => nextOfCron(expression, timeZone));
      return async (afterMs, work) => {
        let first: number | undefined;
        for (const next of all) {
          const found = await next(afterMs, work);
          if (found !== undefined && (first === undefined || found < first)) first = found;
        }
        return first;
      };
    }
    case "every":
      return async (afterMs) => startAt + (Math.floor((afterMs - startAt) / timing.everyMs) + 1) * timing.everyMs;
    case "at": {
      const times = [...timing.times].sort((a, b) => a - b);
      return async (afterMs) => times.find((time) => time > afterMs);
    }
  }
}

/** Options for the cron parser, which reads the expressions of schedules. */
const reading = { fixedTimeRule: "no-wildcard", paused: true } as const;

/** Throws an Error with the reason if a text is not a cron expression of five fields. */
export function assertCron(expression: string): void {
  if (expression.trim().startsWith("@")) throw new Error("names are not allowed; write the five fields");
  new Cron(expression, { ...reading, mode: "5-part" });
}

/**
 * Number of years that one step of the search for a schedule's due time covers. Each step checks every day and takes up to 2 ms per year.
 */
const yearsAtOnce = 2;
/** Number of years in which svc searches the next due time of a schedule. A longer search would find nothing more. */
const yearsMax = 80;
/** First and last calendar year in which svc looks for the next time of a cron expression. */
const years = { first: 2, last: 2_999 };
/** Cache of parsed cron expressions. It saves memory, because one takes 80 kB and many programs use the same expression. */
const crons = new LeastRecentlyUsed<string, Cron>(256);

function cronOf(expression: string, timeZone: string, year: number): Cron {
  const key = `${year} ${timeZone} ${expression}`;
  const known = crons.get(key);
  if (known !== undefined) return known;
  const cron = new Cron(`0 ${expression} ${year}-${year + yearsAtOnce - 1}`, {
    ...reading,
    mode: "7-part",
    timezone: timeZone,
  });
  crons.set(key, cron);
  return cron;
}

const dayMs = 86_400_000;

/** Returns the year at which svc begins to search for times after `afterMs`. It can be earlier than the year of `afterMs`. */
function yearBefore(afterMs: number): number {
  const year = dateOf(afterMs - 2 * dayMs).getUTCFullYear();
  return year - (year % yearsAtOnce);
}

/** Returns when the next day begins in a time zone, in epoch milliseconds. The search does not yield to other work, because it is short. */
export function nextDayOf(timeZone: string, nowMs: number): number {
  const next = (year: number) => cronOf("0 0 * * *", timeZone, year).nextRun(dateOf(nowMs))?.getTime();
  const year = yearBefore(nowMs);
  return next(year) ?? next(year + yearsAtOnce) ?? nowMs + dayMs;
}

/**
 * Returns a function that finds the next time of a cron expression in a time zone. Expressions without `*`, `?` or a step in minutes and
 * hours follow local time. If a clock change skips such a time, it is due at the first instant after the gap. If a time happens twice, it
 * is due only the first time. All other expressions follow elapsed time.
 */
export function nextOfCron(expression: string, timeZone: string): NextOccurrence {
  const search: NextOccurrence = async (afterMs, work) => {
    const after = dateOf(afterMs);
    const first = Math.max(yearBefore(afterMs), years.first);
    // Every 40 years contain all combinations of year length and first weekday.
    const last = Math.min(first + yearsMax, years.last);
    for (let year = first; year <= last; year += yearsAtOnce) {
      const found = work.run(() => cronOf(expression, timeZone, year).nextRun(after)?.getTime());
      if (found !== undefined) return found;
      if (work.isSliceOver()) await work.turn();
    }
    return undefined;
  };
  const key = `${timeZone} ${expression}`;
  // The last result is kept, because a search takes long if the next time is far away. The next search is only made after this time has
  // passed.
  let found: FoundTime | undefined;
  return async (afterMs, work) => {
    found = [found, lastFound.get(key)].find((one) => one !== undefined && isBetween(one, afterMs)) ?? {
      afterMs,
      nextMs: await search(afterMs, work),
    };
    lastFound.set(key, found);
    return found.nextMs;
  };
}

/**
 * Result of searching the next due time of a schedule expression. `nextMs`: the first due time after `afterMs`; undefined if the schedule
 * is never due again.
 */
type FoundTime = { readonly afterMs: number; readonly nextMs: number | undefined };

/**
 * Cache of the start time that was computed last for each time zone and cron expression. Many schedules use the same expression and are due
 * at the same time.
 */
const lastFound = new LeastRecentlyUsed<string, FoundTime>(1_024);

function isBetween({ afterMs, nextMs = Number.POSITIVE_INFINITY }: FoundTime, ms: number): boolean {
  return ms >= afterMs && ms < nextMs;
}
