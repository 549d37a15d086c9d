import { dateOf, LeastRecentlyUsed, type Work } from "@svc/core";
import { Cron } from "croner";

/** What of the past is caught up with after the service was away. */
export type CatchUp = {
  /** Occurrences that are later than this are left out. */
  readonly windowMs: number;
  /** Of the others: none, the newest alone, or all of them. */
  readonly runs: "none" | "last" | "all";
};

/** When something is due; times are epoch milliseconds. */
export type Schedule = {
  readonly timing:
    | { readonly kind: "cron"; readonly expressions: readonly string[] }
    | { readonly kind: "every"; readonly everyMs: number }
    | { readonly kind: "at"; readonly times: readonly number[] };
  /** Cron expressions are of this zone. */
  readonly timeZone: string;
  readonly startAt: number | undefined;
  readonly endAt: number | undefined;
  readonly jitterMs: number;
  readonly catchUp: CatchUp;
};

/**
 * The first occurrence after a time; undefined where there is none within 80 years. The search is part of the work of whoever asks, and
 * takes its turns.
 */
export type NextOccurrence = (afterMs: number, work: Work) => Promise<number | undefined>;

/** Makes what finds the occurrences of a schedule, whose cron expressions are ones. */
export function occurrencesOf({ timing, timeZone, startAt, endAt }: Schedule): NextOccurrence {
  const next = nextOf(timing, timeZone, startAt);
  return async (afterMs, work) => {
    // An occurrence at the start itself counts.
    const found = await next(startAt === undefined ? afterMs : Math.max(afterMs, startAt - 1), work);
    // Whoever goes through many occurrences gives way by that.
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

/** How cron expressions are read: five fields, and years in front of which stands what seconds there are. */
const reading = { fixedTimeRule: "no-wildcard", paused: true } as const;

/** Throws an Error, whose message says why, for a text that is no expression of five fields. */
export function assertCron(expression: string): void {
  if (expression.trim().startsWith("@")) throw new Error("names are not taken; write the five fields");
  new Cron(expression, { ...reading, mode: "5-part" });
}

/**
 * Years that are searched at once: a search looks at each day of them, for some expressions at all days of its month, and takes 2 ms a year
 * at worst.
 */
const yearsAtOnce = 2;
/** Years that are searched: of each kind of year, by its length and its first weekday, there is one in any 40. */
const yearsMax = 80;
/** Years that are searched at all: others can be written, and nothing is due in them. */
const years = { first: 2, last: 2_999 };
/** What expressions come to, by text, zone and years. One takes 80 kB, and many programs have the same. */
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

/** The first year to search for what comes after a time: by the clock of its zone it may be the year before. */
function yearBefore(afterMs: number): number {
  const year = dateOf(afterMs - 2 * dayMs).getUTCFullYear();
  return year - (year % yearsAtOnce);
}

/** When the next day begins in a zone: so near that its search takes no turns. */
export function nextDayOf(timeZone: string, nowMs: number): number {
  const next = (year: number) => cronOf("0 0 * * *", timeZone, year).nextRun(dateOf(nowMs))?.getTime();
  const year = yearBefore(nowMs);
  return next(year) ?? next(year + yearsAtOnce) ?? nowMs + dayMs;
}

/**
 * What finds the times of one cron expression in a zone. One that names minutes and hours without `*`, `?` or step runs once where
 * the clock skips its time, at the first instant after the gap, and the first time where it comes twice; any other follows real time.
 */
export function nextOfCron(expression: string, timeZone: string): NextOccurrence {
  const search: NextOccurrence = async (afterMs, work) => {
    const after = dateOf(afterMs);
    const first = Math.max(yearBefore(afterMs), years.first);
    const last = Math.min(first + yearsMax, years.last);
    for (let year = first; year <= last; year += yearsAtOnce) {
      const found = work.run(() => cronOf(expression, timeZone, year).nextRun(after)?.getTime());
      if (found !== undefined) return found;
      if (work.isSliceOver()) await work.turn();
    }
    return undefined;
  };
  const key = `${timeZone} ${expression}`;
  // To find nothing, or something years away, takes long: of several expressions each is searched when its own time has passed.
  let found: Found | undefined;
  return async (afterMs, work) => {
    found = [found, lastFound.get(key)].find((one) => one !== undefined && isBetween(one, afterMs)) ?? {
      afterMs,
      nextMs: await search(afterMs, work),
    };
    lastFound.set(key, found);
    return found.nextMs;
  };
}

/** After this time the next one is that; undefined where there is none. */
type Found = { readonly afterMs: number; readonly nextMs: number | undefined };

/** What was found last, by zone and expression: many programs have the same, and are due together. */
const lastFound = new LeastRecentlyUsed<string, Found>(1_024);

function isBetween({ afterMs, nextMs = Number.POSITIVE_INFINITY }: Found, ms: number): boolean {
  return ms >= afterMs && ms < nextMs;
}
