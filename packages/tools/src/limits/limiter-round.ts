import type { Limiter } from "./limiters.ts";
import { freeAgainAt, type Room } from "./pace.ts";

/** A call that waits to start. */
export type WaitingCall = {
  readonly limiters: readonly Limiter[];
  /** True if the call occupies slots while it runs. False if only its start is counted. */
  readonly holds: boolean;
  /** True if the call waits for its limits. False if it asks only once. */
  readonly isPatient: boolean;
};

/** One round of a limiter. `room`: calls that may start now. `began`: calls that were admitted. `wanted`: calls that keep waiting. */
export type LimiterRound = { readonly limiter: Limiter; room: Room; began: number; wanted: number };

/** Interval at which a node checks a limiter whose slots other nodes hold, milliseconds. */
export const pollMs = 25;

/**
 * Takes a slot from every limiter of a call if each limiter has a free slot. Otherwise counts the call as waiting at each limiter that has
 * none.
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

/** True if a limiter has room for one more call. */
export function hasRoom(turn: LimiterRound | undefined, holds: boolean): boolean {
  return turn !== undefined && turn.room.starts > 0 && (!holds || turn.room.places > 0);
}

/**
 * Returns the time until which no call can start, epoch milliseconds. For a rate, this time can be calculated; slots of other nodes are
 * simply checked again soon.
 */
export function fullUntil({ rules, known }: Limiter, nowMs: number): number {
  const { rate } = rules;
  return Math.max(nowMs + pollMs, rate === undefined ? 0 : freeAgainAt(known?.pace?.window, rate, nowMs));
}

/** Returns the earliest time at which all limiters may have room: the latest time of any of them. */
export function latestOf(limiters: readonly Limiter[]): number {
  return limiters.reduce((latest, { fullUntilMs }) => Math.max(latest, fullUntilMs), 0);
}
