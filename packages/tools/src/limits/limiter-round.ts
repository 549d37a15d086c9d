import type { Limiter } from "./limiters.ts";
import { freeAgainAt, type Room } from "./pace.ts";

/** A call that waits until its call limits allow it to start. */
export type WaitingCall = {
  readonly limiters: readonly Limiter[];
  /** True if the call counts for its call limits as long as it runs. False if only its start is counted, for a rate limit. */
  readonly holds: boolean;
  /** True if the call waits until its limits have room. False if it is refused when they have none. */
  readonly isPatient: boolean;
};

/**
 * One check of a limiter, in which waiting calls may start. A limiter counts the calls under one call limit. `room`: how many calls may
 * still start. `began`: number of calls that started. `wanted`: number of calls that wanted to start and must wait.
 */
export type LimiterRound = { readonly limiter: Limiter; room: Room; began: number; wanted: number };

/** Interval in milliseconds at which this node checks if a slot of a call limit is free again, while calls of other nodes use all slots. */
export const pollMs = 25;

/**
 * Admits a call and takes a slot from each of its limiters, if all of them have room; then returns true. Otherwise returns false, and
 * counts the call as waiting at each limiter without room.
 */
export function admit({ limiters, holds, isPatient }: WaitingCall, turns: ReadonlyMap<Limiter, LimiterRound>): boolean {
  const own = limiters.flatMap((limiter) => turns.get(limiter) ?? []);
  const missing = own.filter((turn) => !hasRoom(turn, holds));
  if (missing.length > 0) {
    for (const turn of missing) if (isPatient) turn.wanted++;
    return false;
  }
  for (const turn of own) {
    const { places, starts } = turn.room;
    turn.room = { places: places - (holds ? 1 : 0), starts: starts - 1 };
    turn.began++;
    if (holds) turn.limiter.held++;
  }
  return true;
}

/**
 * True if the limiter (counter of a call limit) allows one more call to start now. False if it does not, or if this round of checks does
 * not include the limiter (`turn` is undefined). `holds`: true if the call takes one of the limiter's slots while it runs.
 */
export function hasRoom(turn: LimiterRound | undefined, holds: boolean): boolean {
  return turn !== undefined && turn.room.starts > 0 && (!holds || turn.room.places > 0);
}

/**
 * Returns the time at which the caller should check again if a call may start, in epoch milliseconds. For a rate limit, this is the time at
 * which the next call is allowed. For a limit on calls at the same time, other nodes can end a call at any moment. The next check is then a
 * short time from now.
 */
export function fullUntil({ rules, known }: Limiter, nowMs: number): number {
  const { rate } = rules;
  return Math.max(nowMs + pollMs, rate === undefined ? 0 : freeAgainAt(known?.pace?.window, rate, nowMs));
}

/** Returns the time in epoch milliseconds from which each of the given call limits may have room. This is the latest of their times. */
export function latestOf(limiters: readonly Limiter[]): number {
  return limiters.reduce((latest, { fullUntilMs }) => Math.max(latest, fullUntilMs), 0);
}
