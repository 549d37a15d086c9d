import type { Limiter } from "./limiters.ts";
import { freeAgainAt, type Room } from "./pace.ts";

/** A call that wants to go. */
export type WaitingCall = {
  readonly limiters: readonly Limiter[];
  /** Whether it takes places; else it only starts. */
  readonly holds: boolean;
  /** Whether it waits for its turn; else it only asks. */
  readonly isPatient: boolean;
};

/** What one round does in a limiter: what there is room for, how many calls it let go, and how many wait on. */
export type LimiterRound = { readonly limiter: Limiter; room: Room; began: number; wanted: number };

/** Between two looks at a limiter whose places other nodes hold, milliseconds. */
export const pollMs = 25;

/** Takes a place in every limiter of a call, where each has one; else notes which lack it. */
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

/** Whether a limiter has room for one more call. */
export function hasRoom(turn: LimiterRound | undefined, holds: boolean): boolean {
  return turn !== undefined && turn.room.starts > 0 && (!holds || turn.room.places > 0);
}

/** Until when nothing can begin: a rate says so; what others hold is looked at soon again. */
export function fullUntil({ rules, known }: Limiter, nowMs: number): number {
  const { rate } = rules;
  return Math.max(nowMs + pollMs, rate === undefined ? 0 : freeAgainAt(known?.pace?.window, rate, nowMs));
}

/** When all limiters may have room. */
export function latestOf(limiters: readonly Limiter[]): number {
  return limiters.reduce((latest, { fullUntilMs }) => Math.max(latest, fullUntilMs), 0);
}
