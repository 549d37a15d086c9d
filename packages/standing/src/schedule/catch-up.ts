import type { CatchUp } from "./schedule.ts";

/** Up to so much an occurrence is on time. */
const onTimeMs = 60_000;

/** Occurrences that are started at once, where all that were missed are: 10 a second. */
const pace = 10;
/** How many of those that were missed are started at most; the newest of them. */
const caughtUpMax = 1_000;

/** An occurrence that starts, and how many before it were left out for it. */
export type Firing = { readonly atMs: number; readonly missed: number };

/** What is done about occurrences that are due, in their order. */
export type CaughtUp = {
  readonly fire: readonly Firing[];
  /** Those that are left out: how many, from the first to the last. */
  readonly missed: { readonly count: number; readonly firstMs: number; readonly lastMs: number } | undefined;
  /** Those that are not decided about yet: they are next, after a pause. */
  readonly later: readonly number[];
};

/** Decides about occurrences that are due: `due` in their order, each with the time at which it was to fire. */
export function catchUp(
  due: readonly { readonly atMs: number; readonly effectiveMs: number }[],
  { windowMs, runs }: CatchUp,
  nowMs: number,
): CaughtUp {
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

function missedOf(times: readonly number[]): CaughtUp["missed"] {
  const [firstMs] = times;
  const lastMs = times.at(-1);
  return firstMs === undefined || lastMs === undefined ? undefined : { count: times.length, firstMs, lastMs };
}
