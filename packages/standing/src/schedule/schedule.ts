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

/** The first occurrence after a time; undefined where there is none. */
export type NextOccurrence = (afterMs: number) => number | undefined;

/** Makes what finds the occurrences of a schedule. Throws an Error, whose message says why, for a cron expression that is none. */
export function occurrencesOf({ timing, timeZone, startAt, endAt }: Schedule): NextOccurrence {
  const next = nextOf(timing, timeZone, startAt);
  return (afterMs) => {
    // An occurrence at the start itself counts.
    const found = next(startAt === undefined ? afterMs : Math.max(afterMs, startAt - 1));
    return found === undefined || (endAt !== undefined && found >= endAt) ? undefined : found;
  };
}

function nextOf(timing: Schedule["timing"], timeZone: string, startAt = 0): NextOccurrence {
  switch (timing.kind) {
    case "cron": {
      const all = timing.expressions.map((expression) => nextOfCron(expression, timeZone));
      return (afterMs) => {
        const times = all.flatMap((next) => next(afterMs) ?? []);
        return times.length === 0 ? undefined : Math.min(...times);
      };
    }
    case "every":
      return (afterMs) => startAt + (Math.floor((afterMs - startAt) / timing.everyMs) + 1) * timing.everyMs;
    case "at": {
      const times = [...timing.times].sort((a, b) => a - b);
      return (afterMs) => times.find((time) => time > afterMs);
    }
  }
}

/**
 * What finds the times of one cron expression in a zone. One that names minutes and hours without `*`, `?` or step runs once where
 * the clock skips its time, at the first instant after the gap, and the first time where it comes twice; any other follows real time.
 * Throws an Error for a text that is no expression of five fields.
 */
export function nextOfCron(expression: string, timeZone: string): NextOccurrence {
  if (expression.trim().startsWith("@")) throw new Error("names are not taken; write the five fields");
  const cron = new Cron(expression, { mode: "5-part", fixedTimeRule: "no-wildcard", timezone: timeZone, paused: true });
  // To find nothing, or something years away, takes milliseconds: of several expressions each is searched when its own time has passed.
  let found: { readonly afterMs: number; readonly nextMs: number | undefined } | undefined;
  return (afterMs) => {
    const { nextMs = Number.POSITIVE_INFINITY } = found ?? {};
    if (found === undefined || afterMs < found.afterMs || afterMs >= nextMs) {
      found = { afterMs, nextMs: cron.nextRun(new Date(afterMs))?.getTime() };
    }
    return found.nextMs;
  };
}
